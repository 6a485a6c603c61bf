"""Two stacks in one project: what one of them gives up stays where the other needs it. # P5 # N1"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import wait_for
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey

TEAM, BEA, EVE = "group:ml-engineers@company.example", "user:bea@company.example", "user:eve@company.example"
ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_CANCELLED")
ALL = frozenset(SUBMITTER_ROLES.values())


def submitters(checkout: Checkout, *members: str) -> None:
    checkout.write(workspace={"submitters": list(members)}, persistentResources={}, templates=[])


def published(checkout: Checkout) -> bytes:
    path = f"/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o/catalog.json?alt=media"
    return checkout.cloud.call("GET", path).content


def overwrite(checkout: Checkout, content: bytes) -> None:
    path = f"/upload/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o?uploadType=media&name=catalog.json"
    assert checkout.cloud.call("POST", path, "deployer", data=content).status_code == 200


def on_project(checkout: Checkout, member: str) -> frozenset[str]:
    policy: Any = checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    return frozenset(binding["role"] for binding in policy["bindings"] if member in binding["members"])


def on_work(checkout: Checkout) -> str:
    """Return the policy of a stack's work bucket, which outlives it."""
    return str(checkout.cloud.rest("GET", f"/storage/v1/b/{checkout.catalog.removeprefix('gs://')[:-7]}work/iam"))


def test_what_one_gives_up_stays_where_the_other_needs_it(
    tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout
) -> None:
    dev, prod = (new_checkout(tmp_path / name, cloud, name) for name in ("dev", "prod"))
    dev.write(workspace={"submitters": [TEAM, BEA]})
    prod.write(workspace={"submitters": [TEAM, BEA, EVE]})
    dev.up()
    prod.up()

    # A submitter of both, and one of prod alone, are dropped from prod.
    prod.write(workspace={"submitters": [TEAM]})
    said = prod.up()
    assert "workspace prod: bea@company.example (and 1 more) can no longer submit jobs" in said
    stays = "keeps roles in the project, as stack dev of Pulumi project slipway needs them"
    assert f"bea@company.example {stays}" in said, said
    assert (on_project(prod, BEA), on_project(prod, EVE)) == (ALL, frozenset())
    again = prod.pulumi("preview", "--expect-no-changes", role="previewer")
    assert again.code == 0 and "can no longer" not in again.said

    # Dev is destroyed: prod still needs the team's roles, and nobody needs bea's.
    refused = dev.pulumi("destroy")
    assert refused.code != 0 and "make destroy STACK=dev" in refused.said
    done = dev.destroy()
    assert done.code == 0 and dev.resources() == []
    assert f"the roles of {TEAM} stay, as stack prod of Pulumi project slipway needs them" in done.said
    assert (on_project(prod, TEAM), on_project(prod, BEA)) == (ALL, frozenset())
    job = prod.submit()

    prod.up()
    assert BEA not in prod.state_file.read_text(), "nobody needs it, so prod forgets it"
    prod.cloud.cancel(job["name"])
    wait_for(lambda: prod.job_state(job["name"]) in ENDED, "the job has ended")
    done = prod.destroy()
    assert done.code == 0 and on_project(prod, TEAM) == frozenset(), "the last stack takes the rest along"


@pytest.mark.deployed
def test_what_the_other_one_may_need_or_needs_by_now_is_not_taken(
    tmp_path: Path, checkout: Checkout, new_checkout: NewCheckout, faults: Callable[..., None]
) -> None:
    prod = new_checkout(tmp_path / "prod", checkout.cloud, "prod")
    submitters(prod, BEA)
    prod.up()
    whole = published(prod)

    # Where the other one's catalog can't be read, all stays and is named.
    overwrite(prod, b"not JSON")
    checkout.write(workspace={"submitters": [BEA]})
    said = checkout.up()
    assert f"the roles of {TEAM} stay, as nobody can tell" in said
    assert f"{prod.catalog}/catalog.json: not valid JSON" in said
    assert on_project(checkout, TEAM) == ALL
    overwrite(prod, whole)

    # The other one grants it while a destruction waits.
    faults({"kind": "hold", "match": "DELETE .*/persistentResources/", "times": 1})
    destruction = checkout.begin("destroy", SLIPWAY_PURPOSE="destroy")
    cloud = checkout.cloud
    destruction.until(lambda: not cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"], "its cluster goes")
    submitters(prod, BEA, TEAM)
    prod.up()
    faults()
    assert destruction.process.wait() == 0 and checkout.resources() == []
    assert f"the roles of {TEAM} stay, as stack prod of Pulumi project slipway needs them" in destruction.said
    assert on_project(checkout, TEAM) == on_project(checkout, BEA) == ALL

    submitters(checkout, TEAM, BEA)
    checkout.up()
    overwrite(prod, b"not JSON")
    done = checkout.destroy()
    assert done.code == 0 and checkout.resources() == []
    assert f"gcloud projects remove-iam-policy-binding {PROJECT} --member={TEAM}" in done.said
    assert on_project(checkout, TEAM) == on_project(checkout, BEA) == ALL

    overwrite(prod, whole)
    told = prod.slipway("doctor", "--output", "json", role="deployer").json["findings"]
    (left,) = (one for one in told if one["id"] == "roles-left")
    assert left["sentence"].startswith(f"{TEAM} has the roles of a submitter") and left["mend"] == "make up STACK=prod"


def at_once(
    checkouts: Sequence[Checkout], verb: str, held: str, faults: Callable[..., None], **variables: str
) -> list[str]:
    """Run a command on each stack, and hold them until all have decided and come to the call `held`."""
    cloud = checkouts[0].cloud
    faults({"kind": "hold", "match": held, "times": len(checkouts)})
    runs = [checkout.begin(verb, **variables) for checkout in checkouts]
    wait_for(lambda: not cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"], "all have decided")
    faults()
    assert [run.process.wait() for run in runs] == [0] * len(runs), "\n".join(run.said for run in runs)
    return [run.said for run in runs]


def test_whoever_lets_go_last_of_two_at_once_takes_the_roles(
    tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout, faults: Callable[..., None]
) -> None:
    both = [new_checkout(tmp_path / name, cloud, name) for name in ("dev", "prod")]
    for checkout in both:
        submitters(checkout, TEAM, BEA)
        checkout.up()

    # Both drop the same person: each still sees the other's catalog name her.
    for checkout in both:
        submitters(checkout, TEAM)
    at_once(both, "up", "POST .*/upload/.*catalog.json", faults)
    assert (on_project(both[0], TEAM), on_project(both[0], BEA)) == (ALL, frozenset())
    assert not [one for checkout in both for one in checkout.resources() if BEA in one["urn"]]

    # Both are taken down: each still sees the other's catalog name the team.
    said = at_once(both, "destroy", "DELETE .*/o/catalog.json", faults, SLIPWAY_PURPOSE="destroy")
    assert all(f"the roles of {TEAM} stay, as stack" in one for one in said), "as things were at the beginning"
    assert any(f"of {TEAM} goes, as no other stack needs it by now" in one for one in said)
    assert on_project(both[0], TEAM) == frozenset() and not [one for each in both for one in each.resources()]
    assert not any(TEAM in on_work(checkout) for checkout in both)


def test_a_role_that_the_other_one_needs_is_granted_again_and_no_destruction_takes_it(
    tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout, faults: Callable[..., None]
) -> None:
    dev, prod = (new_checkout(tmp_path / name, cloud, name) for name in ("dev", "prod"))
    submitters(prod, TEAM)
    prod.up()

    # A first deployment that is killed leaves no catalog in the state, by which a destruction begins.
    submitters(dev, TEAM)
    faults({"kind": "hold", "match": "POST /upload/.*-catalog/o", "times": 1})
    killed = dev.begin("up")
    killed.until(lambda: not cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"], "it publishes")
    killed.kill_tree()
    faults()
    dev.clear_after_a_kill()
    kept = urns(dev)
    refused = dev.pulumi("destroy")
    assert refused.code != 0 and "make destroy STACK=dev" in refused.said, refused.said
    assert any("IAMMember::" in urn for urn in kept) and kept == urns(dev), refused.said
    assert on_project(dev, TEAM) == ALL

    dev.up()
    (submits,) = (urn for urn in urns(dev) if urn.endswith(f"::submit-{TEAM}"))
    assert dev.run("pulumi", "state", "taint", "--stack", "dev", submits, "--yes", role="deployer").code == 0
    for replacement in ((), ("--replace", submits)):
        done = dev.pulumi("up", *replacement)
        assert done.code == 0 and on_project(dev, TEAM) == ALL, done.said


def urns(checkout: Checkout) -> set[str]:
    """Return what a destruction would delete."""
    every = {str(each["urn"]) for each in checkout.resources()}
    return {urn for urn in every if "::pulumi:" not in urn}


def test_a_destruction_of_a_target_takes_no_role_that_the_other_one_needs(
    tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout
) -> None:
    dev, prod = (new_checkout(tmp_path / name, cloud, name) for name in ("dev", "prod"))
    submitters(prod, TEAM)
    dev.write(workspace={"submitters": [TEAM]})
    prod.up()
    dev.up()
    (cluster,) = (urn for urn in urns(dev) if ":AiPersistentResource::" in urn)
    kept = urns(dev)
    target = ("--target", cluster, "--target-dependents")
    refused = dev.pulumi("destroy", *target)
    assert refused.code != 0 and urns(dev) == kept, refused.said
    assert "make destroy STACK=dev takes all down" in refused.said, refused.said
    assert "with --target: the same command with SLIPWAY_PURPOSE=destroy before it" in refused.said, refused.said
    done = dev.pulumi("destroy", *target, SLIPWAY_PURPOSE="destroy")
    assert done.code == 0 and dev.clusters() == {}, done.said
    assert any("IAMMember::" in urn for urn in urns(dev)) and on_project(dev, TEAM) == ALL
    dev.up()
    assert urns(dev) == kept and len(dev.clusters()) == 1
