"""The past load of a stack's pools: the machines that jobs asked for and held, and each pool's possible size. Pure."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate

from slipway.model.catalog.clusters import Cluster
from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import History, PastJob, PoolKey

_UP_FOR = timedelta(hours=1)
"""The time for which needed machines may still be up."""


class PastLoad:
    """The load of all pools that deployments named: their bounds, and the machines that jobs asked for and held."""

    def __init__(self, history: History) -> None:
        self._history = history
        asks: dict[PoolKey, list[tuple[PastJob, int]]] = defaultdict(list)
        for job in history.jobs:
            for key, count in machines_by_pool(job).items():
                asks[key].append((job, count))
        self._asks = asks
        self.bounds: dict[PoolKey, Limits] = {}
        for deployment in history.deployments:
            for cluster in deployment.catalog.clusters.values():
                for pool in cluster.pools:
                    key = PoolKey(cluster.id, pool.name)
                    self.bounds[key] = (*self.bounds.get(key, ()), (deployment.at, pool.min, pool.max))
        self.demand = {key: PoolDemand(asks.get(key, ())) for key in self.bounds}

    @cached_property
    def runs(self) -> Mapping[PoolKey, PoolRuns]:
        return {key: PoolRuns(self._asks.get(key, ())) for key in self.bounds}

    def of(self, job: PastJob) -> JobLoad | None:
        """Return a job's load: its pools when it was created; None where they are not known."""
        asked = machines_by_pool(job)
        if not asked or job.created is None or not asked.keys() <= self.bounds.keys():
            return None
        parts = []
        for key, count in asked.items():
            least, most = bounds_at(self.bounds[key], job.created)
            now, lately = self.demand[key].at_creation[job.name]
            parts.append(PoolLoad(key=key, count=count, least=least, most=most, now=now, lately=lately))
        return JobLoad(tuple(parts))

    def had_room(self, machines: Mapping[MachineSpec, int], at: datetime) -> bool:
        """Tell whether some cluster that was deployed then could have taken machines, beside the demand of others."""

        def has_room(cluster: Cluster, machine: MachineSpec, count: int) -> bool:
            return any(
                pool.machine == machine and self.demand[PoolKey(cluster.id, pool.name)].at(at) + count <= pool.max
                for pool in cluster.pools
            )

        later = bisect_right(self._history.deployments, at, key=lambda deployment: deployment.at)
        # The first deployment stands for the time before it; there may be none at all.
        in_force = self._history.deployments[max(0, later - 1) :][:1]
        return any(
            all(has_room(cluster, machine, count) for machine, count in machines.items())
            for deployment in in_force
            for cluster in deployment.catalog.clusters.values()
        )


@dataclass(frozen=True)
class PoolLoad:
    """A pool at the creation of a job that asks for its machines."""

    key: PoolKey
    #: The machines that the job asks for.
    count: int
    #: The pool's bounds.
    least: int
    most: int
    #: The demand of others.
    now: int
    #: The highest recent demand of others.
    lately: int


@dataclass(frozen=True)
class JobLoad:
    """All pools whose machines a job asks for."""

    pools: tuple[PoolLoad, ...]

    @property
    def calm(self) -> bool:
        """Tell whether the job asked for no more than pools keep."""
        return all(pool.now + pool.count <= pool.least for pool in self.pools)

    @property
    def full(self) -> bool:
        """Tell whether the job asked for more than some pool may have."""
        return any(pool.now + pool.count > pool.most for pool in self.pools)

    @property
    def grew(self) -> bool:
        """Tell whether some pool had to grow: the demand was more than can have been up."""
        return not self.full and any(pool.now + pool.count > max(pool.least, pool.lately) for pool in self.pools)


def machines_by_pool(job: PastJob) -> dict[PoolKey, int]:
    """Sum the machines that a job asked of each pool of its cluster."""
    counts: dict[PoolKey, int] = {}
    for group in job.machines:
        if group.pool:
            key = PoolKey(job.cluster_id, group.pool)
            counts[key] = counts.get(key, 0) + group.count
    return counts


Limits = tuple[tuple[datetime, int, int], ...]
"""The bounds of a pool from each moment on."""


def bounds_at(limits: Limits, moment: datetime) -> tuple[int, int]:
    later = bisect_right(limits, moment, key=lambda entry: entry[0])
    _, least, most = limits[max(0, later - 1)]  # The first bounds stand for the time before them.
    return least, most


class PoolDemand:
    """Machines of a pool that jobs asked for, from their creation to their end."""

    def __init__(self, asks: Iterable[tuple[PastJob, int]]) -> None:
        # Machines that others asked for when a job was created, and the most while such machines may still be up.
        self.at_creation: dict[str, tuple[int, int]] = {}
        self.times: list[datetime] = []
        self.levels: list[int] = []
        level = 0
        ends: list[tuple[datetime, int]] = []
        peaks: deque[tuple[datetime, int]] = deque()

        def change(moment: datetime, by: int) -> None:
            nonlocal level
            # The level lasted up to this moment, and counts for as long after it.
            while peaks and peaks[-1][1] <= level:
                peaks.pop()
            peaks.append((moment, level))
            level += by
            self.times.append(moment)
            self.levels.append(level)

        created = ((job.created, job.name, job, count) for job, count in asks if job.created is not None)
        for at, name, job, count in sorted(created, key=lambda ask: ask[:2]):
            while ends and ends[0][0] <= at:
                change(*heapq.heappop(ends))
            while peaks and peaks[0][0] < at - _UP_FOR:
                peaks.popleft()
            self.at_creation[name] = level, max(level, peaks[0][1]) if peaks else level
            change(at, count)
            if job.ended is not None:
                heapq.heappush(ends, (job.ended, -count))
        while ends:
            change(*heapq.heappop(ends))

    def at(self, moment: datetime) -> int:
        later = bisect_right(self.times, moment)
        return self.levels[later - 1] if later else 0

    def last_above(self, machines: int, moment: datetime) -> datetime | None:
        """Return the last moment up to `moment` at which more than `machines` were asked for."""
        index = end = bisect_right(self.times, moment)
        while index and self.levels[index - 1] <= machines:
            index -= 1
        return self.times[index] if 0 < index < end else None


class PoolRuns:
    """Machines of a pool that jobs held, from their starts to their ends."""

    def __init__(self, asks: Iterable[tuple[PastJob, int]]) -> None:
        changes: list[tuple[datetime, int]] = []
        for job, count in asks:
            if job.started is not None:
                changes.append((job.started, count))
                if job.ended is not None:
                    changes.append((job.ended, -count))
        changes.sort()
        self.times = [moment for moment, _ in changes]
        self.levels = list(accumulate(change for _, change in changes))

    def fits_since(self, moment: datetime, room: int) -> datetime | None:
        """Return the time since which, up to a moment, no more than `room` was held; None where that was always so, or
        not just before the moment."""
        index = end = bisect_left(self.times, moment)
        while index and self.levels[index - 1] <= room:
            index -= 1
        return self.times[index] if 0 < index < end else None
