"""A stack that an earlier commit deployed lives on: nothing of it is replaced or deleted for the sake of newer code.

Each file in `states/` is what `pulumi stack export --show-secrets` had right after `pulumi up` of the commit that it is
named after, without source positions: the stack `earlier` with one cluster of two pools and the template `nap`. # N1
"""

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
def earlier(tmp_path: Path, own_cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """The same stack, deployed by today's code: the cloud holds what the earlier state speaks of."""
    checkout = new_checkout(tmp_path, own_cloud, "earlier")
    checkout.write(persistentResources={"cpu": {"pools": POOLS}})
    checkout.up()
    return checkout


def test_an_earlier_state_previews_without_a_replacement_or_a_deletion(earlier: Checkout) -> None:
    assert STATES
    for file in STATES:
        on_stack = ("--stack", earlier.stack, "--non-interactive")
        done = earlier.run("pulumi", "stack", "import", "--file", str(file), *on_stack, role="deployer")
        assert done.code == 0, done.said
        for more in ((), ("--refresh=false",)):
            previewed = earlier.pulumi("preview", "--json", *more)
            assert previewed.code == 0, previewed.said
            planned = {
                f"{step['op']} {step['urn'].rsplit('::', 1)[-1]}"
                for step in previewed.json["steps"]
                if step["op"] not in ("same", "refresh", "update", "create") and not retained_package(step["urn"])
            }
            assert planned == set(), f"{file.name} {more}"
        earlier.up()
        assert list(earlier.clusters().values()) == ["RUNNING"]


def retained_package(urn: str) -> bool:
    """A package is named by what is in it: another one takes its place, and the old one stays in its bucket."""
    return "$gcp:storage/bucketObject:BucketObject::nap-" in urn
