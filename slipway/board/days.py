"""Days of a stack, as UTC has them: machine hours of each band, used, idle and unknown, and their cost. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from slipway.history.model import History, PastJob

from .band import Band, Span, machines_on

_DAY = timedelta(days=1)
_HOUR = 3600.0


@dataclass
class BandDay:
    """Machine hours of a band on a day. `unknown`: hours of which nobody recorded how many machines were up, so that
    `idle` leaves them out. `waited`: the most machines that jobs waited for at once."""

    used: float = 0.0
    idle: float = 0.0
    unknown: float = 0.0
    waited: int = 0


@dataclass
class Day:
    """USD of a day: of pools' machines that jobs had, of those that nobody had, and of jobs beside the pools."""

    used: float = 0.0
    idle: float = 0.0
    beside: float = 0.0


@dataclass(frozen=True)
class Days:
    """`bands`: by band, in their order, and day. Days are their midnights."""

    bands: tuple[Mapping[datetime, BandDay], ...] = ()
    money: Mapping[datetime, Day] = field(default_factory=dict)


def days(history: History, bands: Sequence[Band]) -> Days:
    on: dict[str, list[tuple[PastJob, int]]] = defaultdict(list)
    for job in history.jobs:
        for name, count in machines_on(job).items():
            on[name].append((job, count))
    found = tuple(_band(band, on[band.name], history) for band in bands)
    money = {day: Day() for day in _midnights(history.since, history.until)}
    for band, of_band in zip(bands, found, strict=True):
        price = float(band.per_hour.known)
        for day, one in of_band.items():
            if band.pooled:
                money[day].used += one.used * price
                money[day].idle += one.idle * price
    for job in history.jobs:
        if not job.cluster_id and job.started and job.cost:
            begin, end = job.started, job.ended or history.until
            for day, share in _shares(begin, end, history):
                money[day].beside += float(job.cost.known) * share
    return Days(found, money)


def _midnights(since: datetime, until: datetime) -> Iterator[datetime]:
    day = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    while day < until:
        yield day
        day += _DAY


def _shares(begin: datetime, end: datetime, history: History) -> Iterator[tuple[datetime, float]]:
    """Yield each day of the history that a run was in, with the share of the run."""
    whole = (end - begin).total_seconds()
    for day in _midnights(max(begin, history.since), min(end, history.until)):
        seconds = (min(end, day + _DAY) - max(begin, day, history.since)).total_seconds()
        if seconds > 0 and whole:
            yield day, seconds / whole


def _band(band: Band, jobs: Iterable[tuple[PastJob, int]], history: History) -> Mapping[datetime, BandDay]:
    """Go through all moments at which anything changes, and add up what was between them."""
    found = {day: BandDay() for day in _midnights(history.since, history.until)}
    moments: dict[datetime, list[int]] = defaultdict(lambda: [0, 0])  # machines that come into use, and into the queue
    for job, count in jobs:
        if job.started:
            moments[max(job.started, history.since)][0] += count
            moments[min(job.ended or history.until, history.until)][0] -= count
        if job.created:
            left = job.started or job.ended or history.until
            moments[max(job.created, history.since)][1] += count
            moments[max(left, history.since)][1] -= count
    cuts = {history.since, history.until, *(found.keys() - {min(found)}), *moments}
    cuts |= {moment for one in band.spans for moment in (one.begin, one.end)}
    spans, used, waited = iter(band.spans), 0, 0
    span: Span | None = next(spans, None)
    ordered = sorted(one for one in cuts if history.since <= one <= history.until)
    for begin, end in pairwise(ordered):
        change = moments.get(begin, (0, 0))
        used, waited = used + change[0], waited + change[1]
        while span and span.end <= begin:
            span = next(spans, None)
        day = found[begin.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)]
        hours = (end - begin).total_seconds() / _HOUR
        day.used += used * hours
        day.waited = max(day.waited, waited)
        if span and span.begin <= begin:
            if span.live is None:
                day.unknown += hours
            else:
                day.idle += max(0, span.live - used) * hours
    return found
