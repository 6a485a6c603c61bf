"""Pools for a replay: those of a stack file or a catalog, and those that a stack had over time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price, hourly
from slipway.operating.history.model import Deployment
from slipway.operating.whatif.delays import MeasuredDelays
from slipway.operating.whatif.model import PoolBounds, ReplayedPool

_ALWAYS = float("-inf")


def pools_of(
    clusters: Iterable[ClusterSpec], region: str, delays: MeasuredDelays, now: datetime
) -> tuple[ReplayedPool, ...]:
    """Return the pools as if they had existed all the time, of clusters in their first configuration.

    A season that is over does not count; a coming one counts as if it were now.
    """
    return tuple(
        _with(_new(cluster, pool, region, delays), PoolBounds(since=_ALWAYS, min=pool.min, max=pool.max))
        for cluster in clusters
        if not cluster.season.over(now)
        for pool in cluster.pools
    )


def with_bounds(cluster: ClusterSpec, bounds: Mapping[tuple[str, str], tuple[int, int]]) -> ClusterSpec:
    """Return the cluster with other bounds for the named pools, by cluster and pool."""

    def changed(pool: PoolSpec) -> PoolSpec:
        least, most = bounds.get((cluster.name, pool.name), (pool.min, pool.max))
        return replace(pool, min=least, max=most)

    return replace(cluster, pools=tuple(map(changed, cluster.pools)))


def pools_over_time(
    deployments: Iterable[Deployment], region: str, delays: MeasuredDelays, since: datetime
) -> tuple[ReplayedPool, ...]:
    """Return the pools with the bounds of each deployment from its time on.

    Bounds before the first are unknown, and taken from it. A pool whose machines changed is another one.
    """
    listed = sorted(deployments, key=lambda deployment: deployment.at)
    replayed: dict[tuple[str, str, MachineSpec], ReplayedPool] = {}
    for number, deployment in enumerate(listed):
        at = (deployment.at - since).total_seconds() if number else _ALWAYS
        deployed = {
            (cluster.name, pool.name, pool.machine): (cluster, pool)
            for cluster in deployment.catalog.clusters.values()
            for pool in cluster.pools
        }
        for key, (cluster, pool) in deployed.items():
            known = replayed.get(key) or _new(cluster, pool, region, delays)
            replayed[key] = _with(known, PoolBounds(since=at, min=pool.min, max=pool.max))
        for key in replayed.keys() - deployed.keys():
            replayed[key] = _with(replayed[key], PoolBounds(since=at, min=0, max=0))
    return tuple(replayed.values())


def _new(cluster: ClusterSpec, pool: PoolSpec, region: str, delays: MeasuredDelays) -> ReplayedPool:
    return ReplayedPool(
        cluster=cluster.name,
        name=pool.name,
        machine=pool.machine,
        # An adopted cluster is paid for by its creator.
        per_hour=Price() if cluster.adopted else hourly(pool.machine, cluster.region or region),
        bounds=(),
        delays=delays.of(pool.machine.type),
    )


def _with(pool: ReplayedPool, bounds: PoolBounds) -> ReplayedPool:
    """Return the pool with its next bounds, if they differ from its last."""
    last = pool.bounds[-1] if pool.bounds else PoolBounds(since=_ALWAYS, min=0, max=0)
    if (last.min, last.max) == (bounds.min, bounds.max):
        return pool
    return replace(pool, bounds=(*pool.bounds, bounds))
