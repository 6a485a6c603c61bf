"""Waits and run times of earlier jobs, from the service's lists alone. Pure; nothing is predicted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.base.formatting import span, span_before
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.labels import CAPACITY_TYPE_LABEL, STACK_LABEL, TEMPLATE_LABEL, label_filter, label_value
from slipway.using.jobs.demand import Demand, by_pool
from slipway.using.jobs.verdict import Outcome

EARLIER = 100
"""The number of newest jobs of a template, or of a stack, that are considered."""

SINCE = timedelta(days=30)
FEWEST = 3
Programs = tuple[tuple[str, ...], ...]
_MACHINES_COME = frozenset(row.name for row in CAPACITY_TYPES.values() if row.preemptible)
_WAITS_ON_POOL = frozenset({Outcome.SCALES, Outcome.FULL})
_WAITS_BESIDE = frozenset({Outcome.BESIDE, Outcome.WAITS})


@dataclass(frozen=True)
class Times:
    """The shortest and the longest time, in seconds, of `count` jobs."""

    shortest: float
    longest: float
    count: int

    @property
    def between(self) -> str:
        """The range as text: `4–9 min`"""
        low, high = span(self.shortest), span(self.longest)
        return low if low == high else f"{span_before(self.shortest, self.longest)}–{high}"

    @property
    def here(self) -> str:
        return f"(here: {self.between}, {self.count} times in {SINCE.days} days)"

    def __str__(self) -> str:
        """Return `4–9 min (11 earlier runs in 30 days)`."""
        return f"{self.between} ({self.count} earlier runs in {SINCE.days} days)"

    @classmethod
    def of(cls, seconds: list[float]) -> Times | None:
        """Return the range of some times; None for fewer than three."""
        return cls(min(seconds), max(seconds), len(seconds)) if len(seconds) >= FEWEST else None


def earlier_filter(stack: str, template: str) -> str:
    return label_filter({STACK_LABEL: stack, TEMPLATE_LABEL: label_value(template)})


def succeeded_filter(stack: str) -> str:
    """Return the filter for succeeded jobs of any template: they tell how long the jobs of a full pool run."""
    return f'{label_filter({STACK_LABEL: stack})} AND state="JOB_STATE_SUCCEEDED"'


def wait_times(
    jobs: Iterable[VertexJob],
    capacity_type: str,
    demand: Demand,
    outcome: Outcome,
    cluster: PersistentResource | None,
    now: datetime,
) -> Times | None:
    """Return the times from createTime to startTime of jobs of the last 30 days that started by the same capacity type
    on the same machines, in any number: on the same cluster, while its pools were as they are now, as far as `jobs`
    tell. None also where `outcome`, that of the verdict on the job, has no wait. `cluster` is None beside the pools."""
    if outcome not in (_WAITS_BESIDE if capacity_type in _MACHINES_COME else _WAITS_ON_POOL):
        return None
    known = tuple({job.name: job for job in jobs}.values())
    return Times.of(
        [
            waited
            for job, waited in _started(known, capacity_type, demand, now)
            if (job.is_on(cluster) if cluster else not job.persistent_resource_id)
            and (cluster is None or outcome is _outcome(job, job.create_time or now, cluster, known))
        ]
    )


def start_times(
    jobs: Iterable[VertexJob], capacity_type: str, demand: Demand, region: str, now: datetime
) -> Times | None:
    """Return the times from createTime to startTime of jobs of the last 30 days that started by the same capacity type
    in the same region on the same machines, in any number, beside the pools."""
    known = {job.name: job for job in jobs if job.region == region and not job.persistent_resource_id}
    return Times.of([waited for _, waited in _started(known.values(), capacity_type, demand, now)])


def _started(
    jobs: Iterable[VertexJob], capacity_type: str, demand: Demand, now: datetime
) -> Iterator[tuple[VertexJob, float]]:
    for job in jobs:
        if (
            job.labels.get(CAPACITY_TYPE_LABEL) == capacity_type
            and job.create_time is not None
            and job.start_time is not None
            and now - job.create_time <= SINCE
            and _machines(Demand.of(job)).keys() == _machines(demand).keys()
        ):
            yield job, max(0.0, (job.start_time - job.create_time).total_seconds())


def run_times(
    jobs: Iterable[VertexJob], capacity_type: str, demand: Demand, now: datetime, programs: Programs = ()
) -> Times | None:
    return Times.of(runs(jobs, capacity_type, demand, now, programs))


def runs(
    jobs: Iterable[VertexJob], capacity_type: str, demand: Demand, now: datetime, programs: Programs = ()
) -> list[float]:
    """Return the seconds from start to end of jobs of the last 30 days that succeeded on as many of the same machines,
    by the same capacity type, and ran the same `programs` where these were named. Among several jobs of one submission,
    wherever they went, the unfinished or longest one counts: the others were its copies."""
    wanted = _machines(demand)
    ran: dict[str, VertexJob] = {}
    for job in jobs:
        key = job.request_id or job.name
        ran[key] = max(job, ran.get(key, job), key=_seconds)
    return [
        _seconds(job)
        for job in ran.values()
        if job.state == "JOB_STATE_SUCCEEDED"
        and job.start_time is not None
        and now - job.start_time <= SINCE
        and job.labels.get(CAPACITY_TYPE_LABEL) == capacity_type
        and _machines(Demand.of(job)) == wanted
        and programs_of(job) == programs
    ]


def programs_of(job: VertexJob) -> Programs:
    """Return the programs that were named for a job's worker pools; none of a template's own code."""
    return tuple(filter(None, (pool.program for pool in job.worker_pools)))


def _seconds(job: VertexJob) -> float:
    """Return a job's run time in seconds; infinite for a job that has not ended, which may be the one that runs."""
    if not job.ended:
        return math.inf
    return (job.end_time - job.start_time).total_seconds() if job.start_time and job.end_time else 0.0


def _machines(demand: Demand) -> Counter[tuple[str, str | None, int]]:
    """Count each machine type with its accelerators, which are scarce, whatever the disk."""
    counts = Counter[tuple[str, str | None, int]]()
    for part in demand.parts:
        counts[part.machine.kind] += part.machines
    return counts


def _outcome(job: VertexJob, at: datetime, cluster: PersistentResource, known: tuple[VertexJob, ...]) -> Outcome | None:
    """Judge a job by the state on the day it was created: a full pool, or one that had to grow unless it had grown
    before. None where neither is known; jobs beyond `known` may have been there as well."""
    running = [
        other
        for other in known
        if other is not job
        and other.is_on(cluster)
        and other.start_time is not None
        and other.start_time <= at
        and (other.end_time is None or other.end_time > at)
    ]
    used = sum((Counter(by_pool(Demand.of(other), cluster)) for other in running), Counter[str]())
    needs = by_pool(Demand.of(job), cluster)
    asked = [(pool, used[pool.id] + needs[pool.id]) for pool in cluster.pools if pool.id in needs]
    if any(count > pool.ceiling for pool, count in asked):
        return Outcome.FULL
    return Outcome.SCALES if any(count > pool.floor for pool, count in asked) else None
