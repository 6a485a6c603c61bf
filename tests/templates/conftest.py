"""One deployed stack with every shipped template, on a local cloud with room for all of their capacity types."""

from collections.abc import Iterator

import pytest

from tests import shipped
from tests.checkouts.fixtures import NewCheckout
from tests.local.conftest import FAST, LocalCloud

from .stack import GREET, OWN, Stack, files

STACK = "ship"
ROOM = ("preemptible_cpus=256", "preemptible_nvidia_h100_gpus=16", "preemptible_nvidia_l4_gpus=16")
SETTINGS = (
    *FAST,
    *(f"quota.custom_model_training_{room}" for room in ROOM),
    "spot_restart_seconds=0.2",
    "stockout_retry_seconds=0.3",
    "monitoring_seconds=0.5",
    # What a job says last, and keeps, takes longer than the usual five seconds where the machine is busy.
    "kill_grace_seconds=60",
)
DISK = {"type": "pd-ssd", "sizeGb": 100}
POOLS = {
    "head": {"machine": "n1-standard-4", "disk": DISK, "replicas": {"min": 2, "max": 8}},
    "workers": {"machine": "n1-standard-8", "disk": DISK, "replicas": {"min": 2, "max": 8}},
}


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout) -> Iterator[Stack]:
    """Yield the stack, deployed once in the run of a process. Tests leave it, and the settings of its cloud,
    unchanged."""
    folder = tmp_path_factory.mktemp("templates")
    cloud = LocalCloud(folder / "cloud")
    cloud.up(*[word for setting in SETTINGS for word in ("--set", setting)])
    checkout = new_checkout(folder, cloud, STACK, files=files)
    workspace = {"submitters": ["group:ml-engineers@company.example"], "code": True}
    checkout.write(
        persistentResources={"cpu": {"pools": POOLS}}, templates=[*shipped.templates(), OWN, GREET], workspace=workspace
    )
    checkout.up()
    yield Stack(checkout)
    cloud.command("down")


@pytest.fixture
def stack(deployed: Stack) -> Iterator[Stack]:
    """Yield the stack, without a scenario or faults before and after, and with the test's jobs ended after it."""
    yield deployed
    for trouble in ("scenario", "faults"):
        deployed.cloud.rest("DELETE", f"/vertex-local/{trouble}")
    deployed.cancel_all()
