"""Proves that a template can run where it says: exact machine and disk per worker pool, replicas within bounds.

Vertex AI accepts a job on a persistent resource only when each worker pool equals a resource pool field by field
(vertex-rules 2). Here that is known before anything is deployed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log2

from slipway.cluster import ClusterSpec, PoolSpec
from slipway.errors import ConfigError
from slipway.machines import machine
from slipway.template.model import JobTemplate
from slipway.template.worker_pool import WorkerPool


@dataclass(frozen=True)
class Offer:
    """One way a template can run. On a cluster, `pools` are the resource pools of its worker pools, in their order."""

    way: str
    cluster: ClusterSpec | None = None
    pools: tuple[PoolSpec, ...] = ()


@dataclass(frozen=True)
class Compared:
    """One field of a worker pool beside the same field of a resource pool."""

    field: str
    needs: str
    has: str
    fits: bool


@dataclass(frozen=True)
class Misfit:
    """A worker pool and the resource pool (`cluster/pool`) that comes nearest to it."""

    role: str
    nearest: str
    fields: tuple[Compared, ...]

    @property
    def differences(self) -> int:
        return sum(not item.fits for item in self.fields)


def prove_all(templates: Iterable[JobTemplate], clusters: tuple[ClusterSpec, ...]) -> Mapping[str, tuple[Offer, ...]]:
    """The offers of each template by its name. Raises ConfigError with the reasons of all that fit nowhere."""
    offers: dict[str, tuple[Offer, ...]] = {}
    errors: list[ConfigError] = []
    for template in templates:
        try:
            offers[template.name] = prove(template, clusters)
        except ConfigError as error:
            errors.append(error)
    if len(errors) > 1:
        raise ConfigError(f"{len(errors)} templates fit no pool of this stack", why="\n".join(map(str, errors)))
    if errors:
        raise errors[0]
    return offers


def prove(template: JobTemplate, clusters: tuple[ClusterSpec, ...]) -> tuple[Offer, ...]:
    """The ways the template can run, in its order of preference; on every cluster that fits, in the stack's order.

    Raises ConfigError with the fields side by side when it asks for a pool and fits none.
    """
    return tuple(offer for way in template.ways for offer in _offers(way, template, clusters))


def _offers(way: str, template: JobTemplate, clusters: tuple[ClusterSpec, ...]) -> tuple[Offer, ...]:
    if way != "pool":
        return (Offer(way),)
    offers: list[Offer] = []
    refused: list[tuple[Misfit, ...]] = []
    for cluster in clusters:
        pools, misfits = _place(template, cluster)
        if misfits:
            refused.append(misfits)
        else:
            offers.append(Offer("pool", cluster, pools))
    if not offers:
        raise _no_pool(template, refused)
    return tuple(offers)


def _place(template: JobTemplate, cluster: ClusterSpec) -> tuple[tuple[PoolSpec, ...], tuple[Misfit, ...]]:
    """Resource pools for the worker pools at their usual replicas, or what stands in the way."""
    misfits = tuple(_misfits(template, cluster))
    if misfits:
        return (), misfits
    placed = _assign(template, cluster, template.worker_pools, {pool.name: pool.max for pool in cluster.pools})
    return (placed, ()) if placed is not None else ((), tuple(_too_many(template, cluster)))


def _misfits(template: JobTemplate, cluster: ClusterSpec) -> Iterator[Misfit]:
    taken = {
        pool.name
        for worker in template.worker_pools
        for pool in cluster.pools
        if not _compare(worker, cluster, pool).differences
    }
    for worker in template.worker_pools:
        nearest = min(cluster.pools, key=lambda pool: (_distance(worker, pool), pool.name in taken))
        compared = _compare(worker, cluster, nearest)
        if compared.differences:
            yield compared


def _distance(worker: WorkerPool, pool: PoolSpec) -> float:
    """How much would have to change: machine, its size, and accelerator most, then their number, then the disk."""
    shape = worker.shape
    distance = 0.0
    if (shape.accelerator, shape.accelerator_count) != (pool.accelerator_type, pool.accelerator_count):
        distance += 2 if shape.accelerator != pool.accelerator_type else 1.5
    if shape.type != pool.machine_type:
        other = machine(pool.machine_type, *_attached(pool))
        distance += (2 if shape.family == other.family else 3) + abs(log2(shape.vcpus / other.vcpus)) / 10
    if worker.disk != pool.disk:
        distance += 1
    return distance


def _attached(pool: PoolSpec) -> tuple[str, int] | tuple[None, None]:
    return (pool.accelerator_type, pool.accelerator_count) if pool.accelerator_type else (None, None)


def _compare(worker: WorkerPool, cluster: ClusterSpec, pool: PoolSpec) -> Misfit:
    shape = worker.shape
    rows = [
        ("machine", shape.type, pool.machine_type),
        (
            "accelerator",
            _accelerators(shape.accelerator, shape.accelerator_count),
            _accelerators(pool.accelerator_type, pool.accelerator_count),
        ),
        ("disk", str(worker.disk), str(pool.disk)),
        (
            "service account",
            "custom",
            "custom" if cluster.custom_service_account else "none (serviceAccount.custom: false)",
        ),
    ]
    fields = tuple(Compared(name, needs, has, needs == has) for name, needs, has in rows)
    return Misfit(worker.role, f"{cluster.name}/{pool.name}", fields)


def _accelerators(kind: str | None, count: int) -> str:
    return f"{kind} × {count}" if kind else "none"


def _assign(
    template: JobTemplate, cluster: ClusterSpec, workers: tuple[WorkerPool, ...], room: dict[str, int]
) -> tuple[PoolSpec, ...] | None:
    """A pool for each worker pool such that no pool is asked for more than its maximum; the roomiest is tried first."""
    if not workers:
        return ()
    _, usual, _ = template.replicas(workers[0])
    fitting = [pool for pool in cluster.pools if not _compare(workers[0], cluster, pool).differences]
    by_room = {room[pool.name]: pool for pool in reversed(fitting)}  # equal room: one of them is as good as another
    for free in sorted(by_room, reverse=True):
        pool = by_room[free]
        if free < usual:
            break
        rest = _assign(template, cluster, workers[1:], {**room, pool.name: room[pool.name] - usual})
        if rest is not None:
            return (pool, *rest)
    return None


def _too_many(template: JobTemplate, cluster: ClusterSpec) -> Iterator[Misfit]:
    """All shapes match, the replicas do not fit: each shape's need beside what its pools have at most."""
    shapes: dict[tuple[PoolSpec, ...], list[WorkerPool]] = {}
    for worker in template.worker_pools:
        fitting = tuple(pool for pool in cluster.pools if not _compare(worker, cluster, pool).differences)
        shapes.setdefault(fitting, []).append(worker)
    room = {pool.name: pool.max for pool in cluster.pools}
    for pools, workers in shapes.items():
        if _assign(template, cluster, tuple(workers), room) is not None:
            continue
        counts = [template.replicas(worker)[1] for worker in workers]
        most = [pool.max for pool in pools]
        needs = " + ".join(map(str, counts)) + (f" = {sum(counts)}" if len(counts) > 1 else "")
        has = "max " + " and ".join(map(str, most))
        names = " and ".join(f"{cluster.name}/{pool.name}" for pool in pools)
        yield Misfit(" + ".join(worker.role for worker in workers), names, (Compared("replicas", needs, has, False),))


def _no_pool(template: JobTemplate, refused: list[tuple[Misfit, ...]]) -> ConfigError:
    file = "templates/" + template.name.replace("-", "_") + ".py"
    if not refused:
        return ConfigError(
            f"template {template.name} fits no pool: the stack has no cluster",
            why="it may run by way 'pool', which needs one",
            fix=f"declare one under slipway:persistentResources, or take 'pool' out of ways in {file}",
        )
    nearest = min(refused, key=lambda misfits: (len(misfits), sum(misfit.differences for misfit in misfits)))
    return ConfigError(
        f"template {template.name} fits no pool of this stack",
        why="\n".join(line for misfit in nearest for line in _side_by_side(misfit)),
        fix=f"make them equal in {file} or in the stack file; a job runs only on a pool that matches exactly",
    )


def _side_by_side(misfit: Misfit) -> Iterator[str]:
    wide = max(len(misfit.role) + 12, *(len(item.needs) for item in misfit.fields))
    yield f"{'':17}{f'worker pool {misfit.role}':<{wide}}  nearest pool {misfit.nearest}"
    for item in misfit.fields:
        mark = "" if item.fits else "   ← differs"
        yield f"{item.field:<17}{item.needs:<{wide}}  {item.has}{mark}"
