"""Why a job waits, and how long earlier ones waited for their machines, from what the service tells and nothing else.
Pure; nothing is predicted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.capacity import CAPACITY_TYPES, DAY, WAIT_BY_THEMSELVES
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.formatting import counted, span
from slipway.jobs.demand import Demand
from slipway.jobs.verdict import Outcome, Verdict, on_cluster
from slipway.labels import STACK_LABEL, TEMPLATE_LABEL, capacity_type_label, label_filter, label_value

_USUAL_WAIT = float(DAY)
"""Seconds, where the request names none."""

_PLAIN = {
    "JOB_STATE_QUEUED": "queued by the service",
    "JOB_STATE_PENDING": "accepted, getting ready to run",
    "JOB_STATE_PAUSED": "paused",
    "JOB_STATE_UPDATING": "being updated",
}

EARLIER = 100
"""So many of a template's newest jobs are looked at."""

_SINCE = timedelta(days=30)
_FEWEST = 3
_MACHINES_COME = frozenset(row.name for row in CAPACITY_TYPES.values() if row.preemptible)
_POOL = frozenset({Outcome.SCALES, Outcome.FULL})
_BESIDE = frozenset({Outcome.BESIDE, Outcome.WAITS})


def wait_reason(
    job: VertexJob,
    cluster: PersistentResource | None,
    cluster_name: str,
    jobs: Iterable[VertexJob],
    now: datetime,
) -> str:
    """`cluster` is the one the job is on, None when it runs beside the pools or the cluster can't be read."""
    plain = _PLAIN.get(job.state, state_word(job.state))
    if not job.persistent_resource_id:
        if job.state == "JOB_STATE_QUEUED":
            return "queued by the service: its quota is in use, or there are no machines"
        if job.state == "JOB_STATE_PENDING" and job.start_time is not None:
            return "lost its machines, waits for others"
        if job.state == "JOB_STATE_PENDING" and job.capacity_type in WAIT_BY_THEMSELVES:
            return f"in the queue of {job.capacity_type}: {_left(job, now)}"
        return plain
    if cluster is None:
        return f"{plain} (cluster {cluster_name} can't be read)"
    if cluster.state not in RUNNING_STATES:
        detail = f": {cluster.error}" if cluster.error else ""
        return f"cluster {cluster_name} is {cluster.state}{detail}"
    if job.state == "JOB_STATE_PENDING":
        return plain
    others = [one for one in jobs if one.id != job.id]
    before = [one for one in others if not waits(one) or _earlier(one, job)]
    verdict = on_cluster(cluster_name, Demand.of(job), cluster, before, now)
    if verdict.outcome is Outcome.SCALES:
        return f"pool {'grows' if cluster.state == 'UPDATING' else 'has to grow'}: {verdict.text.partition(': ')[2]}"
    if verdict.outcome is Outcome.MAY_WAIT:
        return f"{plain}: {verdict.text.partition(': ')[2]}"
    if verdict.outcome is Outcome.STARTS:
        waiting = [one for one in others if one.persistent_resource_id == job.persistent_resource_id and waits(one)]
        count = counted(len(waiting), "other job")
        also = f": machines are free, {count} wait{'s' if len(waiting) == 1 else ''} as well" if waiting else ""
        return f"{plain}{also}"
    return verdict.text


def waits(job: VertexJob) -> bool:
    """For its first start, or for machines again after it lost them."""
    return not job.ended and (job.start_time is None or job.state in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING"))


def _earlier(one: VertexJob, job: VertexJob) -> bool:
    return bool(one.create_time and job.create_time and one.create_time < job.create_time)


def _left(job: VertexJob, now: datetime) -> str:
    wait = _USUAL_WAIT if job.max_wait is None else job.max_wait
    if not wait:
        return "it waits for as long as it takes"
    left = wait - (now - job.create_time).total_seconds() if job.create_time else wait
    return f"{span(left)} are left" if left > 0 else "its time is over"


def state_word(state: str) -> str:
    """`JOB_STATE_RUNNING` as `running`."""
    return state.removeprefix("JOB_STATE_").lower().replace("_", " ")


@dataclass(frozen=True)
class WaitRange:
    """The shortest and the longest wait in seconds of `count` jobs that started."""

    shortest: float
    longest: float
    count: int

    def __str__(self) -> str:
        """`here: 4–9 min, 11 times in 30 days`"""
        low, high = span(self.shortest), span(self.longest)
        number, _, unit = low.partition(" ")
        if low == high:
            between = low
        elif high.partition(" ")[2] == unit:
            between = f"{number}–{high}"
        else:
            between = f"{low}–{high}"
        return f"here: {between}, {self.count} times in {_SINCE.days} days"


def earlier_filter(stack: str, template: str) -> str:
    """The API's filter for the jobs of a stack's template."""
    return label_filter({STACK_LABEL: stack, TEMPLATE_LABEL: label_value(template)})


def wait_range(jobs: Iterable[VertexJob], capacity_type: str, cluster_id: str, now: datetime) -> WaitRange | None:
    """Of the jobs of the same capacity type (on the cluster of that id, empty beside the pools) and started.

    From createTime to startTime. None when there are fewer than three in 30 days.
    """
    found = [
        max(0.0, (job.start_time - job.create_time).total_seconds())
        for job in jobs
        if capacity_type_label(job.labels) == capacity_type
        and job.persistent_resource_id == cluster_id
        and job.create_time is not None
        and job.start_time is not None
        and now - job.create_time <= _SINCE
    ]
    return WaitRange(min(found), max(found), len(found)) if len(found) >= _FEWEST else None


def with_wait_range(verdict: Verdict, capacity_type: str, found: WaitRange | None) -> Verdict:
    """The verdict with the range, where the job would have to wait for machines."""
    awaited = verdict.outcome in _POOL if capacity_type not in _MACHINES_COME else verdict.outcome in _BESIDE
    if found is None or not awaited:
        return verdict
    return replace(verdict, text=f"{verdict.text} ({found})")
