"""The outcome of a replay: waits, dollars, idle machines, and jobs that never ran. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from slipway.base.formatting import counted
from slipway.model.capacity import POOL
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price, Usd, per_hour
from slipway.operating.history.waits import Waits
from slipway.operating.whatif.model import PoolUse, Replay, ReplayedJob, ReplayedPool, ReplayedRun


@dataclass(frozen=True)
class TemplateOutcome:
    """Jobs of one template; the name is empty for jobs of no template. `beside`: the number that ran beside the
    pools."""

    template: str
    waits: Waits
    beside: int
    never: int


@dataclass(frozen=True)
class PoolOutcome:
    """A pool, as CLUSTER/POOL. `idle`: the share of its machine time that no job held, None without any. `most`:
    machines that jobs held at once."""

    pool: str
    cost: Usd
    idle: float | None
    most: int


@dataclass(frozen=True)
class NeverRun:
    """The number of a template's jobs that could not have run, and the reason."""

    template: str
    jobs: int
    why: str


@dataclass(frozen=True)
class Outcome:
    """The whole outcome. Costs are USD of the whole time; not `complete`: some have no known price. `idle` as of a
    pool, by dollars where prices are known."""

    waits: Waits
    pools_cost: Usd
    beside_cost: Usd
    cost: Usd
    complete: bool
    idle: float | None
    templates: tuple[TemplateOutcome, ...]
    pools: tuple[PoolOutcome, ...]
    never: tuple[NeverRun, ...]

    @property
    def never_ran(self) -> int:
        return sum(one.jobs for one in self.never)


def outcome(replay: Replay, region: str) -> Outcome:
    """Return a replay's outcome. `region`: the stack's own, where jobs beside the pools run."""
    runs = [one for one in replay.runs if one.job.counted]
    pools = tuple(map(_pool, replay.pools))
    pools_cost = sum((one.cost for one in pools), Price())
    beside_cost = sum((_beside_cost(one, region) for one in runs), Price())
    total = pools_cost + beside_cost
    return Outcome(
        Waits.of(replay.waits),
        pools_cost,
        beside_cost,
        total,
        total.complete,
        _idle(replay.pools),
        tuple(_templates(runs)),
        pools,
        tuple(_never(replay.never, [one.pool for one in replay.pools])),
    )


def _hours(seconds: float) -> Decimal:
    return Decimal(str(round(seconds, 3))) / 3600


def _pool(use: PoolUse) -> PoolOutcome:
    idle = 1 - use.held / use.live if use.live else None
    return PoolOutcome(use.pool.label, use.pool.per_hour * _hours(use.live), idle, use.most)


def _idle(pools: Sequence[PoolUse]) -> float | None:
    weights = [float(one.pool.per_hour.known) for one in pools]
    weights = weights if any(weights) else [1.0 for _ in pools]
    live = sum(one.live * weight for one, weight in zip(pools, weights, strict=True))
    held = sum(one.held * weight for one, weight in zip(pools, weights, strict=True))
    return 1 - held / live if live else None


def _beside_cost(run: ReplayedRun, region: str) -> Price:
    """Return the cost of a job's machines beside the pools: the actual cost where it ran so before."""
    if run.started is None or run.capacity_type == POOL:
        return Price()
    past = run.job.past
    if past and past.capacity_type == run.capacity_type and past.cost is not None:
        return past.cost
    return per_hour(run.job.machines, region, run.capacity_type) * _hours(run.job.run)


def _templates(runs: Iterable[ReplayedRun]) -> Iterable[TemplateOutcome]:
    by_template: dict[str, list[ReplayedRun]] = defaultdict(list)
    for run in runs:
        by_template[run.job.template].append(run)
    for template, some in sorted(by_template.items()):
        beside = sum(one.started is not None and one.capacity_type != POOL for one in some)
        waits = Waits.of(one.wait for one in some if one.wait is not None)
        yield TemplateOutcome(template, waits, beside, len(some) - waits.jobs)


def _never(runs: Iterable[ReplayedRun], pools: Sequence[ReplayedPool]) -> Iterable[NeverRun]:
    jobs: dict[tuple[str, str], int] = defaultdict(int)
    for run in runs:
        jobs[run.job.template, why_never(run.job, pools)] += 1
    for (template, why), number in sorted(jobs.items(), key=lambda one: (-one[1], one[0])):
        yield NeverRun(template, number, why)


def why_never(job: ReplayedJob, pools: Sequence[ReplayedPool]) -> str:
    """Return why a job never runs: `needs 4 a3-highgpu-8g, and h100/workers has 2 at most`; `no pool has a3-highgpu-8g
    with a disk of …`"""
    for machine in dict.fromkeys(one.machine for one in job.machines):
        needs = sum(one.count for one in job.machines if one.machine == machine)
        alike = [pool for pool in pools if pool.machine == machine and pool.bounds]
        if not alike:
            return f"no pool has {machine} with a {machine.disk} disk"
        largest = max(alike, key=lambda pool: pool.bounds[-1].max)
        if largest.bounds[-1].max < needs:
            return f"needs {needs} {machine}, and {largest.label} has {largest.bounds[-1].max} at most"
    return f"no cluster has all of its {counted(sum(_counts(job.machines)), 'machine')}"


def _counts(machines: Iterable[MachineGroup]) -> Iterable[int]:
    return (one.count for one in machines)
