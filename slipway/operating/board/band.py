"""Bands: the machines of each pool over time, all of its generations together, and of jobs beside the pools. Pure.

The page draws each job on a band. A band's name is `h100/workers`, or the capacity type of jobs beside the pools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import UNKNOWN, Price
from slipway.operating.history.model import History, PastJob
from slipway.operating.history.timeline import PoolSpan, PoolTimeline, extend

from .lanes import Lanes, Stay, arrange

MOST_BANDS = 24


@dataclass(frozen=True)
class Band:
    """The machines of a pool over time, or of jobs beside the pools, where machines differ."""

    name: str
    region: str = ""
    #: The newest generation's; None beside the pools.
    machine: MachineSpec | None = None
    #: The price of one machine of the newest generation.
    per_hour: Price = UNKNOWN
    spans: tuple[PoolSpan, ...] = ()
    #: By the ids of its generations, the times of their beginnings and ends; None while it exists.
    clusters: Mapping[str, tuple[datetime, datetime | None]] = field(default_factory=dict)

    @property
    def usual_max(self) -> int:
        """The maximum that held longest: while a cluster is replaced, two exist for a time."""
        held: dict[int, float] = {}
        for span in self.spans:
            held[span.max] = held.get(span.max, 0.0) + span.hours
        return max(held, key=lambda most: held[most], default=0)


@dataclass(frozen=True)
class Place:
    """A job's place on a band."""

    #: The index of the band.
    band: int
    count: int
    #: Empty before the job started.
    lanes: Lanes = ()


def bands(timelines: Sequence[PoolTimeline], jobs: Iterable[PastJob]) -> tuple[Band, ...]:
    """Return the bands of pools in the order of their clusters, then those beside them."""
    by_pool: dict[str, list[PoolTimeline]] = {}
    for timeline in timelines:
        by_pool.setdefault(timeline.name, []).append(timeline)
    until = max((span.end for timeline in timelines for span in timeline.spans), default=None)
    pools = [_of_pool(name, generations, until) for name, generations in by_pool.items()]
    beside = dict.fromkeys(job.capacity_type for job in jobs if not job.cluster_id)
    return (*pools, *(Band(name) for name in sorted(beside)))


def places(history: History, bands: Sequence[Band]) -> Mapping[str, tuple[Place, ...]]:
    """Return each job's places, by its name."""
    stays: list[list[tuple[Stay, str]]] = [[] for _ in bands]
    index_of = {band.name: index for index, band in enumerate(bands)}
    by_job: dict[str, list[Place]] = {job.name: [] for job in history.jobs}
    for job in history.jobs:
        for name, count in machines_on(job).items():
            if name not in index_of:
                continue
            if job.started is None:
                by_job[job.name].append(Place(band=index_of[name], count=count))
            else:
                stay = Stay(begin=job.started, end=job.ended or history.until, count=count)
                stays[index_of[name]].append((stay, job.name))
    for index, on_band in enumerate(stays):
        on_band.sort(key=lambda pair: pair[0].begin)
        lanes_of = arrange((stay for stay, _ in on_band), bands[index].usual_max)
        for (stay, name), lanes in zip(on_band, lanes_of, strict=True):
            by_job[name].append(Place(band=index, count=stay.count, lanes=lanes))
    return {name: tuple(placed) for name, placed in by_job.items()}


def machines_on(job: PastJob) -> Mapping[str, int]:
    """Return the number of machines that a job has, or waits for, on each band."""
    counts: dict[str, int] = {}
    for machines in job.machines:
        name = f"{job.cluster}/{machines.pool}" if job.cluster_id else job.capacity_type
        counts[name] = counts.get(name, 0) + machines.count
    return counts


def most_used(bands: Sequence[Band], jobs: Iterable[PastJob]) -> tuple[Band, ...]:
    """Return as many bands as a page has room for, in their order: those with the most jobs."""
    count = Counter(name for job in jobs for name in machines_on(job))
    kept = {band.name for band in sorted(bands, key=lambda band: -count[band.name])[:MOST_BANDS]}
    return tuple(band for band in bands if band.name in kept)


def _of_pool(name: str, generations: Sequence[PoolTimeline], until: datetime | None) -> Band:
    newest = max(generations, key=lambda timeline: timeline.spans[0].begin)
    clusters: dict[str, tuple[datetime, datetime | None]] = {}
    for timeline in generations:
        end = timeline.spans[-1].end
        clusters[timeline.key.cluster_id] = timeline.spans[0].begin, None if end == until else end
    return Band(
        name=name,
        region=newest.region,
        machine=newest.pool.machine,
        per_hour=newest.pool.price_per_hour,
        spans=_together([span for timeline in generations for span in timeline.spans]),
        clusters=clusters,
    )


def _together(spans: Sequence[PoolSpan]) -> tuple[PoolSpan, ...]:
    """Add up concurrent generations."""
    moments = sorted({moment for span in spans for moment in (span.begin, span.end)})
    waiting = sorted(spans, key=lambda span: span.begin, reverse=True)
    current: list[PoolSpan] = []
    added: list[PoolSpan] = []
    for begin, end in pairwise(moments):
        current = [span for span in current if span.end > begin]
        while waiting and waiting[-1].begin <= begin:
            current.append(waiting.pop())
        if current:
            known = [span.live for span in current if span.live is not None]
            live = sum(known) if len(known) == len(current) else None  # A part of it is not known.
            extend(added, PoolSpan(begin=begin, end=end, live=live, max=sum(span.max for span in current)))
    return tuple(added)
