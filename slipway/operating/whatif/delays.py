"""Delays of pools: to start a job on a free machine, to grow, to shrink; measured from a stack's own history. Pure.

Google documents none of the three. Where the history has too few cases a plain assumption replaces the measurement, and
is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from slipway.operating.history.model import History, PoolKey
from slipway.operating.whatif.model import PoolDelays
from slipway.operating.whatif.past_load import PastLoad, bounds_at

ASSUMED = PoolDelays(start=60.0, scale_up=300.0, idle=600.0)
"""Seconds, where nothing was measured."""
FEWEST = 3
"""The cases that a measurement needs."""

_Wait = tuple[frozenset[str], float]
"""The machine types of a job, and its seconds."""


@dataclass(frozen=True)
class MeasuredDelay:
    """A delay of pools."""

    seconds: float
    #: The number of cases that were measured; 0 for an assumption.
    count: int = 0


@dataclass(frozen=True)
class MeasuredDelays:
    """The delays of a stack's pools."""

    start: MeasuredDelay = MeasuredDelay(ASSUMED.start)
    scale_up: MeasuredDelay = MeasuredDelay(ASSUMED.scale_up)
    idle: MeasuredDelay = MeasuredDelay(ASSUMED.idle)
    #: Seconds by machine type, for those with enough cases.
    starts: Mapping[str, float] = field(default_factory=dict)
    scale_ups: Mapping[str, float] = field(default_factory=dict)

    def of(self, machine: str) -> PoolDelays:
        """Return the delays of a pool of this machine type."""
        return PoolDelays(
            start=self.starts.get(machine, self.start.seconds),
            scale_up=self.scale_ups.get(machine, self.scale_up.seconds),
            idle=self.idle.seconds,
        )


def measure(history: History, load: PastLoad) -> MeasuredDelays:
    """Measure the delays of a stack's pools, as medians.

    A job that asked for no more machines than a pool keeps waited for its start alone; a job that found the pool full,
    from the moment when enough machines were given back. A job that asked for more than can have been up, and no more
    than the pool's maximum, also waited for the pool to grow.
    """
    starting, growing = list[_Wait](), list[_Wait]()
    for job in history.jobs:
        pools = load.of(job)
        if not pools or job.created is None or job.started is None or job.waited is None:
            continue
        if all(pool.calm for pool in pools):
            starting.append((job.machine_types, job.waited))
        elif any(pool.full for pool in pools):
            freed = [load.held[pool.key].at_most_since(pool.most - pool.count, job.started) for pool in pools]
            if known := [moment for moment in freed if moment is not None and moment >= job.created]:
                starting.append((job.machine_types, (job.started - max(known)).total_seconds()))
        elif any(pool.grew for pool in pools):
            growing.append((job.machine_types, job.waited))
    start, starts = _medians(starting, ASSUMED.start)
    without_start = []
    for machines, wait in growing:
        took = max((starts.get(machine, start.seconds) for machine in machines), default=start.seconds)
        without_start.append((machines, max(0.0, wait - took)))
    scale_up, scale_ups = _medians(without_start, ASSUMED.scale_up)
    return MeasuredDelays(start=start, scale_up=scale_up, idle=_idle(history, load), starts=starts, scale_ups=scale_ups)


def _medians(waits: Sequence[_Wait], assumed: float) -> tuple[MeasuredDelay, Mapping[str, float]]:
    """Return the median of all, and those of single machine types; none for fewer than FEWEST."""
    by_machine: dict[str, list[float]] = defaultdict(list)
    for machines, wait in waits:
        for machine in machines:
            by_machine[machine].append(wait)
    single = {machine: median(each) for machine, each in sorted(by_machine.items()) if len(each) >= FEWEST}
    if len(waits) < FEWEST:
        return MeasuredDelay(assumed), single
    return MeasuredDelay(median(wait for _, wait in waits), len(waits)), single


def _idle(history: History, load: PastLoad) -> MeasuredDelay:
    """Return the idle time that agrees with the most shrinkings, each of which came between two samples."""
    spans = [span for key in load.bounds for span in _spans(key, history, load)]
    if len(spans) < FEWEST:
        return MeasuredDelay(ASSUMED.idle)
    edges = sorted({edge for span in spans for edge in span})
    best = max(
        pairwise(edges),
        key=lambda edge: sum(low <= edge[0] and edge[1] <= high for low, high in spans),
    )
    return MeasuredDelay((best[0] + best[1]) / 2, len(spans))


def _spans(key: PoolKey, history: History, load: PastLoad) -> Iterator[tuple[float, float]]:
    """Yield the least and the most seconds that an idle pool stayed as it was, for each shrinking."""
    seen = [(sample.at, sample.pools[key].live) for sample in history.samples if key in sample.pools]
    for (before, live), (after, less) in pairwise(seen):
        least, _ = bounds_at(load.bounds[key], after)
        # A pool that is left with less than it keeps, or than jobs ask for, has not shrunk for idleness.
        if less >= live or less < max(least, load.demand[key].at(after)):
            continue
        idle_since = load.demand[key].at_most_since(less, after)
        if idle_since is not None:
            low = max(0.0, (before - idle_since).total_seconds())
            yield low, (after - idle_since).total_seconds()
