"""Reasons why a job waits, read on demand: its cluster, the jobs there, quota, and the service's newest line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.quotas import Quotas
from slipway.google.vertex import Vertex
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.jobs.log import kind_of_line
from slipway.using.jobs.waiting import wait_reason

if TYPE_CHECKING:
    from slipway.using.jobs.usual_end import UsualRoom

WaitReason = Callable[[datetime], str]
"""A function from a time to a reason to wait: some reasons tell the time that is left."""


def no_wait(now: datetime) -> str:
    return ""


def read_why(
    vertex: Vertex,
    job: VertexJob,
    cluster_name: str,
    now: datetime,
    word: Callable[[VertexJob], str] | None,
    quotas: Quotas | None = None,
    stack: str = "",
    also: str = "",
) -> WaitReason:
    """Tell what a job waits for, or that it is not known, and what is `also` to be told. `word` returns the service's
    newest line about a job; beside the pools `quotas` tell whether there is room for it. For a full pool, the run times
    of the jobs of the `stack` tell when there may be room."""
    cluster, more = job.persistent_resource_id, f"; {also}" if also else ""
    if not cluster:
        message = word(job) if word else ""
        own = f"; the service says: {message}{more}" if message else more
        if job.state == "JOB_STATE_PENDING" and job.start_time is None and kind_of_line(message) == "stock-out":
            return lambda at: f"waits for machines{own}"
        queued = job.state == "JOB_STATE_QUEUED"
        if quotas and queued and (short := _read_quota_reason(vertex.at(job.region), quotas, job, now)):
            return lambda at: short + own
        return lambda at: wait_reason(job, None, "", (), at, message) + own
    try:
        here = vertex.at(job.region)
        jobs = tuple(here.active_jobs(CUSTOM_JOB))
        there = here.persistent_resource(cluster)
        text = wait_reason(job, there, cluster_name or cluster, jobs, now)
        if stack and job.state == "JOB_STATE_QUEUED" and (room := _usual_room(here, job, there, jobs, stack, now)):
            text += f"; {room}"
    except CloudError as problem:
        text = f"why is not known: {problem.message}"
    return lambda at: text + more


def _usual_room(
    vertex: Vertex,
    job: VertexJob,
    cluster: PersistentResource,
    active: Iterable[VertexJob],
    stack: str,
    now: datetime,
) -> UsualRoom | None:
    from slipway.using.jobs.demand import Demand
    from slipway.using.jobs.earlier_jobs import EARLIER, succeeded_filter
    from slipway.using.jobs.usual_end import usual_room

    others = [other for other in active if other.id != job.id]
    succeeded = islice(vertex.jobs(CUSTOM_JOB, succeeded_filter(stack), page_size=EARLIER), EARLIER)
    return usual_room(Demand.of(job), cluster, others, succeeded, now)


def _read_quota_reason(vertex: Vertex, quotas: Quotas, job: VertexJob, now: datetime) -> str:
    """Return the quota that a job waits for; empty where none can be told. `vertex` is that of the job's region."""
    from slipway.google.quota.metrics import quota_id
    from slipway.using.jobs.waiting import draws, quota_reason

    limits = {}
    try:
        for metric, id_ in ((need.metric, quota_id(need.metric, quotas.ids)) for need in draws(job)):
            with suppress(NotFound):
                if id_ and (limit := quotas.info(id_).limit(vertex.region)) is not None:
                    limits[metric] = limit
        if not limits:
            return ""
        return quota_reason(job, limits, vertex.persistent_resources(), vertex.active_jobs(CUSTOM_JOB), now)
    except CloudError as problem:
        return f"{wait_reason(job, None, '', (), now)}; quota not checked: {problem.message}"
