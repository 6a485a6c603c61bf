"""A cluster during a replay: its pools now, the jobs that run on them, and those that wait, in order."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from slipway.operating.whatif.model import ReplayedJob, ReplayedPool

Needs = tuple[tuple[int, int], ...]
"""Machines by the place of their pool."""


@dataclass
class PoolState:
    """The machines of a pool now."""

    spec: ReplayedPool
    min: int = 0
    max: int = 0
    #: The machines that exist.
    live: int = 0
    #: Those that have jobs.
    busy: int = 0
    #: Those that are on their way.
    coming: int = 0
    #: Those that waiting jobs asked for.
    asked: int = 0
    #: The most that were busy at once.
    most: int = 0
    #: The moment at which the pool shrinks, unless it is needed as it is before; None while it is needed.
    shrinks_at: float | None = None
    #: The moment up to which machine seconds are added up.
    at: float = 0.0
    #: Machine seconds within the replayed time, all and those with a job.
    live_seconds: float = 0.0
    held_seconds: float = 0.0

    def free(self, machines: int) -> None:
        """Take machines back; those beyond the maximum by now go away."""
        self.busy -= machines
        self.live = max(min(self.live, self.max), self.busy)

    def bound(self, least: int, most: int) -> None:
        """Change the bounds: the minimum is reached at once, and no job loses machines."""
        self.min, self.max = least, most
        self.live = max(least, min(self.live, most), self.busy)

    def grow(self, machines: int) -> None:
        """Add machines that have come."""
        self.coming -= machines
        self.live = max(self.live, min(self.live + machines, self.max))


@dataclass(eq=False)
class Waiting:
    """A job that waits by one of its routes, and then runs."""

    #: The places of the job among the replay's, and of the route among the job's.
    number: int
    route: int
    cluster: int
    needs: Needs
    job: ReplayedJob
    #: The seconds that it has still to run.
    left: float
    #: Its place among all that were sent; 0 before.
    order: int = 0
    #: The moment at which it made room for another job, behind which it waits.
    stopped: float | None = None
    #: It has started, or went elsewhere.
    gone: bool = False
    #: The moment at which its code starts; 0 while it waits.
    began: float = 0.0
    #: It makes room after its next checkpoint.
    asked: bool = False

    @property
    def machines(self) -> int:
        return sum(machines for _, machines in self.needs)

    def meets(self, other: Waiting) -> bool:
        """Tell whether both need machines of one pool."""
        return not {at for at, _ in self.needs}.isdisjoint(at for at, _ in other.needs)


@dataclass
class ClusterQueue:
    """The jobs that wait on a cluster, in one line for each set of pools."""

    name: str
    #: The places of the cluster and of its pools among the replay's.
    number: int
    pools: tuple[int, ...]
    #: The jobs in the order of their arrival, by the places of the pools that they need; some may be gone.
    lines: dict[tuple[int, ...], deque[Waiting]] = field(default_factory=dict)
    #: The number of jobs that wait.
    length: int = 0
    #: The jobs that are not sent yet, in order: a pause or their team's share holds them.
    held: list[Waiting] = field(default_factory=list)
    #: By their order.
    running: dict[int, Waiting] = field(default_factory=dict)

    @property
    def waiting(self) -> Iterator[Waiting]:
        return (job for line in self.lines.values() for job in line if not job.gone)

    @property
    def first_held(self) -> Iterable[Waiting]:
        """The jobs that are not sent yet, in order: of those that the same holds the first alone."""
        alike: dict[tuple[object, ...], Waiting] = {}
        for held in self.held:
            job = held.job
            alike.setdefault((job.team, job.of_sweep, job.urgent, job.pausable, held.needs), held)
        return alike.values()

    def add(self, job: Waiting, pools: Sequence[PoolState]) -> None:
        self.lines.setdefault(tuple(at for at, _ in job.needs), deque()).append(job)
        self.length += 1
        for at, machines in job.needs:
            pools[at].asked += machines

    def remove(self, job: Waiting, pools: Sequence[PoolState]) -> None:
        job.gone = True
        if job in self.held:
            self.held.remove(job)
            return
        self.length -= 1
        for at, machines in job.needs:
            pools[at].asked -= machines

    def startable(self, pools: Sequence[PoolState]) -> Iterator[Waiting]:
        """Yield the jobs whose machines are free, in order, each to be started before the next."""
        blocked: set[int] = set()
        while self.length and (job := self._first(blocked)) is not None:
            free = all(pools[at].busy + machines <= pools[at].live for at, machines in job.needs)
            if free and not any(at in blocked for at, _ in job.needs):
                yield job
            else:
                blocked.update(at for at, _ in job.needs)

    def needed(self, pools: Sequence[PoolState]) -> dict[int, int]:
        """Return machines in use and waited for, by pool: for as many waiting jobs, in order, as fit at once."""
        needed = {at: pools[at].busy for at in self.pools}
        if not self.length:
            return needed
        blocked: set[int] = set()
        lines = [(place, iter(line)) for place, line in enumerate(self.lines.values())]
        # The first job of each line; its place only keeps the heap from comparing jobs.
        heads = [(job.order, place, job, line) for place, line in lines if (job := _next(line))]
        heapq.heapify(heads)
        while heads:
            _, place, job, line = heapq.heappop(heads)
            fits = all(at not in blocked and needed[at] + machines <= pools[at].max for at, machines in job.needs)
            if not fits:  # No job behind it in its line fits either.
                blocked.update(at for at, _ in job.needs)
                continue
            for at, machines in job.needs:
                needed[at] += machines
            if following := _next(line):
                heapq.heappush(heads, (following.order, place, following, line))
        return needed

    def _first(self, blocked: set[int]) -> Waiting | None:
        """Return the earliest job of the lines that are not blocked altogether."""
        first: Waiting | None = None
        for pools, line in self.lines.items():
            while line and line[0].gone:
                line.popleft()
            if line and not blocked.issuperset(pools) and (first is None or line[0].order < first.order):
                first = line[0]
        return first


def _next(line: Iterator[Waiting]) -> Waiting | None:
    return next((job for job in line if not job.gone), None)
