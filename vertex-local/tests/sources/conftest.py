"""A running cloud for the examples of the five source documents, and the SDK as their samples set it up."""

from collections.abc import Iterator
from typing import Any

import pytest

from vertex_local.identities import HOME
from vertex_local.testing.calling import PARENT
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


def posted(cloud: LocalCloud, body: Any) -> str:
    """Return the name of the custom job that a document's body makes."""
    return str(cloud.rest("POST", f"/v1/{PARENT}/customJobs", body)["name"])


def machines(cloud: LocalCloud, machine: str, *plan: tuple[float, int], strategy: str = "any") -> None:
    """Set how many machines of a type there are from so many seconds on."""
    entries = [
        {"at": at, "region": "us-central1", "machine": machine, "strategy": strategy, "machines": count}
        for at, count in plan
    ]
    cloud.rest("POST", "/vertex-local/scenario", {"supply": entries})


def later(cloud: LocalCloud, seconds: float) -> None:
    """Move the cloud's clock ahead."""
    cloud.rest("POST", "/vertex-local/clock", {"advance": seconds})


def gpus_drawn(cloud: LocalCloud, accelerator: str) -> tuple[int, int]:
    """Return how many are drawn in us-central1 from (on-demand, preemptible) quota, as Monitoring has it."""
    query = (
        'filter=metric.type="serviceruntime.googleapis.com/quota/allocation/usage" AND '
        'resource.labels.location="us-central1"'
        "&interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2100-01-01T00:00:00Z"
    )
    found = cloud.rest("GET", f"/v3/projects/local-project/timeSeries?{query}").get("timeSeries", [])
    used = {
        series["metric"]["labels"]["quota_metric"].partition("/")[2]: int(series["points"][0]["value"]["int64Value"])
        for series in found
    }
    names = (f"nvidia_{accelerator}_gpus", f"preemptible_nvidia_{accelerator}_gpus")
    on_demand, preemptible = (used.get(f"custom_model_training_{name}", 0) for name in names)
    return on_demand, preemptible
