"""How long earlier jobs waited for their machines, from what the service lists of them. Pure; nothing is predicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.capacity import CAPACITY_TYPES
from slipway.cloud.resources import CustomJob
from slipway.formatting import span
from slipway.jobs.verdict import Outcome, Verdict
from slipway.labels import STACK_LABEL, TEMPLATE_LABEL, capacity_type_label, label_value

PAGE = 100
"""So many of the newest jobs are looked at."""

_SINCE = timedelta(days=30)
_FEWEST = 3
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
        return f"here: {between}, {self.count} times in {_SINCE.days} days"


def earlier_filter(stack: str, template: str) -> str:
    """The API's filter for the jobs of a stack's template."""
    return f'labels.{STACK_LABEL}="{stack}" AND labels.{TEMPLATE_LABEL}="{label_value(template)}"'


def wait_range(jobs: Iterable[CustomJob], capacity_type: str, cluster_id: str, now: datetime) -> WaitRange | None:
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
