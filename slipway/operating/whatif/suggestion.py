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
    """The bounds that hold a target of waits."""

    #: The changed bounds, by cluster and pool.
    bounds: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    #: The outcome with them; None where no bounds hold the target.
    outcome: Outcome | None = None
    #: The pool that misses the target, where no bounds hold it.
    hinders: str = ""
    #: The least p95 wait of that pool, in seconds.
    shortest: float | None = None


@dataclass(frozen=True)
class _Trial:
    bounds: Bounds
    outcome: Outcome
    #: The p95 wait of each pool's jobs, which may have run beside it; None without any.
    p95: tuple[float | None, ...]
    #: The most machines that jobs held at once, by pool.
    most: tuple[int, ...]

    def holds(self, target: float, never: int) -> bool:
        return self.outcome.never_ran <= never and all(wait is None or wait <= target for wait in self.p95)

    @property
    def cost(self) -> Decimal:
        return self.outcome.cost.known


def suggest(replayer: Replayer, pools: tuple[ReplayedPool, ...], target: float) -> BoundsSuggestion:
    """Return the cheapest bounds found with which the p95 wait of each pool's jobs is at most `target` seconds.

    With them no more jobs than now can never run. Unused pools keep their bounds.
    """
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
            waits = ((wait, pool.label) for wait, pool in zip(best.p95, self.pools, strict=True) if wait is not None)
            shortest, hinders = max(waits, default=(None, ""))
            return BoundsSuggestion(hinders=hinders, shortest=shortest)
        for place in sorted(range(len(self.pools)), key=lambda at: -self.pools[at].per_hour.known * needed[at]):
            if self.jobs[place]:
                best = self._lowered(best, place)
        best = self._polished(best)
        present = self.tried_with(self.now)
        if present.holds(self.target, self.never) and present.cost <= best.cost:
            best = present
        names = ((pool.cluster, pool.name) for pool in self.pools)
        compared = zip(names, self.now, best.bounds, strict=True)
        changed = {name: bounds for name, before, bounds in compared if bounds != before}
        return BoundsSuggestion(bounds=changed, outcome=best.outcome)

    def _lowered(self, best: _Trial, place: int) -> _Trial:
        """Lower a pool's minimum, then its maximum, by halves."""
        for of_minimum in (True, False):
            least, most = best.bounds[place]
            low, high = (1, least) if of_minimum else (max(least, 1), most)
            while low < high:
                middle = (low + high) // 2
                pair = (middle, most) if of_minimum else (least, middle)
                trial = self._with(best, place, pair)
                if trial is not None and trial.holds(self.target, self.never) and trial.cost <= best.cost:
                    best, high = trial, middle
                else:
                    low = middle + 1
        return best

    def _polished(self, best: _Trial) -> _Trial:
        """Move single bounds by one machine for as long as that saves money."""
        while True:
            cheaper = [
                trial for trial in self._beside(best) if trial.holds(self.target, self.never) and trial.cost < best.cost
            ]
            if not cheaper:
                return best
            best = min(cheaper, key=lambda trial: trial.cost)

    def _beside(self, best: _Trial) -> Iterator[_Trial]:
        """Yield the trials in which one bound, or both bounds of one pool, differ by one machine."""
        for place, (by_least, by_most) in product(range(len(self.pools)), product((-1, 0, 1), repeat=2)):
            if self.jobs[place] and (by_least, by_most) != (0, 0):
                least, most = best.bounds[place]
                trial = self._with(best, place, (least + by_least, most + by_most))
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
            replay = self.replayer.replay(pools)
            waits = [sorted(wait for at in jobs if (wait := replay.runs[at].wait) is not None) for jobs in self.jobs]
            self.tried[bounds] = _Trial(
                bounds=bounds,
                outcome=outcome(replay, self.replayer.catalog.region),
                p95=tuple(rank(of_pool, 0.95) if of_pool else None for of_pool in waits),
                most=tuple(max(use.most, 1) for use in replay.pools),
            )
        return self.tried[bounds]


def _asks(job: ReplayedJob, pool: ReplayedPool) -> bool:
    return any(route.on_pool for route in job.routes) and any(group.machine == pool.machine for group in job.machines)
