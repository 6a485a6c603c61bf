"""Usage: machine hours, waits and costs by user or another grouping; and idle machines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.codec import MaybeText
from slipway.base.errors import ConfigError
from slipway.base.formatting import nearest, quoted
from slipway.model.prices import Price, Usd
from slipway.operating.history.charges import IdleCharge, JobCharge, idle_charges, job_charges, partly_unknown
from slipway.operating.history.model import History, MachinesUsed, PastJob
from slipway.operating.history.timeline import timelines
from slipway.operating.history.waits import Waits

LABEL = "label:"
BY = ("user", "team", "template", "pool", f"{LABEL}KEY")


@dataclass(frozen=True)
class UsageRow:
    """Jobs of one name, empty for jobs without one. `waits`: of jobs that were sent within the time and have started.
    Costs in USD: of pools' machines, of machines beside them, and together. Not `cost_complete`: some cost has no known
    price, or was not recorded or read; `cost_at_most`: some jobs may have had no machines for a while."""

    name: MaybeText
    jobs: int
    machine_hours: float
    accelerator_hours: float
    waits: Waits
    pool_cost: Usd
    beside_cost: Usd
    cost: Usd
    cost_complete: bool
    cost_at_most: bool


@dataclass(frozen=True)
class IdleRow:
    """Machines of a pool, `CLUSTER/POOL`, that no job had: `machine_hours` of `live_machine_hours`. `known_hours` and
    `unknown_hours` of the clock: those for which the number of machines was recorded, and those for which it was not.
    `at_most`: jobs that could not be read may have had some of these machines, which then cost less."""

    pool: str
    machine: str
    machine_hours: float
    accelerator_hours: float
    live_machine_hours: float
    known_hours: float
    unknown_hours: float
    cost: Usd
    cost_complete: bool
    at_most: bool = False

    @property
    def partly_unknown(self) -> bool:
        return partly_unknown(self.known_hours, self.unknown_hours)

    @property
    def share(self) -> float:
        """The share of the live machine hours."""
        return self.machine_hours / self.live_machine_hours if self.live_machine_hours else 0.0


@dataclass(frozen=True)
class Usage:
    """Usage of a stack from `since` until `until`, by user, team, template, pool or a label; the dearest first.
    `total`: of all jobs, and of idle machines, as far as they are known."""

    stack: str
    since: datetime
    until: datetime
    by: str
    rows: tuple[UsageRow, ...]
    idle: tuple[IdleRow, ...]
    total: UsageRow
    unread: tuple[str, ...] = field(default=())


Names = Callable[[PastJob, MachinesUsed | None], str]
"""A function that returns the name that a job's machines are counted under; None stands for a job without machines."""


def names_by(by: str) -> Names:
    """Return the function for a grouping. Raises ConfigError for an unknown one."""
    if by.startswith(LABEL) and (key := by.removeprefix(LABEL)):
        return lambda job, _: job.labels.get(key, "")
    if by in _NAMES:
        return _NAMES[by]
    near = nearest(by, _NAMES)
    raise ConfigError(
        f"nothing is counted by {quoted(by)}", why=f"it is one of {', '.join(BY)}", fix=f"--by {near or BY[0]}"
    )


def usage(history: History, by: str = "user") -> Usage:
    """Return usage by a grouping. Raises ConfigError for an unknown one."""
    return usages(history, (by,))[by]


def usages(history: History, by: Iterable[str]) -> Mapping[str, Usage]:
    """Return usage by each of several groupings. Raises ConfigError for an unknown one."""
    names, since, until = {one: names_by(one) for one in by}, history.since, history.until
    charges = tuple(job_charges(history.jobs, since, until, until))
    idle = tuple(_idle(idle_charges(timelines(history), history.jobs, since, until, until)))
    sent = [job for job in history.jobs if job.created and job.created >= since]
    everybody = {job.name: job for job in (*(one.job for one in charges), *sent)}
    total = _row("", everybody.values(), charges, since, idle, all_read=not history.jobs_unread)
    return {
        one: Usage(
            stack=history.stack,
            since=since,
            until=until,
            by=one,
            rows=_rows(named, charges, sent, since),
            idle=idle,
            total=total,
            unread=history.unread,
        )
        for one, named in names.items()
    }


def _rows(named: Names, charges: Iterable[JobCharge], sent: Iterable[PastJob], since: datetime) -> tuple[UsageRow, ...]:
    """Return a row for each name, the dearest first. `sent`: the jobs sent within the time, whatever their end."""
    of_name: dict[str, list[JobCharge]] = {}
    jobs: dict[str, dict[str, PastJob]] = {}
    for charge in charges:
        name = named(charge.job, charge.machines)
        of_name.setdefault(name, []).append(charge)
        jobs.setdefault(name, {})[charge.job.name] = charge.job
    for job in sent:
        for name in {named(job, one) for one in job.machines} or {named(job, None)}:
            jobs.setdefault(name, {})[job.name] = job
    rows = (_row(name, some.values(), of_name.get(name, ()), since) for name, some in jobs.items())
    return tuple(sorted(rows, key=lambda one: (-one.cost.known, -one.jobs, one.name)))


def pool_name(job: PastJob, machines: MachinesUsed | None) -> str:
    """Return `h100/workers`; the cluster alone where its pool is not known, and the capacity type beside the pools."""
    if not job.cluster_id:
        return job.capacity_type
    return f"{job.cluster}/{machines.pool}" if machines and machines.pool else job.cluster


_NAMES: Mapping[str, Names] = {
    "user": lambda job, _: job.user,
    "team": lambda job, _: job.team,
    "template": lambda job, _: job.template,
    "pool": pool_name,
}


def _row(
    name: str,
    jobs: Iterable[PastJob],
    charges: Iterable[JobCharge],
    since: datetime,
    idle: Iterable[IdleRow] = (),
    *,
    all_read: bool = True,
) -> UsageRow:
    """Return a name's row. Not `all_read`: there are unread jobs beside the pools. `idle`: may hold machines that
    unread jobs on pools had."""
    some, unused, counted = tuple(charges), tuple(idle), tuple(jobs)
    waits = (
        (job.started - job.created).total_seconds()
        for job in counted
        if job.created and job.started and job.created >= since
    )
    of_pools = sum((one.cost for one in some if one.job.cluster_id), Price())
    of_pools += sum((Price(one.cost.known, one.cost_complete) for one in unused), Price())
    beside = sum((one.cost for one in some if not one.job.cluster_id), Price(complete=all_read))
    cost = of_pools + beside
    return UsageRow(
        name=name,
        jobs=len(counted),
        machine_hours=sum(one.hours for one in some) + sum(one.machine_hours for one in unused),
        accelerator_hours=sum(one.accelerator_hours for one in some) + sum(one.accelerator_hours for one in unused),
        waits=Waits.of(max(0.0, one) for one in waits),
        pool_cost=of_pools,
        beside_cost=beside,
        cost=cost,
        cost_complete=cost.complete,
        cost_at_most=cost.at_most,
    )


def _idle(charges: Iterable[IdleCharge]) -> Iterator[IdleRow]:
    """Yield a row for each pool, its generations together."""
    by_name: dict[str, list[IdleCharge]] = {}
    for one in charges:
        by_name.setdefault(f"{one.cluster}/{one.key.pool}", []).append(one)
    for name, some in by_name.items():
        cost = sum((one.cost for one in some), Price())
        yield IdleRow(
            pool=name,
            machine=str(some[-1].machine),
            machine_hours=sum(one.hours for one in some),
            accelerator_hours=sum(one.accelerator_hours for one in some),
            live_machine_hours=sum(one.live for one in some),
            known_hours=sum(one.known for one in some),
            unknown_hours=sum(one.unknown for one in some),
            cost=cost,
            cost_complete=cost.complete,
            at_most=any(one.at_most for one in some),
        )
