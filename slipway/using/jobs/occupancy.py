"""Jobs on clusters and their pools, and the end of the last one: one reading for every screen and verdict. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.using.jobs.demand import Demand, by_pool


def on(job: VertexJob, cluster: PersistentResource) -> bool:
    """Tell whether a job runs on a cluster, or waits for it. Clusters of two regions may have the same id."""
    elsewhere = job.region and cluster.region and job.region != cluster.region
    return job.persistent_resource_id == cluster.id and not elsewhere


def machines_on(job: VertexJob, pool: str, cluster: PersistentResource) -> int:
    """Return the machines that a job asks of a pool of its cluster; 0 for another pool's job."""
    return by_pool(Demand.of(job), cluster).get(pool, 0)


def last_end(jobs: Iterable[VertexJob], pool: str, cluster: PersistentResource) -> datetime | None:
    """Return the end of the last job on a pool while its cluster was there; None where none of these jobs was on it."""
    ends = (job.end_time for job in jobs if on(job, cluster) and machines_on(job, pool, cluster))
    return max((end for end in ends if end and cluster.was_there(end)), default=None)
