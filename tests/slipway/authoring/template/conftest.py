"""Templates and clusters that tests bend."""

from dataclasses import replace
from typing import Any

from slipway.authoring.template.jobspec import CompileContext
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.machines.spec import MachineSpec

CONTEXT = CompileContext(
    stack="dev",
    region="us-central1",
    commit="3f9c2e1",
    catalog_bucket="acme-dev-catalog",
    work_bucket="acme-dev-work",
    trainer="trainer@acme.iam.gserviceaccount.com",
    clusters={"cpu": "cpu-1a2b3c4", "big": "big-9999999"},
)


_OF_MACHINES = {"accelerator", "accelerator_count", "disk"}


def pool(name: str = "workers", type: str = "n1-standard-8", **changes: Any) -> PoolSpec:
    """Return an autoscaled pool of 1 to 4 machines."""
    machine = MachineSpec(type, **{key: changes.pop(key) for key in _OF_MACHINES & changes.keys()})
    return replace(PoolSpec(name, machine, min=1, max=4, autoscaled=True, replicas=1), **changes)


def cluster(*pools: PoolSpec, name: str = "cpu", **changes: Any) -> ClusterSpec:
    return ClusterSpec(name, pools or (pool("head", "n1-standard-4"), pool()), **changes)
