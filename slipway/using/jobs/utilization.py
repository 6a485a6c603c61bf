"""Utilization of a job's machines, from Monitoring: a row for each replica and accelerator, and nothing invented."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from slipway.base.codec import NOT_WRITTEN, MaybeText
from slipway.base.formatting import last_part
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import ACCELERATOR, ACCELERATOR_MEMORY, CPU, MEMORY, Monitoring, Point, Series
from slipway.using.jobs.roles import who_of

_RAW = timedelta(hours=4)
_POINTS = 240
_LATE = timedelta(minutes=3)
_MOST_JOBS = 50
_ORDER = (CPU, MEMORY, ACCELERATOR, ACCELERATOR_MEMORY)


@dataclass(frozen=True)
class UtilizationRow:
    """A metric of one replica, which people call `role`, or of one of its accelerators. There is at least one point;
    values are shares, 0 to 1."""

    metric: str
    replica: str
    role: str
    job: str
    accelerator: MaybeText
    last: float
    mean: float
    max: float
    points: tuple[Point, ...]
    what: Annotated[str, NOT_WRITTEN] = ""

    @classmethod
    def of(cls, role: str, what: str, one: Series) -> UtilizationRow:
        values = [point.value for point in one.points]
        told = (values[-1], sum(values) / len(values), max(values))
        return cls(one.metric, one.task, role, one.job, one.accelerator, *told, one.points, what)


@dataclass(frozen=True)
class Utilization:
    """Utilization of a job. `period`: the seconds over which each point is the mean, 0 for points as they were
    measured. `why`: the reason why there are no rows."""

    rows: tuple[UtilizationRow, ...] = ()
    period: int = 0
    why: str = ""


def period_of(length: timedelta) -> int:
    """Return the seconds between two points for a run of that length; 0 takes points as they were measured."""
    if length <= _RAW:
        return 0
    return max(1, -(-int(length.total_seconds()) // (_POINTS * 60))) * 60


def read_utilization(monitoring: Monitoring, job: VertexJob, now: datetime) -> Utilization:
    """Read utilization from the first start to the end or now. A failure to read is reported in `why`, not raised."""
    if job.start_time is None:
        return Utilization(why="no samples: it has not started")
    jobs = job.run_ids[-_MOST_JOBS:]
    if not jobs:
        return Utilization(why="no samples yet")
    end = max(job.end_time, min(now, job.end_time + _LATE)) if job.end_time else now
    period = period_of(end - job.start_time)
    accelerated = any(pool.machine.accelerator for pool in job.worker_pools)
    begin = job.start_time

    def read(metric: str) -> tuple[Series, ...]:
        return monitoring.series(metric, jobs, begin, end, period)

    try:
        with ThreadPoolExecutor(len(_ORDER), thread_name_prefix="usage") as threads:
            found = [one for part in threads.map(read, _ORDER if accelerated else _ORDER[:2]) for one in part]
    except CloudError as problem:
        return Utilization(why=f"not known: {problem.brief}")
    rows = rows_of(found, job)
    if rows:
        return Utilization(rows, period)
    return Utilization(why="no samples" if job.ended else "no samples yet; they come minutes after they are taken")


def rows_of(found: list[Series], job: VertexJob) -> tuple[UtilizationRow, ...]:
    trials = {last_part(trial.job): trial.id for trial in job.tried if trial.job}
    order = {number: place for place, number in enumerate(job.run_ids)}

    def place(one: Series) -> tuple[int, tuple[int, str], tuple[int, str], int]:
        pool, _, index = one.task.removeprefix("workerpool").partition("-")
        return order.get(one.job, 0), _number(pool), _number(index), _kind(one)

    def name(one: Series) -> str:
        who = who_of(one.task, job)
        return f"{trials[one.job]}/{who}" if one.job in trials else who

    return tuple(UtilizationRow.of(name(one), _what(one, job), one) for one in sorted(found, key=place) if one.points)


def _kind(one: Series) -> int:
    """Return a row's rank: CPU and memory first, then each accelerator with its memory."""
    number = int(one.accelerator) if one.accelerator.isdecimal() else 0
    return _ORDER.index(one.metric) + (2 * number if one.metric in _ORDER[2:] else 0)


def _number(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (0, text)


def _what(one: Series, job: VertexJob) -> str:
    if one.metric in (CPU, MEMORY):
        return "cpu" if one.metric == CPU else "memory"
    accelerators = {pool.machine.accelerator or "" for pool in job.worker_pools}
    noun = "gpu" if any(name.startswith("NVIDIA") for name in accelerators) else "accelerator"
    which = f"{noun} {one.accelerator}".rstrip()
    return f"{which} memory" if one.metric == ACCELERATOR_MEMORY else which
