"""The cheapest bounds of a stack's pools that hold a target of waits, by replays of its past. Pure.

A search, not a proof: from pools as large as they ever needed to be, each bound is lowered as far as the target holds,
the dearest pool first, and then moved by single machines for as long as that saves money.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product

from slipway.operating.history.waits import rank
from slipway.operating.whatif.comparison import Replayer
from slipway.operating.whatif.model import PoolBounds, ReplayedJob, ReplayedPool
from slipway.operating.whatif.outcome import Outcome, outcome

MOST_REPLAYS = 400
_ALWAYS = float("-inf")
_UNBOUNDED = 1_000_000

Bounds = tuple[tuple[int, int], ...]
"""The minimum and maximum machines of each pool."""


@dataclass(frozen=True)
class BoundsSuggestion:
    """The changed bounds by cluster and pool. `outcome` with them, which holds the target; where no bounds do,
    `shortest` is the least p95 wait in seconds of the pool that misses it, called `hinders`."""

    bounds: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    outcome: Outcome | None = None
    hinders: str = ""
    shortest: float | None = None


@dataclass(frozen=True)
class _Trial:
    """A replay with some bounds. `p95` of each pool's jobs, which may have run beside it; None without any."""

    bounds: Bounds
    outcome: Outcome
    p95: tuple[float | None, ...]
    most: tuple[int, ...]

    def holds(self, target: float, never: int) -> bool:
        return self.outcome.never_ran <= never and all(one is None or one <= target for one in self.p95)

    @property
    def cost(self) -> Decimal:
        return self.outcome.cost.known


def suggest(replayer: Replayer, pools: tuple[ReplayedPool, ...], target: float) -> BoundsSuggestion:
    """Return the cheapest bounds found with which the p95 wait of each pool's jobs is at most `target` seconds, and no
    more jobs than now can never run. Unused pools keep their bounds."""
    return _Search(replayer, pools, target).found()


class _Search:
    def __init__(self, replayer: Replayer, pools: tuple[ReplayedPool, ...], target: float) -> None:
        self.replayer, self.pools, self.target = replayer, pools, target
        self.now: Bounds = tuple((pool.bounds[-1].min, pool.bounds[-1].max) for pool in pools)
        self.tried: dict[Bounds, _Trial] = {}
        self.jobs = [
            [number for number, job in enumerate(replayer.work.jobs) if job.counted and _asks(job, pool)]
            for pool in pools
        ]
        self.never = self.tried_with(self.now).outcome.never_ran

    def found(self) -> BoundsSuggestion:
        needed = self.tried_with(tuple((_UNBOUNDED, _UNBOUNDED) for _ in self.now)).most
        largest = tuple(
            (most, most) if jobs else bounds for most, jobs, bounds in zip(needed, self.jobs, self.now, strict=True)
        )
        best = self.tried_with(largest)
        if not best.holds(self.target, self.never):
            return self._hopeless(best)
        for place in sorted(range(len(self.pools)), key=lambda at: -self.pools[at].per_hour.known * needed[at]):
            if self.jobs[place]:
                best = self._lowered(best, place)
        best = self._polished(best)
        there = self.tried_with(self.now)
        if there.holds(self.target, self.never) and there.cost <= best.cost:
            best = there
        names = ((pool.cluster, pool.name) for pool in self.pools)
        changed = zip(names, self.now, best.bounds, strict=True)
        return BoundsSuggestion({name: bounds for name, before, bounds in changed if bounds != before}, best.outcome)

    def _hopeless(self, largest: _Trial) -> BoundsSuggestion:
        waits = ((one, pool.label) for one, pool in zip(largest.p95, self.pools, strict=True) if one is not None)
        shortest, hinders = max(waits, default=(None, ""))
        return BoundsSuggestion(hinders=hinders, shortest=shortest)

    def _lowered(self, best: _Trial, place: int) -> _Trial:
        """Lower a pool's minimum, then its maximum, by halves."""
        for kept in (True, False):
            low, high = 1, best.bounds[place][0 if kept else 1]
            low = low if kept else max(best.bounds[place][0], 1)
            while low < high:
                middle = (low + high) // 2
                pair = (middle, best.bounds[place][1]) if kept else (best.bounds[place][0], middle)
                trial = self._with(best, place, pair)
                if trial is not None and trial.holds(self.target, self.never) and trial.cost <= best.cost:
                    best, high = trial, middle
                else:
                    low = middle + 1
        return best

    def _polished(self, best: _Trial) -> _Trial:
        """Move single bounds by one machine for as long as that saves money."""
        while True:
            cheaper = [one for one in self._beside(best) if one.holds(self.target, self.never) and one.cost < best.cost]
            if not cheaper:
                return best
            best = min(cheaper, key=lambda one: one.cost)

    def _beside(self, best: _Trial) -> Iterator[_Trial]:
        for place, (least, most) in product(range(len(self.pools)), product((-1, 0, 1), repeat=2)):
            if self.jobs[place] and (least, most) != (0, 0):
                low, high = best.bounds[place]
                trial = self._with(best, place, (low + least, high + most))
                if trial is not None:
                    yield trial

    def _with(self, best: _Trial, place: int, bounds: tuple[int, int]) -> _Trial | None:
        """Try other bounds of one pool; None for invalid bounds, or after enough trials."""
        changed = (*best.bounds[:place], bounds, *best.bounds[place + 1 :])
        if not 1 <= bounds[0] <= bounds[1] or (changed not in self.tried and len(self.tried) >= MOST_REPLAYS):
            return None
        return self.tried_with(changed)

    def tried_with(self, bounds: Bounds) -> _Trial:
        if bounds not in self.tried:
            pools = tuple(
                replace(pool, bounds=(PoolBounds(_ALWAYS, *pair),))
                for pool, pair in zip(self.pools, bounds, strict=True)
            )
            found = self.replayer.replay(pools)
            waits = [sorted(wait for at in jobs if (wait := found.runs[at].wait) is not None) for jobs in self.jobs]
            self.tried[bounds] = _Trial(
                bounds,
                outcome(found, self.replayer.catalog.region),
                tuple(rank(one, 0.95) if one else None for one in waits),
                tuple(max(one.most, 1) for one in found.pools),
            )
        return self.tried[bounds]


def _asks(job: ReplayedJob, pool: ReplayedPool) -> bool:
    """Tell whether a job may run on a pool."""
    return any(route.on_pool for route in job.routes) and any(one.machine == pool.machine for one in job.machines)
