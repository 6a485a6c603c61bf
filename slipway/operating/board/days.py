"""Days of a stack in UTC: machine hours of each band, used, idle and unknown, and their cost. Pure.

The charges are those of `slipway usage`, day by day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from slipway.base import codec
from slipway.operating.history.charges import idle_charges, job_charges
from slipway.operating.history.model import History
from slipway.operating.history.timeline import PoolTimeline
from slipway.operating.history.usage import pool_name

from .band import Band, machines_on

_DAY = timedelta(days=1)
_Hours = Annotated[float, codec.As(float, lambda hours: round(hours, 3), "hours")]
_Usd = Annotated[float, codec.As(float, lambda amount: round(amount, 6), "USD")]


@dataclass
class BandDay:
    """Machine hours of a band on a day."""

    day: datetime
    used: _Hours = 0.0
    idle: _Hours = 0.0
    #: Hours for which the number of machines was not recorded, so that `idle` leaves them out.
    unknown: _Hours = 0.0
    #: The most machines that jobs waited for at once.
    waited: int = 0


@dataclass
class Day:
    """USD of a day."""

    day: datetime
    #: Of pools' machines in use.
    used: _Usd = 0.0
    #: Of jobs beside the pools.
    beside: _Usd = 0.0
    #: Of pools' idle machines.
    idle: _Usd = 0.0


@dataclass(frozen=True)
class Days:
    """The days of a history, by their midnights."""

    #: In the order of the bands.
    bands: tuple[Mapping[datetime, BandDay], ...]
    money: Mapping[datetime, Day]


def days(history: History, timelines: Sequence[PoolTimeline], bands: Iterable[Band]) -> Days:
    of_bands = {band.name: dict[datetime, BandDay]() for band in bands}
    money: dict[datetime, Day] = {}
    for day in midnights(history.since, history.until):
        begin, end = max(day, history.since), min(day + _DAY, history.until)
        there = [job for job in history.jobs if job.started and job.started < end and (job.ended or end) >= begin]
        today = {name: by_day.setdefault(day, BandDay(day)) for name, by_day in of_bands.items()}
        sums = money.setdefault(day, Day(day))
        for used in job_charges(there, begin, end, history.until):
            cost = float(used.cost.known)
            if used.job.cluster_id:
                sums.used += cost
            else:
                sums.beside += cost
            if band_day := today.get(pool_name(used.job, used.machines)):
                band_day.used += used.hours
        for idle in idle_charges(timelines, there, begin, end, history.until):
            sums.idle += float(idle.cost.known)
            if band_day := today.get(idle.pool):
                band_day.idle += idle.machine_hours
                band_day.unknown += idle.unknown_hours
    for name, waits in _waits(history).items():
        for day, count in waits.items():
            if name in of_bands:
                of_bands[name][day].waited = count
    return Days(tuple(of_bands.values()), money)


def midnights(since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the beginning of each day that overlaps a time."""
    day = _midnight(since)
    while day < until:
        yield day
        day += _DAY


def _midnight(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _waits(history: History) -> Mapping[str, Mapping[datetime, int]]:
    """Return the most machines that were waited for at once, by band and day."""
    changes: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for job in history.jobs:
        if job.created is None:
            continue
        begin, end = max(job.created, history.since), min(job.started or job.ended or history.until, history.until)
        for name, count in machines_on(job).items() if end > begin else ():
            changes[name] += [(begin, count), (end, -count)]
    by_band: dict[str, dict[datetime, int]] = {}
    for name, moments in changes.items():
        most, now = by_band.setdefault(name, defaultdict(int)), 0
        last = _midnight(history.since)
        for at, change in sorted(moments):
            for day in midnights(last, at):
                most[day] = max(most[day], now)
            now, last = now + change, at
            if at < history.until:
                most[_midnight(at)] = max(most[_midnight(at)], now)
    return by_band
