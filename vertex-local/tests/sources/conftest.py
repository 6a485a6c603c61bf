"""The SDK as the samples of the source documents set it up, and what they wait for."""

from collections.abc import Iterator

import pytest

from vertex_local.identities import HOME
from vertex_local.testing.local_cloud import LocalCloud

TRAINER = HOME.compute_default


@pytest.fixture
def cloud(running: LocalCloud) -> Iterator[LocalCloud]:
    """Yield the running cloud, without a scenario when the test is over."""
    yield running
    running.rest("DELETE", "/vertex-local/scenario")


@pytest.fixture
def sdk(vertex_sdk: LocalCloud) -> LocalCloud:
    """Return the cloud of the SDK, which is this folder's."""
    return vertex_sdk


def machines(cloud: LocalCloud, machine: str, *plan: tuple[float, int]) -> None:
    """Set how many machines of a type there are from so many seconds on."""
    entries = [
        {"at": at, "region": "us-central1", "machine": machine, "strategy": "any", "machines": count}
        for at, count in plan
    ]
    cloud.rest("POST", "/vertex-local/scenario", {"supply": entries})


def later(cloud: LocalCloud, seconds: float) -> None:
    """Move the cloud's clock ahead."""
    cloud.rest("POST", "/vertex-local/clock", {"advance": seconds})
