"""Machines of each pool over time: their number, and its bounds. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Usd
from slipway.operating.history.model import Deployment, History, PoolKey, Sample

Dated = TypeVar("Dated", Deployment, Sample)
HOLDS = timedelta(hours=2)
"""The time for which a sample holds, unless another one comes before: they are hourly, and may be late."""


@dataclass(frozen=True)
class PoolSpan:
    """A time without a known change. `live`: machines that were up, None where they were not recorded. `min` and `max`
    are None where no known deployment named the pool."""

    begin: datetime
    end: datetime
    live: int | None
    min: int | None
    max: int | None

    @property
    def hours(self) -> float:
        return (self.end - self.begin).total_seconds() / 3600


@dataclass(frozen=True)
class PoolTimeline:
    """A pool of one generation while its cluster existed, in consecutive spans. `cluster` is the name that people use,
    `per_hour` the price of one machine. `adopted`: somebody else made it, and pays for it. `jobs_unread`: some jobs of
    its region could not be read, and may have been on it."""

    key: PoolKey
    cluster: str
    machine: MachineSpec
    region: str
    per_hour: Usd
    spans: tuple[PoolSpan, ...]
    adopted: bool = False
    jobs_unread: bool = False


def timelines(history: History) -> tuple[PoolTimeline, ...]:
    """Return a timeline for each pool of `history`, in the order of clusters and pools in its deployments.

    The pools of a generation never change: an edit makes another generation. A pool of a fixed size is known while its
    deployment is in force; another pool from each sample on. Pools that no known deployment named have no machine type
    and no price, and are left out.
    """
    named = {
        key: (cluster, pool) for one in history.deployments for key, cluster, pool in _pools(one.clusters.values())
    }
    spans: dict[PoolKey, list[PoolSpan]] = {key: [] for key in named}
    for begin, end in pairwise(_moments(history)):
        deployment = _last(history.deployments, begin)
        sample = _last(history.samples, begin)
        if sample and begin >= sample.at + HOLDS:
            sample = None
        for key in _present(deployment, sample, named):
            pool = named[key][1]
            _append(spans[key], PoolSpan(begin, end, _live(key, pool, deployment, sample), pool.min, pool.max))
    return tuple(
        PoolTimeline(
            key,
            cluster.name,
            pool.machine,
            region := cluster.region or history.region,
            pool.price_per_hour,
            tuple(some),
            bool(cluster.adopted),
            region in history.jobs_unread,
        )
        for key, (cluster, pool) in named.items()
        if (some := spans[key])
    )


def _pools(clusters: Iterable[Cluster]) -> Iterator[tuple[PoolKey, Cluster, Pool]]:
    for cluster in clusters:
        for pool in cluster.pools:
            yield PoolKey(cluster.id, pool.name), cluster, pool


def _moments(history: History) -> list[datetime]:
    """Return every moment at which the known state may change."""
    ends = (
        first.at + HOLDS
        for first, then in pairwise((*history.samples, None))
        if first and (then is None or then.at > first.at + HOLDS)
    )
    changes = {*(one.at for one in history.deployments), *(one.at for one in history.samples), *ends}
    inside = (at for at in changes if history.since < at < history.until)
    return sorted({history.since, *inside, history.until})


def _last(some: Sequence[Dated], at: datetime) -> Dated | None:
    place = bisect_right(some, at, key=lambda one: one.at)
    return some[place - 1] if place else None


def _present(
    deployment: Deployment | None, sample: Sample | None, named: Mapping[PoolKey, tuple[Cluster, Pool]]
) -> Iterator[PoolKey]:
    """Yield the pools that existed: as deployed, or retiring then, or as a later sample saw them."""
    ids = {*(one.id for one in deployment.clusters.values()), *deployment.retiring} if deployment else set()
    seen = sample.pools if sample else {}
    return (key for key in named if key in seen or key.cluster_id in ids)


def _live(key: PoolKey, pool: Pool, deployment: Deployment | None, sample: Sample | None) -> int | None:
    if sample and key in sample.pools:
        return sample.pools[key].live
    if sample and deployment and sample.at >= deployment.at:  # Declared, and without machines that were up.
        return 0
    return pool.min if deployment and pool.min == pool.max else None


def _append(spans: list[PoolSpan], one: PoolSpan) -> None:
    before = spans[-1] if spans else None
    if before and before.end == one.begin and replace(before, begin=one.begin, end=one.end) == one:
        spans[-1] = replace(before, end=one.end)
    else:
        spans.append(one)
