"""How long earlier jobs waited for their machines, from what the service lists and nothing else. Pure; nothing is
predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.capacity import CAPACITY_TYPES
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.formatting import span
from slipway.jobs.demand import Demand, by_pool
from slipway.jobs.verdict import Outcome, Verdict
from slipway.labels import STACK_LABEL, TEMPLATE_LABEL, capacity_type_label, label_filter, label_value

EARLIER = 100
"""So many of a template's newest jobs are looked at."""

SINCE = timedelta(days=30)
FEWEST = 3
_MACHINES_COME = frozenset(row.name for row in CAPACITY_TYPES.values() if row.preemptible)
_POOL = frozenset({Outcome.SCALES, Outcome.FULL})
_BESIDE = frozenset({Outcome.BESIDE, Outcome.WAITS})


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
        return f"here: {between}, {self.count} times in {SINCE.days} days"


def earlier_filter(stack: str, template: str) -> str:
    """The API's filter for the jobs of a stack's template."""
    return label_filter({STACK_LABEL: stack, TEMPLATE_LABEL: label_value(template)})


@dataclass(frozen=True)
class Expected:
    """A job that is to be sent by a capacity type, and the verdict on it; `cluster` is None beside the pools."""

    capacity_type: str
    demand: Demand
    outcome: Outcome
    cluster: PersistentResource | None = None


def wait_range(jobs: Iterable[VertexJob], expected: Expected, now: datetime) -> WaitRange | None:
    """Of the jobs that started by the same capacity type on the same machines: on the same cluster, when its pools were
    as they are now, as far as `jobs` tell.

    From createTime to startTime. None when there are fewer than three in 30 days.
    """
    known = tuple({job.name: job for job in jobs}.values())
    cluster = expected.cluster
    if cluster and expected.outcome not in _POOL:
        return None
    found = [
        max(0.0, (job.start_time - job.create_time).total_seconds())
        for job in known
        if capacity_type_label(job.labels) == expected.capacity_type
        and job.persistent_resource_id == (cluster.id if cluster else "")
        and job.create_time is not None
        and job.start_time is not None
        and now - job.create_time <= SINCE
        and _machines(Demand.of(job)) == _machines(expected.demand)
        and (cluster is None or expected.outcome is _outcome(job, job.create_time, cluster, known))
    ]
    return WaitRange(min(found), max(found), len(found)) if len(found) >= FEWEST else None


def _machines(demand: Demand) -> frozenset[tuple[str, str | None, int]]:
    """Machine types with their accelerators: what is scarce, whatever the disk and however many."""
    return frozenset(
        (part.machine.type, part.machine.accelerator, part.machine.accelerator_count) for part in demand.parts
    )


def _outcome(job: VertexJob, at: datetime, cluster: PersistentResource, known: tuple[VertexJob, ...]) -> Outcome | None:
    """What was to be expected of the job when it was created: a full pool, or one that had to grow unless it had grown
    before. None where neither is told; jobs that are not among `known` may have been on the pools as well."""
    there = [
        one
        for one in known
        if one is not job
        and one.persistent_resource_id == cluster.id
        and one.start_time is not None
        and one.start_time <= at
        and (one.end_time is None or one.end_time > at)
    ]
    used = sum((Counter(by_pool(Demand.of(one), cluster)) for one in there), Counter[str]())
    needs = by_pool(Demand.of(job), cluster)
    asked = [(pool, used[pool.id] + needs[pool.id]) for pool in cluster.pools if pool.id in needs]
    if any(count > pool.ceiling for pool, count in asked):
        return Outcome.FULL
    return Outcome.SCALES if any(count > pool.floor for pool, count in asked) else None


def with_wait_range(verdict: Verdict, capacity_type: str, found: WaitRange | None) -> Verdict:
    """The verdict with the range, where the job would have to wait for machines."""
    awaited = verdict.outcome in _POOL if capacity_type not in _MACHINES_COME else verdict.outcome in _BESIDE
    if found is None or not awaited:
        return verdict
    return replace(verdict, text=f"{verdict.text} ({found})")
