"""Machines of each pool over time: their number, and its bounds. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

from slipway.model.catalog.clusters import Cluster, Pool
from slipway.operating.history.model import Deployment, History, PoolKey, Sample

Dated = TypeVar("Dated", Deployment, Sample)
HOLDS = timedelta(hours=2)
"""The time for which a sample holds, unless another one comes before: they are hourly, and may be late."""


@dataclass(frozen=True)
class PoolSpan:
    """A time without a known change."""

    begin: datetime
    end: datetime
    #: The machines that were up; None where they were not recorded.
    live: int | None
    #: The most machines that it may have.
    max: int

    @property
    def hours(self) -> float:
        return (self.end - self.begin).total_seconds() / 3600


@dataclass(frozen=True)
class PoolTimeline:
    """A pool of one generation while its cluster existed."""

    key: PoolKey
    cluster: Cluster
    pool: Pool
    region: str
    spans: tuple[PoolSpan, ...]
    #: Some jobs of its region could not be read, and may have been on it.
    jobs_unread: bool = False

    @property
    def name(self) -> str:
        """`CLUSTER/POOL`"""
        return f"{self.cluster.name}/{self.pool.name}"


def timelines(history: History) -> tuple[PoolTimeline, ...]:
    """Return a timeline for each pool of `history`, in the order of clusters and pools in its deployments.

    The pools of a generation never change: an edit makes another generation. A pool of a fixed size is known while its
    deployment is in force; another pool from each sample on. Pools that no known deployment named have no machine type
    and no price, and are left out.
    """
    named = {
        PoolKey(cluster.id, pool.name): (cluster, pool)
        for deployment in history.deployments
        for cluster in deployment.catalog.clusters.values()
        for pool in cluster.pools
    }
    spans: dict[PoolKey, list[PoolSpan]] = {key: [] for key in named}
    for begin, end in pairwise(_moments(history)):
        deployment = _last(history.deployments, begin)
        sample = _last(history.samples, begin)
        if sample and begin >= sample.at + HOLDS:
            sample = None
        for key in _present(deployment, sample, named):
            _, pool = named[key]
            live = _live(key, pool, deployment, sample)
            extend(spans[key], PoolSpan(begin=begin, end=end, live=live, max=pool.max))
    return tuple(
        PoolTimeline(
            key=key,
            cluster=cluster,
            pool=pool,
            region=cluster.region or history.region,
            spans=tuple(spans[key]),
            jobs_unread=(cluster.region or history.region) in history.jobs_unread,
        )
        for key, (cluster, pool) in named.items()
        if spans[key]
    )


def _moments(history: History) -> list[datetime]:
    changes = (
        *(deployment.at for deployment in history.deployments),
        *(at for sample in history.samples for at in (sample.at, sample.at + HOLDS)),
    )
    inside = (at for at in changes if history.since < at < history.until)
    return sorted({history.since, *inside, history.until})


def _last(entries: Sequence[Dated], at: datetime) -> Dated | None:
    place = bisect_right(entries, at, key=lambda entry: entry.at)
    return entries[place - 1] if place else None


def _present(
    deployment: Deployment | None, sample: Sample | None, named: Mapping[PoolKey, tuple[Cluster, Pool]]
) -> Iterator[PoolKey]:
    """Yield the pools that existed: as deployed, or retiring then, or as a later sample saw them."""
    catalog = deployment.catalog if deployment else None
    ids = {*(cluster.id for cluster in catalog.clusters.values()), *catalog.retiring} if catalog else set()
    seen = sample.pools if sample else {}
    return (key for key in named if key in seen or key.cluster_id in ids)


def _live(key: PoolKey, pool: Pool, deployment: Deployment | None, sample: Sample | None) -> int | None:
    """Return the machines that were up; None where they were not recorded."""
    if sample and key in sample.pools:
        return sample.pools[key].live
    if sample and deployment and sample.at >= deployment.at:  # Declared, and without machines that were up.
        return 0
    return pool.min if deployment and pool.min == pool.max else None


def extend(spans: list[PoolSpan], span: PoolSpan) -> None:
    """Add a span that follows the others; equal neighbours become one."""
    before = spans[-1] if spans else None
    if before and before.end == span.begin and replace(before, begin=span.begin, end=span.end) == span:
        spans[-1] = replace(before, end=span.end)
    else:
        spans.append(span)
