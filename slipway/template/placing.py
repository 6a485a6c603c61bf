"""Which resource pool each worker pool of a job takes, such that no pool is asked for more than it can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slipway.cluster import ClusterSpec, PoolSpec
from slipway.template.misfit import Compared, Misfit, compare, distance
from slipway.template.worker_pool import WorkerPool


@dataclass(frozen=True)
class Asked:
    """A worker pool and the machines it takes at once, of all trials together."""

    worker: WorkerPool
    machines: int


def place(
    asked: tuple[Asked, ...], network: str | None, cluster: ClusterSpec
) -> tuple[tuple[PoolSpec, ...], tuple[Misfit, ...]]:
    """The resource pools in the order of `asked`, or what stands in the way."""
    misfits = tuple(_misfits(asked, network, cluster))
    if misfits:
        return (), misfits
    placed = _assign(cluster, network, asked, {pool.name: pool.max for pool in cluster.pools})
    return (placed, ()) if placed is not None else ((), tuple(_too_many(asked, network, cluster)))


def _misfits(asked: tuple[Asked, ...], network: str | None, cluster: ClusterSpec) -> Iterator[Misfit]:
    taken = {pool.name for one in asked for pool in _fitting(one, network, cluster)}
    for one in asked:
        nearest = min(cluster.pools, key=lambda pool: (distance(one.worker, pool), pool.name in taken, pool.name))
        compared = compare(one.worker, network, cluster, nearest)
        if compared.differences:
            yield compared


def _fitting(one: Asked, network: str | None, cluster: ClusterSpec) -> tuple[PoolSpec, ...]:
    return tuple(pool for pool in cluster.pools if not compare(one.worker, network, cluster, pool).differences)


def _assign(
    cluster: ClusterSpec, network: str | None, asked: tuple[Asked, ...], room: dict[str, int]
) -> tuple[PoolSpec, ...] | None:
    """A pool for each worker pool such that no pool is asked for more than its maximum; the roomiest is tried first."""
    if not asked:
        return ()
    needs = asked[0].machines
    fitting = reversed(_fitting(asked[0], network, cluster))
    by_room = {room[pool.name]: pool for pool in fitting}  # equal room: one of them is as good as another
    for free in sorted(by_room, reverse=True):
        pool = by_room[free]
        if free < needs:
            break
        rest = _assign(cluster, network, asked[1:], {**room, pool.name: room[pool.name] - needs})
        if rest is not None:
            return (pool, *rest)
    return None


def _too_many(asked: tuple[Asked, ...], network: str | None, cluster: ClusterSpec) -> Iterator[Misfit]:
    """All shapes match, the replicas do not fit: each shape's need beside what its pools have at most."""
    shapes: dict[tuple[PoolSpec, ...], list[Asked]] = {}
    for one in asked:
        shapes.setdefault(_fitting(one, network, cluster), []).append(one)
    room = {pool.name: pool.max for pool in cluster.pools}
    for fitting, group in shapes.items():
        pools = sorted(fitting, key=lambda pool: pool.name)
        if _assign(cluster, network, tuple(group), room) is not None:
            continue
        counts = [one.machines for one in group]
        most = [pool.max for pool in pools]
        needs = " + ".join(map(str, counts)) + (f" = {sum(counts)}" if len(counts) > 1 else "")
        has = "max " + " and ".join(map(str, most))
        names = " and ".join(f"{cluster.name}/{pool.name}" for pool in pools)
        roles = " + ".join(one.worker.role for one in group)
        yield Misfit(roles, names, (Compared("replicas", needs, has, False),))
