"""Bands: the machines of each pool over time, all of its generations together, and of jobs beside the pools. Pure.

The page draws each job on a band. A band's name is `h100/workers`, or the capacity type of jobs beside the pools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import UNKNOWN, Price
from slipway.operating.history.model import History, PastJob
from slipway.operating.history.timeline import PoolSpan, PoolTimeline

from .lanes import Lanes, Stay, arrange

MOST_BANDS = 24


@dataclass(frozen=True)
class Span:
    """Machines that were live, None where they were not recorded, and the possible maximum."""

    begin: datetime
    end: datetime
    live: int | None
    max: int | None


@dataclass(frozen=True)
class Band:
    """A band. `clusters`: ids of its generations, each with the times of its beginning and end, None while it exists.
    `machine` and `per_hour` (of one machine) are the newest generation's; None and unknown beside the pools, where
    machines differ."""

    name: str
    region: str = ""
    machine: MachineSpec | None = None
    per_hour: Price = UNKNOWN
    spans: tuple[Span, ...] = ()
    clusters: Mapping[str, tuple[datetime, datetime | None]] = field(default_factory=dict)

    @property
    def usual_max(self) -> int:
        """The maximum that held longest: while a cluster is replaced, two exist for a time."""
        held: dict[int, float] = {}
        for span in self.spans:
            most = span.max or span.live or 0
            held[most] = held.get(most, 0.0) + (span.end - span.begin).total_seconds()
        return max(held, key=lambda most: held[most], default=0)

    @property
    def most_live(self) -> int:
        return max((span.live or 0 for span in self.spans), default=0)


@dataclass(frozen=True)
class Place:
    """A job's place: the index of its band, and its lanes there; none before it started."""

    band: int
    count: int
    lanes: Lanes = ()


def bands(timelines: Sequence[PoolTimeline], jobs: Iterable[PastJob]) -> tuple[Band, ...]:
    """Return the bands of pools in the order of their clusters, then those beside them."""
    found: dict[str, list[PoolTimeline]] = {}
    for one in timelines:
        found.setdefault(f"{one.cluster}/{one.key.pool}", []).append(one)
    until = max((span.end for one in timelines for span in one.spans), default=None)
    pools = [_of_pool(name, generations, until) for name, generations in found.items()]
    beside = dict.fromkeys(job.capacity_type for job in jobs if not job.cluster_id)
    return (*pools, *(Band(name) for name in sorted(beside)))


def places(history: History, bands: Sequence[Band]) -> Mapping[str, tuple[Place, ...]]:
    """Return each job's places, by its name."""
    stays: list[list[tuple[Stay, str]]] = [[] for _ in bands]
    index = {name: place for place, name in enumerate(one.name for one in bands)}
    found: dict[str, list[Place]] = {job.name: [] for job in history.jobs}
    for job in history.jobs:
        for name, count in machines_on(job).items():
            if name not in index:
                continue
            if job.started is None:
                found[job.name].append(Place(index[name], count))
            else:
                stays[index[name]].append((Stay(job.started, job.ended or history.until, count), job.name))
    for band, listed in enumerate(stays):
        listed.sort(key=lambda one: one[0].begin)
        for (stay, name), lanes in zip(listed, arrange((one for one, _ in listed), bands[band].usual_max), strict=True):
            found[name].append(Place(band, stay.count, lanes))
    return {name: tuple(some) for name, some in found.items()}


def machines_on(job: PastJob) -> Mapping[str, int]:
    """Return how many machines a job has, or waits for, on each band."""
    found: dict[str, int] = {}
    for one in job.machines:
        name = f"{job.cluster}/{one.pool}" if job.cluster_id else job.capacity_type
        found[name] = found.get(name, 0) + one.count
    return found


def most_used(bands: Sequence[Band], jobs: Iterable[PastJob]) -> tuple[Band, ...]:
    """Return as many bands as a page has room for, in their order: those with the most jobs."""
    if len(bands) <= MOST_BANDS:
        return tuple(bands)
    count = Counter(name for job in jobs for name in machines_on(job))
    kept = {one.name for one in sorted(bands, key=lambda one: -count[one.name])[:MOST_BANDS]}
    return tuple(one for one in bands if one.name in kept)


def _of_pool(name: str, generations: Sequence[PoolTimeline], until: datetime | None) -> Band:
    newest = max(generations, key=lambda one: one.spans[0].begin)
    there = {one.key.cluster_id: (one.spans[0].begin, one.spans[-1].end) for one in generations if one.spans}
    came = {id_: (begin, None if end == until else end) for id_, (begin, end) in there.items()}
    spans = tuple(_together([span for one in generations for span in one.spans]))
    return Band(name, newest.region, newest.machine, newest.per_hour, spans, came)


def _together(spans: Sequence[PoolSpan]) -> Iterator[Span]:
    """Add up concurrent generations; equal neighbours become one."""
    moments = sorted({moment for span in spans for moment in (span.begin, span.end)})
    waiting, there = sorted(spans, key=lambda one: one.begin, reverse=True), list[PoolSpan]()
    last: Span | None = None
    for begin, end in pairwise(moments):
        there = [one for one in there if one.end > begin]
        while waiting and waiting[-1].begin <= begin:
            there.append(waiting.pop())
        if not there:
            continue
        now = Span(begin, end, _sum(one.live for one in there), _sum(one.max for one in there))
        if last and (last.end, last.live, last.max) == (begin, now.live, now.max):
            last = Span(last.begin, end, last.live, last.max)
        else:
            if last:
                yield last
            last = now
    if last:
        yield last


def _sum(numbers: Iterable[int | None]) -> int | None:
    found = list(numbers)
    return None if None in found else sum(filter(None, found))
