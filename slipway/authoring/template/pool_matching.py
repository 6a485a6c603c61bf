"""The resource pool of each worker pool of a job: Vertex AI takes a job only where the two are equal field by field,
and no pool may be asked for more than its maximum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

from slipway.authoring.template.declaration import Declaration
from slipway.authoring.template.worker_pool import TaskPool, WorkerPool
from slipway.base.formatting import join
from slipway.model.cluster import ClusterSpec, PoolSpec, assigned

Comparison = tuple[str, str, str, bool]
"""A field, the need of a worker pool, the value of a resource pool, and whether that fits."""


@dataclass(frozen=True)
class PoolMismatch:
    """A worker pool and the nearest resource pool (`cluster/pool`); several of each if only their number is wrong."""

    role: str
    nearest: str
    fields: tuple[Comparison, ...]
    noun: str = "worker pool"
    #: The size of the differences.
    distance: float = 0.0

    @property
    def differences(self) -> int:
        return sum(not fits for *_, fits in self.fields)

    def __str__(self) -> str:
        """Return `worker pool chief needs machine a3-highgpu-8g, nearest pool cpu/workers has n1-standard-8`."""
        # Tasks that need the same have no name of their own.
        called = self.role if self.role == self.noun else f"{self.noun} {self.role}"
        return f"{called} needs {self.lack}"

    @property
    def lack(self) -> str:
        """Return `machine a3-highgpu-8g and disk pd-ssd 100 GB, nearest pool cpu/workers has …`."""
        unlike = [(f"{field} {needs}", has) for field, needs, has, fits in self.fields if not fits]
        needed, had = (join(dict.fromkeys(some)) for some in zip(*unlike, strict=True))
        return f"{needed}, nearest pool {self.nearest} has {had}"


@dataclass(frozen=True)
class WorkerPoolDemand:
    """A worker pool's demand of machines."""

    template: Declaration
    worker: WorkerPool
    #: The machines that it takes at once, for all trials together; 0 where others may wait for the same one.
    machines: int


def _fields(demand: WorkerPoolDemand, cluster: ClusterSpec, pool: PoolSpec) -> Iterator[Comparison]:
    def field(name: str, ours: str, theirs: str) -> Comparison:
        return name, ours, theirs, ours == theirs

    yield from demand.worker.beside(pool.machine)
    # Every job of Slipway names its service account, which a cluster must allow.
    custom = "custom" if cluster.custom_service_account else "none (serviceAccount.custom: false)"
    yield field("service account", "custom", custom)
    if demand.template.network is not None:  # Without one a job takes the cluster's.
        yield field("network", demand.template.network, cluster.network or "none")
    if demand.template.at_home and cluster.region:
        yield field("region", f"the stack's own, for its {demand.template.at_home}", cluster.region)


def _distance(worker: WorkerPool, pool: PoolSpec) -> float:
    """Return the size of the differences: another machine family weighs most, then another type or accelerator, then
    another number of accelerators, then the disk. Among types of other sizes, the size next to it is nearest."""
    shape, disk, has = worker.shape, worker.spec.disk, pool.machine
    distance = 0.0
    if (shape.accelerator, shape.accelerator_count) != (has.accelerator, has.accelerator_count):
        distance += 2 if shape.accelerator != has.accelerator else 1.5
    if shape.type != has.type:
        other = has.shape
        distance += (2 if shape.family == other.family else 3) + abs(log2(shape.vcpus / other.vcpus)) / 10
    if disk != has.disk:
        distance += 1
    return distance


def mismatches(asked: tuple[WorkerPoolDemand, ...], cluster: ClusterSpec) -> tuple[PoolMismatch, ...]:
    """Return why a cluster has no fitting pools."""
    unlike = list[PoolMismatch]()
    taken = {pool.name for demand in asked for pool in _fitting(demand, cluster)}
    for demand in asked:
        closest = min(cluster.pools, key=lambda pool: (_distance(demand.worker, pool), pool.name in taken, pool.name))
        fields = tuple(_fields(demand, cluster, closest))
        noun = "task" if isinstance(demand.worker, TaskPool) else "worker pool"
        distance = _distance(demand.worker, closest)
        mismatch = PoolMismatch(demand.worker.role, f"{cluster.name}/{closest.name}", fields, noun, distance)
        if mismatch.differences:
            unlike.append(mismatch)
    return tuple(unlike) or tuple(_too_many(asked, cluster))


def _fitting(demand: WorkerPoolDemand, cluster: ClusterSpec) -> tuple[PoolSpec, ...]:
    """Return the pools that fit, all of one shape: of several that fit the tasks of a pipeline, the smallest."""
    fitting = tuple(pool for pool in cluster.pools if all(fits for *_, fits in _fields(demand, cluster, pool)))
    if not isinstance(demand.worker, TaskPool):
        return fitting
    sizes = [pool.machine.shape.size for pool in fitting]
    return tuple(pool for pool, size in zip(fitting, sizes, strict=True) if size == min(sizes))


def fitting_pools(asked: Sequence[WorkerPoolDemand], cluster: ClusterSpec) -> tuple[PoolSpec, ...] | None:
    """Return a resource pool for each demand, the roomiest first, with none asked for more than its maximum; None where
    the cluster lacks some."""
    pools = {pool.name: pool for pool in cluster.pools}
    fitting = [([pool.name for pool in _fitting(demand, cluster)], demand.machines) for demand in asked]
    names = assigned(fitting, {name: pool.max for name, pool in pools.items()})
    return None if names is None else tuple(pools[name] for name in names)


def _too_many(asked: tuple[WorkerPoolDemand, ...], cluster: ClusterSpec) -> Iterator[PoolMismatch]:
    """Yield mismatches in number where all shapes match: each shape's need beside its pools' maximum."""
    # Two demands have the same pools, or none in common.
    shapes: dict[tuple[PoolSpec, ...], list[WorkerPoolDemand]] = {}
    for demand in asked:
        shapes.setdefault(_fitting(demand, cluster), []).append(demand)
    for fitting, group in shapes.items():
        pools = sorted(fitting, key=lambda pool: pool.name)
        if fitting_pools(group, cluster) is not None:
            continue
        counts = [demand.machines for demand in group]
        needs = " + ".join(map(str, counts)) + (f" = {sum(counts)}" if len(counts) > 1 else "")
        has = "max " + " and ".join(str(pool.max) for pool in pools)
        names = " and ".join(f"{cluster.name}/{pool.name}" for pool in pools)
        roles = " + ".join(demand.worker.role for demand in group)
        yield PoolMismatch(roles, names, (("replicas", needs, has, False),))
