"""The past load of a stack's pools: the machines that jobs asked for and held, and each pool's possible size. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from operator import itemgetter

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
        self.bounds: dict[PoolKey, Limits] = {}
        for deployment in history.deployments:
            for cluster in deployment.catalog.clusters.values():
                for pool in cluster.pools:
                    key = PoolKey(cluster.id, pool.name)
                    self.bounds[key] = (*self.bounds.get(key, ()), (deployment.at, pool.min, pool.max))
        # The machines that jobs asked for, from their creation, and those that they held, from their start.
        self.demand, self.held = dict[PoolKey, Levels](), dict[PoolKey, Levels]()
        for key in self.bounds:
            self.demand[key] = Levels((job.name, job.created, job.ended, count) for job, count in asks[key])
            self.held[key] = Levels((job.name, job.started, job.ended, count) for job, count in asks[key])

    def of(self, job: PastJob) -> list[PoolLoad]:
        """Return the pools that a job asked for, when it was created; none where they are not known."""
        asked = machines_by_pool(job)
        if job.created is None or not asked.keys() <= self.bounds.keys():
            return []
        parts = []
        for key, count in asked.items():
            least, most = bounds_at(self.bounds[key], job.created)
            now, lately = self.demand[key].met(job.name, job.created)
            parts.append(PoolLoad(key=key, count=count, least=least, most=most, now=now, lately=lately))
        return parts

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
    least: int
    most: int
    #: The demand of others.
    now: int
    #: The highest recent demand of others.
    lately: int

    @property
    def calm(self) -> bool:
        """Tell whether the job asked for no more than the pool keeps."""
        return self.now + self.count <= self.least

    @property
    def full(self) -> bool:
        """Tell whether the job asked for more than the pool may have."""
        return self.now + self.count > self.most

    @property
    def grew(self) -> bool:
        """Tell whether the pool had to grow: the demand was more than can have been up."""
        return self.now + self.count > max(self.least, self.lately)


def machines_by_pool(job: PastJob) -> dict[PoolKey, int]:
    """Sum the machines that a job asked of each pool of its cluster."""
    counts = Counter[PoolKey]()
    for group in job.machines:
        if group.pool:
            counts[PoolKey(job.cluster_id, group.pool)] += group.count
    return counts


Limits = tuple[tuple[datetime, int, int], ...]
"""The bounds of a pool from each moment on."""


def bounds_at(limits: Limits, moment: datetime) -> tuple[int, int]:
    later = bisect_right(limits, moment, key=lambda entry: entry[0])
    _, least, most = limits[max(0, later - 1)]  # The first bounds stand for the time before them.
    return least, most


class Levels:
    """Machines over time, by jobs' spans. A span without a beginning has none, and one without an end lasts."""

    def __init__(self, spans: Iterable[tuple[str, datetime | None, datetime | None, int]]) -> None:
        # In one moment spans end before others begin, and these begin by their jobs' names.
        changes: list[tuple[datetime, str, int]] = []
        for name, begin, end, count in spans:
            if begin is not None:
                changes.append((begin, name, count))
                if end is not None:
                    changes.append((end, "", -count))
        self._changes = sorted(changes)
        self._levels = [0, *accumulate(change for _, _, change in self._changes)]

    def at(self, moment: datetime) -> int:
        return self._levels[bisect_right(self._changes, moment, key=itemgetter(0))]

    def met(self, job: str, begin: datetime) -> tuple[int, int]:
        """Return the machines that a job's span meets, and the most while such machines may still be up."""
        now = bisect_left(self._changes, (begin, job))
        lately = bisect_left(self._changes, begin - _UP_FOR, key=itemgetter(0))
        return self._levels[now], max(self._levels[lately : now + 1])

    def at_most_since(self, most: int, moment: datetime) -> datetime | None:
        """Return the time since which, up to a moment, there were no more than `most`; None where that was always so,
        or not just before the moment."""
        index = end = bisect_left(self._changes, moment, key=itemgetter(0))
        while index and self._levels[index] <= most:
            index -= 1
        return self._changes[index][0] if 0 < index < end else None
