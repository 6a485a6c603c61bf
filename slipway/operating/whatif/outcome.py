"""The outcome of a replay: waits, dollars, idle machines, and jobs that never ran. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from slipway.base.formatting import counted
from slipway.model.prices import Price, Usd, per_hour
from slipway.operating.history.waits import Waits
from slipway.operating.whatif.model import PoolUse, Replay, ReplayedJob, ReplayedPool, ReplayedRun


@dataclass(frozen=True)
class TemplateOutcome:
    """The outcome of one template's jobs."""

    #: Empty for jobs of no template.
    template: str
    waits: Waits
    #: The numbers that ran beside the pools, and that never ran.
    beside: int
    never: int


@dataclass(frozen=True)
class PoolOutcome:
    """The outcome of one pool."""

    #: CLUSTER/POOL
    pool: str
    cost: Usd
    #: The share of its machine time that no job held; None without any.
    idle: float | None
    #: The most machines that jobs held at once.
    most: int


@dataclass(frozen=True)
class NeverRun:
    """The number of a template's jobs that could not have run, and the reason."""

    template: str
    jobs: int
    why: str


@dataclass(frozen=True)
class Outcome:
    """The whole outcome. Costs are USD of the whole time."""

    waits: Waits
    pools_cost: Usd
    beside_cost: Usd
    cost: Usd
    #: False where some costs have no known price.
    complete: bool
    #: As of a pool, weighted by dollars where prices are known.
    idle: float | None
    templates: tuple[TemplateOutcome, ...]
    pools: tuple[PoolOutcome, ...]
    never: tuple[NeverRun, ...]
    #: The number of jobs of which nobody knows how long they wait.
    unknown: int
    #: Of urgent jobs.
    urgent: Waits
    #: Of jobs that made room for them, each time until they went on.
    made_room: Waits
    #: By team, the jobs of none included.
    teams: Mapping[str, Waits]

    @property
    def never_ran(self) -> int:
        return sum(row.jobs for row in self.never)


def outcome(replay: Replay, region: str) -> Outcome:
    """Return a replay's outcome. `region`: the stack's own, where jobs beside the pools run."""
    runs = [run for run in replay.runs if run.job.counted]
    by_team: dict[str, list[ReplayedRun]] = defaultdict(list)
    for run in runs:
        by_team[run.job.team].append(run)
    pools = tuple(map(_pool, replay.pools))
    pools_cost = sum((pool.cost for pool in pools), Price())
    beside_cost = sum((_beside_cost(run, region) for run in runs), Price())
    total = pools_cost + beside_cost
    return Outcome(
        waits=_waits(runs),
        pools_cost=pools_cost,
        beside_cost=beside_cost,
        cost=total,
        complete=total.complete,
        idle=_idle(replay.pools),
        templates=tuple(_templates(runs)),
        pools=pools,
        never=tuple(_never(runs, [use.pool for use in replay.pools])),
        unknown=sum(_unknown(run) for run in runs),
        urgent=_waits(run for run in runs if run.job.urgent),
        made_room=Waits.of(resumed - stopped for run in runs for stopped, resumed in run.breaks),
        teams={team: _waits(of_team) for team, of_team in sorted(by_team.items())},
    )


def _waits(runs: Iterable[ReplayedRun]) -> Waits:
    return Waits.of(run.wait for run in runs if run.wait is not None)


def _unknown(run: ReplayedRun) -> bool:
    return run.route is not None and run.started is None


def _hours(seconds: float) -> Decimal:
    return Decimal(str(round(seconds, 3))) / 3600


def _pool(use: PoolUse) -> PoolOutcome:
    return PoolOutcome(
        pool=use.pool.label,
        cost=use.pool.per_hour * _hours(use.live),
        idle=1 - use.held / use.live if use.live else None,
        most=use.most,
    )


def _idle(pools: Sequence[PoolUse]) -> float | None:
    weights = [float(use.pool.per_hour.known) for use in pools]
    if not any(weights):
        weights = [1.0 for _ in pools]
    live = sum(use.live * weight for use, weight in zip(pools, weights, strict=True))
    held = sum(use.held * weight for use, weight in zip(pools, weights, strict=True))
    return 1 - held / live if live else None


def _beside_cost(run: ReplayedRun, region: str) -> Price:
    """Return the cost of a job's machines beside the pools: the actual cost where it ran so before."""
    if run.route is None or run.route.on_pool:
        return Price()
    past, place = run.job.past, (run.route.capacity_type, run.route.region or region)
    if past and (past.capacity_type, past.region) == place and past.cost is not None and not run.job.moved:
        return past.cost
    return per_hour(run.job.machines, place[1], place[0]) * _hours(run.job.run)


def _templates(runs: Iterable[ReplayedRun]) -> Iterable[TemplateOutcome]:
    by_template: dict[str, list[ReplayedRun]] = defaultdict(list)
    for run in runs:
        by_template[run.job.template].append(run)
    for template, of_template in sorted(by_template.items()):
        beside = sum(run.route is not None and not run.route.on_pool for run in of_template)
        never = sum(run.route is None for run in of_template)
        yield TemplateOutcome(template=template, waits=_waits(of_template), beside=beside, never=never)


def _never(runs: Iterable[ReplayedRun], pools: Sequence[ReplayedPool]) -> Iterable[NeverRun]:
    jobs = Counter((run.job.template, why_never(run.job, pools)) for run in runs if run.route is None)
    for (template, why), number in sorted(jobs.items(), key=lambda pair: (-pair[1], pair[0])):
        yield NeverRun(template=template, jobs=number, why=why)


def why_never(job: ReplayedJob, pools: Sequence[ReplayedPool]) -> str:
    """Return the reason why a job never runs: `needs 4 a3-highgpu-8g, and h100/workers has 2 at most`."""
    for machine in dict.fromkeys(group.machine for group in job.machines):
        needs = sum(group.count for group in job.machines if group.machine == machine)
        alike = [pool for pool in pools if pool.machine == machine and pool.bounds]
        if not alike:
            return f"no pool has {machine} with a {machine.disk} disk"
        largest = max(alike, key=lambda pool: pool.bounds[-1].max)
        if largest.bounds[-1].max < needs:
            return f"needs {needs} {machine}, and {largest.label} has {largest.bounds[-1].max} at most"
    machines = sum(group.count for group in job.machines)
    return f"no cluster has all of its {counted(machines, 'machine')}"
