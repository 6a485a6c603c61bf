"""Two stacks in one project: what one of them gives up stays where the other needs it. # P5 # N1"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slipway.deployment.workspace_plan import SUBMITTER_ROLES
from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey

TEAM, BEA, EVE = "group:ml-engineers@slipway.example", "user:bea@slipway.example", "user:eve@slipway.example"
ALL = frozenset(SUBMITTER_ROLES.values())


def submitters(checkout: Checkout, *members: str) -> None:
    checkout.write(workspace={"submitters": list(members)}, persistentResources={}, templates=["nap"])


def on_project(checkout: Checkout, member: str) -> frozenset[str]:
    policy: Any = checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    return frozenset(one["role"] for one in policy["bindings"] if member in one["members"])


def test_what_one_gives_up_stays_where_the_other_needs_it(
    tmp_path: Path, own_cloud: LocalCloud, new_checkout: NewCheckout
) -> None:
    dev, prod = (new_checkout(tmp_path / name, own_cloud, name) for name in ("dev", "prod"))
    dev.write(workspace={"submitters": [TEAM, BEA]})
    prod.write(workspace={"submitters": [TEAM, BEA, EVE]})
    dev.up()
    prod.up()

    # A submitter of both, and one of prod alone, are dropped from prod.
    prod.write(workspace={"submitters": [TEAM]})
    said = prod.pulumi("preview", role="previewer").said
    print(said)
    assert f"{BEA} can't submit here any more" in said and "as stack dev needs them" in said
    said = prod.up()
    print(said)
    assert (on_project(prod, BEA), on_project(prod, EVE)) == (ALL, frozenset())
    again = prod.pulumi("preview", "--expect-no-changes", role="previewer")
    print(again.said)
    assert again.code == 0 and "can't submit" not in again.said

    # Dev is destroyed: prod still needs the team's roles, and nobody needs bea's.
    refused = dev.pulumi("destroy")
    print(refused.said)
    assert refused.code != 0 and "SLIPWAY_PURPOSE=destroy" in refused.said
    preview = dev.run(
        "pulumi",
        "destroy",
        "--preview-only",
        "--run-program",
        "--stack",
        "dev",
        "--non-interactive",
        role="deployer",
        SLIPWAY_PURPOSE="destroy",
    )
    print(preview.said)
    done = dev.destroy()
    print(done.said)
    assert done.code == 0 and dev.resources() == []
    assert f"the roles of {TEAM} stay, as stack prod needs them" in done.said
    assert (on_project(prod, TEAM), on_project(prod, BEA)) == (ALL, frozenset())
    assert prod.submit()["displayName"]

    prod.up()
    assert BEA not in prod.state_file.read_text(), "nobody needs it, so prod forgets it"
    prod.destroy()
    assert on_project(prod, TEAM) == frozenset(), "the last stack takes the rest along"
