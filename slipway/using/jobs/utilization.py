"""Utilization of a job's machines, from Monitoring: a row for each replica and accelerator, and nothing invented."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated

from slipway.base.codec import NOT_WRITTEN, MaybeText
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import ACCELERATOR, ACCELERATOR_MEMORY, CPU, MEMORY, Monitoring, Point, Series
from slipway.using.jobs.roles import REPLICA, who_of

_RAW = timedelta(hours=4)
"""The longest run whose points are shown as they were measured."""
_POINTS = 240
"""The most points of a longer run."""
_LATE = timedelta(minutes=3)
"""The time after a job's end for which points are read, as they come late."""
_MOST_JOBS = 50
"""The number of a tuning job's newest trials whose machines are read."""
_ORDER = (CPU, MEMORY, ACCELERATOR, ACCELERATOR_MEMORY)


@dataclass(frozen=True)
class UtilizationRow:
    """A metric of one replica, or of one of its accelerators. It has at least one point; values are shares, 0 to 1."""

    metric: str
    #: As the service names it.
    replica: str
    #: The replica as people name it.
    role: str
    job: str
    accelerator: MaybeText
    last: float
    mean: float
    max: float
    points: tuple[Point, ...]
    what: Annotated[str, NOT_WRITTEN] = ""

    @classmethod
    def of(cls, role: str, what: str, series: Series) -> UtilizationRow:
        values = [point.value for point in series.points]
        return cls(
            metric=series.metric,
            replica=series.task,
            role=role,
            job=series.job,
            accelerator=series.accelerator,
            last=values[-1],
            mean=sum(values) / len(values),
            max=max(values),
            points=series.points,
            what=what,
        )


@dataclass(frozen=True)
class Utilization:
    """Utilization of a job."""

    rows: tuple[UtilizationRow, ...] = ()
    #: The seconds over which each point is the mean, 0 for points as they were measured.
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
    read = partial(monitoring.series, jobs=jobs, begin=job.start_time, end=end, period=period)
    try:
        with ThreadPoolExecutor(len(_ORDER), thread_name_prefix="usage") as threads:
            metrics = _ORDER if accelerated else _ORDER[:2]
            measured = [series for answer in threads.map(read, metrics) for series in answer]
    except CloudError as problem:
        return Utilization(why=f"not known: {problem.brief}")
    rows = rows_of(measured, job)
    if rows:
        return Utilization(rows, period)
    return Utilization(why="no samples" if job.ended else "no samples yet; they come minutes after they are taken")


def rows_of(measured: list[Series], job: VertexJob) -> tuple[UtilizationRow, ...]:
    order = {number: place for place, number in enumerate(job.run_ids)}

    def place(series: Series) -> tuple[int, tuple[int, ...], str, int]:
        replica = REPLICA.fullmatch(series.task)
        return (
            order.get(series.job, 0),
            tuple(map(int, replica.groups() if replica else ())),
            series.task,
            _kind(series),
        )

    return tuple(
        UtilizationRow.of(who_of(series.task, job, series.job), _what(series, job), series)
        for series in sorted(measured, key=place)
        if series.points
    )


def _kind(series: Series) -> int:
    number = int(series.accelerator) if series.accelerator.isdecimal() else 0
    return _ORDER.index(series.metric) + (2 * number if series.metric in _ORDER[2:] else 0)


def _what(series: Series, job: VertexJob) -> str:
    if series.metric in (CPU, MEMORY):
        return "cpu" if series.metric == CPU else "memory"
    accelerators = {pool.machine.accelerator or "" for pool in job.worker_pools}
    noun = "gpu" if any(name.startswith("NVIDIA") for name in accelerators) else "accelerator"
    which = f"{noun} {series.accelerator}".rstrip()
    return f"{which} memory" if series.metric == ACCELERATOR_MEMORY else which
