"""A job's idle accelerators: the time that they are idle, and its cost. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from statistics import median

from slipway.base.formatting import join, percent, span, span_before
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import ACCELERATOR, Point
from slipway.google.worker_pools import WorkerPool
from slipway.model.machines.table import all_accelerators
from slipway.model.prices import Price, Usd, bounded, hourly
from slipway.using.jobs.cost import JobCost
from slipway.using.jobs.roles import REPLICA
from slipway.using.jobs.utilization import Utilization, UtilizationRow

IDLE_BELOW = 0.05
"""The share of a sample's time below which an accelerator counts as idle."""
_USUAL_STEP = 60.0
_UNTOLD, _UNTOLD_S = 0.05, 90.0
"""The unmeasured share of a job's time, and the unmeasured seconds, up to which no message tells of them."""
_MISSED = 2.5
"""Steps between two samples beyond which the time between them counts as unmeasured."""


@dataclass(frozen=True)
class IdleAccelerators:
    """A job's accelerators and their idle time. Seconds are those of the average accelerator, for a tuning job those of
    all trials together."""

    #: Their kinds, as the API calls them.
    accelerators: tuple[str, ...]
    count: int
    #: The accelerator was there for so long.
    paid_seconds: float
    measured_seconds: float
    idle_seconds: float
    #: `idle_seconds` as a share of the measured ones.
    share: float
    #: The number that were idle in all of their samples; None for a tuning job.
    unused: int | None
    #: The cost of the idle time, known as far as the prices of the machines are.
    cost: Usd
    #: The cost of the job, known likewise.
    of_cost: Usd


@dataclass(frozen=True)
class _Time:
    """Seconds of the accelerators that one series is of."""

    pool: WorkerPool
    #: The number of these accelerators, of those of the pool's machine.
    stands_for: float
    measured: float
    idle: float


def idle_accelerators(usage: Utilization, job: VertexJob, account: JobCost) -> IdleAccelerators | None:
    """Return a job's idle accelerators; None for a job without any, and where none of them was measured."""
    pools = [pool for pool in job.worker_pools if pool.replicas and pool.machine.accelerator]
    count = sum(pool.replicas * pool.machine.accelerator_count for pool in pools)
    times = list(_times(usage, job)) if count else []
    measured = sum(time.measured * time.stands_for for time in times) / count if count else 0.0
    if not measured or not account.busy or account.cost is None:
        return None
    paid = account.busy * job.trials
    each = (
        hourly(time.pool.machine, job.region, job.capacity_type)
        * Decimal(str(time.idle * time.stands_for / time.pool.machine.accelerator_count / 3600))
        for time in times
    )
    idle = sum(time.idle * time.stands_for for time in times) / count
    unused = round(sum(time.stands_for for time in times if 0 < time.measured == time.idle))
    return IdleAccelerators(
        accelerators=tuple(dict.fromkeys(str(pool.machine.accelerator) for pool in pools)),
        count=count,
        paid_seconds=paid,
        measured_seconds=min(measured, paid),
        idle_seconds=min(idle, paid),
        share=idle / measured,
        unused=None if job.kind.has_trials else unused,
        cost=sum(each, Price()),
        of_cost=account.cost,
    )


def idle_words(idle: IdleAccelerators) -> str:
    """Return `8 H100 idle for 31 of 58 min (53 %): $52 of $98`; `at least` where some of the time was not measured."""
    models = {accelerator.name: accelerator.model for accelerator in all_accelerators()}
    names = join(dict.fromkeys(models.get(name, name) for name in idle.accelerators))
    paid, missing = span(idle.paid_seconds), idle.paid_seconds - idle.measured_seconds
    untold = missing > max(_UNTOLD_S, _UNTOLD * idle.paid_seconds)
    least = "at least " if untold else ""
    time = span_before(idle.idle_seconds, idle.paid_seconds)
    share = f", {span(missing)} not measured" if untold else f" ({percent(idle.share)})"
    always = f", {idle.unused} of them all the time" if idle.unused and idle.unused < idle.count else ""
    digits = 0 if idle.of_cost.known >= 10 else 2 if idle.of_cost.known >= 1 else 4
    money = f"${idle.cost.known:,.{digits}f} of ${idle.of_cost.known:,.{digits}f}"
    cost = "" if idle.of_cost.unknown else f": {least}{bounded(money, idle.of_cost)}"
    return f"{idle.count} {names} idle for {least}{time} of {paid}{share}{always}{cost}"


def _times(usage: Utilization, job: VertexJob) -> Iterator[_Time]:
    """Yield the time of each series of a replica's accelerators, which together are all of its machine's."""
    begin, end = job.start_time, job.end_time
    replicas: dict[tuple[str, str], list[UtilizationRow]] = defaultdict(list)
    for row in usage.rows:
        if row.metric == ACCELERATOR:
            replicas[row.job, row.replica].append(row)
    step = usage.period or _step([row.points for rows in replicas.values() for row in rows])
    for (_, task), rows in replicas.items():
        replica = REPLICA.fullmatch(task)
        pool = job.worker_pools[int(replica[1])] if replica and int(replica[1]) < len(job.worker_pools) else None
        if pool is None or begin is None or not pool.machine.accelerator:
            continue
        for row in rows:
            known = [point for point in row.points if begin <= point.at and (end is None or point.at <= end)]
            covered = list(_covered(known, begin, step))
            idle = sum(seconds for point, seconds in covered if point.value < IDLE_BELOW)
            stands_for = pool.machine.accelerator_count / len(rows)
            yield _Time(pool, stands_for, sum(seconds for _, seconds in covered), idle)


def _step(series: Sequence[Sequence[Point]]) -> float:
    gaps = [(after.at - before.at).total_seconds() for points in series for before, after in pairwise(points)]
    return median(gaps) if gaps else _USUAL_STEP


def _covered(points: Sequence[Point], begin: datetime, step: float) -> Iterator[tuple[Point, float]]:
    """Yield each sample with the seconds since the sample before, or one step where samples are missing."""
    before = begin
    for point in points:
        since = (point.at - before).total_seconds()
        yield point, since if since <= _MISSED * step else step
        before = point.at
