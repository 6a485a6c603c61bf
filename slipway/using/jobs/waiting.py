"""The reason why a job waits, from the service's data alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import itemgetter

from slipway.base.formatting import few, join, span
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.jobs import VertexJob, state_word
from slipway.google.quota.metrics import Need, drawn_by, label, namespace, unmetered
from slipway.google.quota.usage import usage
from slipway.model.capacity import DAY, WAIT_BY_THEMSELVES
from slipway.model.draw import Draw
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.verdict import Outcome, gets_ready, holder, on_cluster, waiting

_NAMED = 3

_PLAIN = {
    "JOB_STATE_QUEUED": "queued by the service",
    "JOB_STATE_PENDING": "accepted, getting ready to run",
    "JOB_STATE_PAUSED": "paused",
    "JOB_STATE_UPDATING": "being updated",
}


def wait_reason(
    job: VertexJob,
    cluster: PersistentResource | None,
    cluster_name: str,
    jobs: Iterable[VertexJob],
    now: datetime,
    message: str = "",
) -> str:
    """Return the reason why a job waits. `cluster` is the job's, None when it runs beside the pools or the cluster
    can't be read. `message`: the service's newest line about the job, which is shown beside this."""
    plain = _PLAIN.get(job.state, state_word(job.state))
    if not job.persistent_resource_id:
        if job.state == "JOB_STATE_QUEUED":
            return "queued by the service: its quota is in use, or there are no machines"
        if job.state == "JOB_STATE_PENDING" and job.start_time is not None:
            return "lost its machines, waits for others"
        if job.state == "JOB_STATE_PENDING" and job.capacity_type in WAIT_BY_THEMSELVES:
            # No field tells whether the job's machines are there already; once the service has spoken, its words do.
            queue = f"{job.capacity_type}" if message else f"in the queue of {job.capacity_type}"
            return f"{queue}: {_left(job, now)}"
        return plain
    if cluster is None:
        return f"{plain} (cluster {cluster_name} can't be read)"
    if cluster.state not in RUNNING_STATES:
        detail = f": {cluster.error}" if cluster.error else ""
        return f"cluster {cluster_name} is {cluster.state}{detail}"
    if gets_ready(job, cluster):
        return plain
    others = [other for other in jobs if other.id != job.id]
    before = [other for other in others if not other.waits or _earlier(other, job)]
    verdict = on_cluster(cluster_name, Demand.of(job), cluster, before, now)
    if verdict.outcome is Outcome.SCALES:
        return f"pool {'grows' if cluster.state == 'UPDATING' else 'has to grow'}: {verdict.detail}"
    if verdict.outcome is Outcome.MAY_WAIT:
        return f"{plain}: {verdict.detail}"
    if verdict.outcome is Outcome.STARTS:
        also = waiting(sum(other.is_on(cluster) and other.waits for other in others))
        return f"{plain}: machines are free{also}" if also else plain
    return verdict.text


def _earlier(other: VertexJob, job: VertexJob) -> bool:
    return bool(other.create_time and job.create_time and other.create_time < job.create_time)


def _left(job: VertexJob, now: datetime) -> str:
    wait = DAY if job.max_wait is None else job.max_wait
    if not wait:
        return "it waits for as long as it takes"
    left = wait - (now - job.create_time).total_seconds() if job.create_time else wait
    return f"{span(left)} are left" if left > 0 else "its time is over"


def draws(job: VertexJob) -> tuple[Need, ...]:
    return drawn_by(job.capacity_type, job.machines)


def quota_reason(
    job: VertexJob,
    limits: Mapping[str, int],
    clusters: Iterable[PersistentResource],
    jobs: Iterable[VertexJob],
    now: datetime,
) -> str:
    """Return `preemptible quota full: 16 of 24 vCPUs in use with tune (ada, 14 min), this needs 24`.

    `limits` by metric, -1 for none, without those that were not read; `jobs` are those of the region that have not
    ended. Empty where nothing was read.
    """
    others = tuple(other for other in jobs if other.id != job.id)
    needs, there = draws(job), tuple(clusters)
    used = usage(there, others)
    never, full = [], []
    for need in needs:
        draw = Draw(need.amount, limits.get(need.metric), used.total(need.metric))
        quota, unit = f"{namespace(need.metric)} quota", label(need.metric)
        if draw.never:
            never.append(f"{quota} is too small: the limit is {draw.limit:,} {unit}, this needs {need.amount:,}")
        elif draw.short:
            who = few((name for _, name in _users(need.metric, there, others, now)), _NAMED)
            amounts = f"{draw.used:,} of {draw.limit:,} {unit} in use{f' with {who}' if who else ''}"
            full.append(f"{quota} full: {amounts}, this needs {need.amount:,}")
    if never:
        return "; ".join(never)
    if full:
        metrics = {need.metric for need in needs}
        queued = (other for other in others if not other.persistent_resource_id and other.state == "JOB_STATE_QUEUED")
        return "; ".join(full) + waiting(sum(any(need.metric in metrics for need in draws(other)) for other in queued))
    if not any(need.metric in limits for need in needs):
        return ""
    unread = [label(need.metric) for need in needs if need.metric not in limits]
    unread += unmetered(job.machines, preemptible=job.preemptible)
    quota = f"quota of {join(unread)} was not read" if unread else "quota suffices now"
    return f"queued by the service: {quota}, machines are not promised"


def _users(
    metric: str, clusters: tuple[PersistentResource, ...], jobs: tuple[VertexJob, ...], now: datetime
) -> list[tuple[int, str]]:
    """Return (amount, text) of all users of the metric now, the largest first."""
    users = [(usage((cluster,), ()).total(metric), f"cluster {cluster.id}") for cluster in clusters]
    users += [(usage((), (job,)).total(metric), holder(job, now)) for job in jobs]
    return sorted((user for user in users if user[0]), key=itemgetter(0), reverse=True)
