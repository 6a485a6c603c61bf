"""Machines, and the pools of clusters: declared, published and alive."""

from typing import Any

from slipway.google.clusters import ResourcePool
from slipway.model.catalog.clusters import Pool
from slipway.model.cluster import PoolSpec
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import Price, hourly

from .place import REGION

HEAD, CPU = MachineSpec("n1-standard-4"), MachineSpec("n1-standard-8")
L4 = MachineSpec("g2-standard-12", "NVIDIA_L4", 1)
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))


def pool_spec(
    name: str = "workers", machine: MachineSpec = CPU, low: int = 1, high: int | None = 4, **changes: Any
) -> PoolSpec:
    """Return a declared pool. `high` None: a pool of a fixed size, which is `low`."""
    usual = {"min": low, "max": low if high is None else high, "autoscaled": high is not None, "replicas": low}
    return PoolSpec(name, machine, **{**usual, **changes})


def pool(
    name: str = "workers", machine: MachineSpec = CPU, low: int = 1, high: int | None = 4, *, price: Price | None = None
) -> Pool:
    """Return a published pool. `high` None: a pool of a fixed size, which is `low`. `price`: of a machine, by default
    the book's."""
    return Pool(
        name=name,
        machine=machine,
        min=low,
        max=low if high is None else high,
        autoscaled=high is not None,
        price_per_hour=price or hourly(machine, REGION),
    )


def resource_pool(
    name: str = "workers",
    machine: MachineSpec = CPU,
    replicas: int = 1,
    used: int = 0,
    *,
    low: int | None = None,
    high: int | None = None,
) -> ResourcePool:
    """Return a living pool of so many machines, `used` of them busy; without `high` it has a fixed size."""
    return ResourcePool(name, machine, replicas, used, (low or 1) if high else None, high)
