"""How long earlier runs of a template took, from what the service lists and nothing else. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from slipway.cloud.jobs import VertexJob
from slipway.formatting import span
from slipway.jobs.demand import Demand
from slipway.jobs.earlier_waits import FEWEST, SINCE
from slipway.labels import capacity_type_label


@dataclass(frozen=True)
class RunTimes:
    """The shortest and the longest time in seconds that `count` earlier runs took, from their start to their end."""

    shortest: float
    longest: float
    count: int

    def __str__(self) -> str:
        """`4 min to 9 min (11 earlier runs in 30 days)`"""
        low, high = span(self.shortest), span(self.longest)
        between = low if low == high else f"{low} to {high}"
        return f"{between} ({self.count} earlier runs in {SINCE.days} days)"


def run_times(jobs: Iterable[VertexJob], capacity_type: str, demand: Demand, now: datetime) -> RunTimes | None:
    """Of the jobs that succeeded on as many of the same machines, by the same capacity type. None when there are fewer
    than three in 30 days. Of several jobs of one submission, wherever they went, the one that goes on or was the
    longest counts: the others were its copies."""
    wanted, ran = _machines(demand), dict[str, VertexJob]()
    for job in jobs:
        key = job.request_id or job.name
        ran[key] = max(job, ran.get(key, job), key=_seconds)
    found = [
        _seconds(job)
        for job in ran.values()
        if job.state == "JOB_STATE_SUCCEEDED"
        and job.start_time is not None
        and now - job.start_time <= SINCE
        and capacity_type_label(job.labels) == capacity_type
        and _machines(Demand.of(job)) == wanted
    ]
    return RunTimes(min(found), max(found), len(found)) if len(found) >= FEWEST else None


def _seconds(job: VertexJob) -> float:
    """Of one that has not ended no end: it may be the one that runs."""
    if not job.ended:
        return math.inf
    return (job.end_time - job.start_time).total_seconds() if job.start_time and job.end_time else 0.0


def _machines(demand: Demand) -> Counter[tuple[str, str | None, int]]:
    """How many of each machine type with its accelerators."""
    found = Counter[tuple[str, str | None, int]]()
    for part in demand.parts:
        found[part.machine.type, part.machine.accelerator, part.machine.accelerator_count] += part.machines
    return found
