"""A cluster during a replay: its pools now, and the jobs that wait for them, in order."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from slipway.operating.whatif.model import ReplayedPool

Needs = tuple[tuple[int, int], ...]
"""Machines by the place of their pool."""


@dataclass
class PoolState:
    """Machines of a pool now: `live` exist, `busy` have jobs, `coming` are on their way, and waiting jobs have `asked`
    for more. `change` numbers the times at which it was as large as it needs to be: the pool shrinks when that number
    has stayed the same for a while. Machine seconds up to `at`, within the replayed time."""

    spec: ReplayedPool
    min: int = 0
    max: int = 0
    live: int = 0
    busy: int = 0
    coming: int = 0
    asked: int = 0
    most: int = 0
    change: int = 0
    shrinks: bool = False
    at: float = 0.0
    live_seconds: float = 0.0
    held_seconds: float = 0.0

    def account(self, now: float, begin: float, end: float) -> None:
        """Add up machine seconds since the last change, between two moments."""
        seconds = min(now, end) - max(self.at, begin)
        if seconds > 0:
            self.live_seconds += self.live * seconds
            self.held_seconds += self.busy * seconds
        self.at = now

    def hold(self, machines: int) -> None:
        self.busy += machines
        self.most = max(self.most, self.busy)

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


@dataclass
class Waiting:
    """A job that waits by one of its routes. `gone`: it has started, or went elsewhere."""

    order: int
    job: int
    route: int
    cluster: int
    needs: Needs
    gone: bool = False


@dataclass
class ClusterQueue:
    """The jobs that wait on a cluster, in one line for each set of pools."""

    name: str
    number: int
    pools: tuple[int, ...]
    lines: dict[tuple[int, ...], deque[Waiting]] = field(default_factory=dict)
    length: int = 0

    def add(self, one: Waiting, pools: Sequence[PoolState]) -> None:
        self.lines.setdefault(tuple(at for at, _ in one.needs), deque()).append(one)
        self.length += 1
        for at, machines in one.needs:
            pools[at].asked += machines

    def remove(self, one: Waiting, pools: Sequence[PoolState]) -> None:
        one.gone = True
        self.length -= 1
        for at, machines in one.needs:
            pools[at].asked -= machines

    def startable(self, pools: Sequence[PoolState]) -> Iterator[Waiting]:
        """Yield the jobs whose machines are free, in order, each to be started before the next; no job overtakes
        another that waits for the same pool."""
        blocked: set[int] = set()
        while self.length and (one := self._first(blocked)) is not None:
            free = all(pools[at].busy + machines <= pools[at].live for at, machines in one.needs)
            if free and not any(at in blocked for at, _ in one.needs):
                yield one
            else:
                blocked.update(at for at, _ in one.needs)

    def needed(self, pools: Sequence[PoolState]) -> dict[int, int]:
        """Return machines in use and waited for, by pool: for as many waiting jobs, in order, as fit at once."""
        needed = {at: pools[at].busy for at in self.pools}
        if not self.length:
            return needed
        blocked: set[int] = set()
        lines = [(place, iter(line)) for place, line in enumerate(self.lines.values())]
        heads = [(one.order, place, one, line) for place, line in lines if (one := _next(line))]
        heapq.heapify(heads)
        while heads:
            _, place, one, line = heapq.heappop(heads)
            fits = all(at not in blocked and needed[at] + machines <= pools[at].max for at, machines in one.needs)
            if not fits:  # No job behind it in its line fits either.
                blocked.update(at for at, _ in one.needs)
                continue
            for at, machines in one.needs:
                needed[at] += machines
            if following := _next(line):
                heapq.heappush(heads, (following.order, place, following, line))
        return needed

    def _first(self, blocked: set[int]) -> Waiting | None:
        """Return the earliest job of the lines that are not blocked altogether."""
        found: Waiting | None = None
        for pools, line in self.lines.items():
            while line and line[0].gone:
                line.popleft()
            if line and not blocked.issuperset(pools) and (found is None or line[0].order < found.order):
                found = line[0]
        return found


def _next(line: Iterator[Waiting]) -> Waiting | None:
    return next((one for one in line if not one.gone), None)
