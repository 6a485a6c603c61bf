"""How long pools take: to start a job on a free machine, to grow, to shrink; measured from a stack's own history. Pure.

Google documents none of the three. Where the history has too few cases a plain assumption stands in, and is told.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from statistics import median

from slipway.history.model import History, PastJob, PoolKey
from slipway.whatif.model import PoolDelays

ASSUMED = PoolDelays(start=60.0, scale_up=300.0, idle=600.0)
"""Seconds, where nothing was measured."""
FEWEST = 3
_UP_FOR = timedelta(hours=1)
"""Machines that jobs needed within this time may still be up."""


@dataclass(frozen=True)
class MeasuredDelay:
    """Seconds, from `count` cases; an assumption where that is 0."""

    seconds: float
    count: int = 0


@dataclass(frozen=True)
class MeasuredDelays:
    """Delays of a stack's pools, and of single machine types where enough is known of them."""

    start: MeasuredDelay = MeasuredDelay(ASSUMED.start)
    scale_up: MeasuredDelay = MeasuredDelay(ASSUMED.scale_up)
    idle: MeasuredDelay = MeasuredDelay(ASSUMED.idle)
    starts: Mapping[str, float] = field(default_factory=dict)
    scale_ups: Mapping[str, float] = field(default_factory=dict)

    def of(self, machine: str) -> PoolDelays:
        """Return the delays of a pool of this machine type."""
        return PoolDelays(
            self.starts.get(machine, self.start.seconds),
            self.scale_ups.get(machine, self.scale_up.seconds),
            self.idle.seconds,
        )


def measure(history: History) -> MeasuredDelays:
    """Measure the delays of a stack's pools, as medians.

    A job that asked for no more machines than a pool keeps waited for its start alone; one that found the pool full,
    from when others had given enough back. One that asked for more than can have been up, and no more than the pool
    may have, waited until it had grown as well.
    """
    bounds = _bounds(history)
    demand = {key: _PoolDemand(key, history.jobs) for key in bounds}
    runs = {key: _PoolRuns(key, history.jobs) for key in bounds}
    starting, growing = _Waits(), _Waits()
    for job in history.jobs:
        asked = machines_by_pool(job)
        if not asked or job.created is None or job.started is None or not asked.keys() <= bounds.keys():
            continue
        wait = max(0.0, (job.started - job.created).total_seconds())
        limits = {key: _at(bounds[key], job.created) for key in asked}
        found = {key: demand[key].at_creation[job.name] for key in asked}
        least_fits = all(found[key].now + count <= limits[key][0] for key, count in asked.items())
        most_fits = all(found[key].now + count <= limits[key][1] for key, count in asked.items())
        up = {key: max(limits[key][0], found[key].lately) for key in asked}
        if least_fits:
            starting.add(job, wait)
        elif not most_fits:
            free = [runs[key].fits_since(job.started, limits[key][1] - count) for key, count in asked.items()]
            if known := [one for one in free if one is not None and one >= job.created]:
                starting.add(job, (job.started - max(known)).total_seconds())
        elif any(found[key].now + count > up[key] for key, count in asked.items()):
            growing.add(job, wait)
    start, starts = starting.medians(ASSUMED.start)
    scale_up, scale_ups = growing.less(start, starts).medians(ASSUMED.scale_up)
    return MeasuredDelays(start, scale_up, _idle(history, bounds, demand), starts, scale_ups)


def machines_by_pool(job: PastJob) -> dict[PoolKey, int]:
    """Sum the machines that a job asked of each pool of its cluster."""
    found: dict[PoolKey, int] = {}
    for one in job.machines:
        if one.pool:
            key = PoolKey(job.cluster_id, one.pool)
            found[key] = found.get(key, 0) + one.count
    return found


_Limits = tuple[tuple[datetime, int, int], ...]
"""Bounds of a pool from each moment on."""


def _bounds(history: History) -> Mapping[PoolKey, _Limits]:
    found: dict[PoolKey, _Limits] = {}
    for deployment in history.deployments:
        for cluster in deployment.clusters.values():
            for name, pool in cluster.pools.items():
                key = PoolKey(cluster.id, name)
                found[key] = (*found.get(key, ()), (deployment.at, pool.min, pool.max))
    return found


def _at(limits: _Limits, moment: datetime) -> tuple[int, int]:
    place = bisect_right(limits, moment, key=lambda one: one[0])
    _, least, most = limits[max(0, place - 1)]
    return least, most


class _Waits:
    """Waits of jobs with the types of their machines."""

    def __init__(self) -> None:
        self.found: list[tuple[frozenset[str], float]] = []

    def add(self, job: PastJob, wait: float) -> None:
        self.found.append((frozenset(one.machine.type for one in job.machines), wait))

    def less(self, start: MeasuredDelay, starts: Mapping[str, float]) -> _Waits:
        """Return the waits without what a start takes by itself."""
        rest = _Waits()
        for machines, wait in self.found:
            took = max((starts.get(one, start.seconds) for one in machines), default=start.seconds)
            rest.found.append((machines, max(0.0, wait - took)))
        return rest

    def medians(self, assumed: float) -> tuple[MeasuredDelay, Mapping[str, float]]:
        """Return the median of all, and those of single machine types; none of fewer than FEWEST."""
        by_machine: dict[str, list[float]] = defaultdict(list)
        for machines, wait in self.found:
            for one in machines:
                by_machine[one].append(wait)
        single = {machine: median(waits) for machine, waits in sorted(by_machine.items()) if len(waits) >= FEWEST}
        if len(self.found) < FEWEST:
            return MeasuredDelay(assumed), single
        return MeasuredDelay(median(wait for _, wait in self.found), len(self.found)), single


@dataclass(frozen=True)
class _Asked:
    """Machines that other jobs asked for when a job was created, and the most of the time in which they stay up."""

    now: int
    lately: int


class _PoolDemand:
    """Machines of a pool that jobs asked for, from their creation to their end."""

    def __init__(self, key: PoolKey, jobs: Iterable[PastJob]) -> None:
        self.at_creation: dict[str, _Asked] = {}
        self.times: list[datetime] = []
        self.levels: list[int] = []
        level, ends, peaks = 0, list[tuple[datetime, int]](), deque[tuple[datetime, int]]()

        def change(moment: datetime, by: int) -> None:
            nonlocal level
            # The level until now was held up to this moment: it counts for as long after it.
            while peaks and peaks[-1][1] <= level:
                peaks.pop()
            peaks.append((moment, level))
            level += by
            self.times.append(moment)
            self.levels.append(level)

        for job in sorted((one for one in jobs if one.created), key=lambda one: (one.created, one.name)):
            assert job.created is not None
            count = machines_by_pool(job).get(key, 0)
            if not count:
                continue
            while ends and ends[0][0] <= job.created:
                change(*heapq.heappop(ends))
            while peaks and peaks[0][0] < job.created - _UP_FOR:
                peaks.popleft()
            self.at_creation[job.name] = _Asked(level, max(level, peaks[0][1] if peaks else 0))
            change(job.created, count)
            if job.ended is not None:
                heapq.heappush(ends, (job.ended, -count))
        while ends:
            change(*heapq.heappop(ends))

    def at(self, moment: datetime) -> int:
        place = bisect_right(self.times, moment)
        return self.levels[place - 1] if place else 0

    def last_above(self, machines: int, moment: datetime) -> datetime | None:
        """Return the last moment up to this one at which more than `machines` were asked for."""
        place = there = bisect_right(self.times, moment)
        while place and self.levels[place - 1] <= machines:
            place -= 1
        return self.times[place] if 0 < place < there else None


class _PoolRuns:
    """Machines of a pool that jobs held, from their starts to their ends."""

    def __init__(self, key: PoolKey, jobs: Iterable[PastJob]) -> None:
        changes: list[tuple[datetime, int]] = []
        for job in jobs:
            count = machines_by_pool(job).get(key, 0)
            if count and job.started is not None:
                changes.append((job.started, count))
                changes += [(job.ended, -count)] if job.ended is not None else []
        changes.sort()
        self.times = [moment for moment, _ in changes]
        self.levels = list(accumulate(change for _, change in changes))

    def fits_since(self, moment: datetime, room: int) -> datetime | None:
        """Return since when, just before a moment, no more than `room` was held; None where that was always so, or is
        not."""
        place = before = bisect_left(self.times, moment)
        while place and self.levels[place - 1] <= room:
            place -= 1
        return self.times[place] if 0 < place < before else None


def _idle(history: History, bounds: Mapping[PoolKey, _Limits], demand: Mapping[PoolKey, _PoolDemand]) -> MeasuredDelay:
    """Return the time that agrees with most of what samples tell: between two of them a pool shrank, and it was larger
    than it needed to be since a job ended."""
    spans = [one for key in bounds for one in _spans(key, history, bounds[key], demand[key])]
    if len(spans) < FEWEST:
        return MeasuredDelay(ASSUMED.idle)
    edges = sorted({edge for span in spans for edge in span})
    best = max(
        pairwise(edges),
        key=lambda edge: sum(low <= edge[0] and edge[1] <= high for low, high in spans),
    )
    return MeasuredDelay((best[0] + best[1]) / 2, len(spans))


def _spans(key: PoolKey, history: History, limits: _Limits, demand: _PoolDemand) -> Iterator[tuple[float, float]]:
    """Yield the least and the most seconds that an idle pool stayed as it was, of each time that it shrank."""
    seen = [(one.at, one.pools[key].live) for one in history.samples if key in one.pools]
    for (before, live), (after, less) in pairwise(seen):
        least, _ = _at(limits, after)
        if less >= live or less < max(least, demand.at(after)):
            continue
        idle_since = demand.last_above(less, after)
        if idle_since is not None:
            low = max(0.0, (before - idle_since).total_seconds())
            yield low, (after - idle_since).total_seconds()
