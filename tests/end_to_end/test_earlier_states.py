"""A stack that an earlier commit deployed lives on: nothing of it is replaced or deleted for the sake of newer code.

Each file in `states/` is what `pulumi stack export --show-secrets` had right after `pulumi up` of the commit that it is
named after, without source positions: the stack `earlier` with one cluster of two pools and the template `nap`. # N1
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey

STATES = sorted((Path(__file__).parent / "states").glob("*.json"))
DISK = {"disk": {"type": "pd-ssd", "sizeGb": 100}}
POOLS = {
    "head": {"machine": "n1-standard-4", **DISK, "replicas": 1},
    "workers": {"machine": "n1-standard-8", **DISK, "replicas": {"min": 2, "max": 4}},
}


@pytest.fixture
def earlier(tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """The same stack, deployed by today's code: the cloud holds what the earlier state speaks of."""
    checkout = new_checkout(tmp_path, cloud, "earlier")
    checkout.write(persistentResources={"cpu": {"pools": POOLS}})
    checkout.up()
    return checkout


def test_an_earlier_state_previews_without_a_replacement_or_a_deletion(earlier: Checkout) -> None:
    assert STATES
    for file in STATES:
        on_stack = ("--stack", earlier.stack, "--non-interactive")
        done = earlier.run("pulumi", "stack", "import", "--file", str(file), *on_stack, role="deployer")
        assert done.code == 0, done.said
        previewed = earlier.pulumi("preview", "--json", "--refresh=false")
        assert previewed.code == 0, previewed.said
        assert harm((step["op"], step["urn"]) for step in previewed.json["steps"]) == set(), file.name
        done = earlier.pulumi("up", "--json")
        assert done.code == 0, done.said
        events = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        steps = [event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event]
        assert len(steps) > 20, done.out
        assert harm((step["op"], step["urn"]) for step in steps) == set(), file.name
        assert list(earlier.clusters().values()) == ["RUNNING"]


def harm(steps: Iterable[tuple[str, str]]) -> set[str]:
    """The steps, each an operation and whom it concerns, that an earlier stack must not meet."""
    return {
        f"{op} {urn.rsplit('::', 1)[-1]}"
        for op, urn in steps
        if op not in ("same", "refresh", "update", "create") and not retained_package(urn)
    }


def retained_package(urn: str) -> bool:
    """A package is named by what is in it: another one takes its place, and the old one stays in its bucket."""
    return "$gcp:storage/bucketObject:BucketObject::nap-" in urn
