"""Usage: machine hours, waits and costs by user or another grouping; and idle machines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.base.codec import MaybeText
from slipway.base.errors import ConfigError
from slipway.base.formatting import nearest, quoted
from slipway.model.labels import AGENT_LABEL, SESSION_LABEL, shown_name
from slipway.model.prices import Price, Usd
from slipway.operating.history.charges import IdleRow, JobCharge, idle_charges, job_charges
from slipway.operating.history.model import History, MachinesUsed, PastJob
from slipway.operating.history.races import RaceUsage, lost_legs, race_usage
from slipway.operating.history.timeline import timelines
from slipway.operating.history.waits import Waits

LABEL = "label:"
SESSIONS = "sessions"
BY = ("user", "team", "template", "pool", "agent", "session", f"{LABEL}KEY")


@dataclass(frozen=True)
class UsageRow:
    """The usage of jobs of one name. Costs are in USD."""

    #: Empty for jobs without a name.
    name: MaybeText
    #: Jobs of one name, as of a race or of one that has made room, count once.
    jobs: int
    machine_hours: float
    accelerator_hours: float
    #: Of jobs that were sent within the time and have started.
    waits: Waits
    #: Of pools' machines.
    pool_cost: Usd
    #: Of machines beside the pools.
    beside_cost: Usd
    cost: Usd
    #: False where some cost has no known price, or was not recorded or read.
    cost_complete: bool
    #: Some jobs may have had no machines for a while.
    cost_at_most: bool


@dataclass(frozen=True)
class Usage:
    """The usage of a stack from `since` until `until`."""

    stack: str
    since: datetime
    until: datetime
    #: The grouping, one of `BY`.
    by: str
    #: The dearest first.
    rows: tuple[UsageRow, ...]
    idle: tuple[IdleRow, ...]
    #: Of all jobs, and of idle machines, as far as they are known.
    total: UsageRow
    #: The races of regions among the jobs, each of which counts as one; None without any.
    races: RaceUsage | None = None
    unread: tuple[str, ...] = ()


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
    groupings = {grouping: names_by(grouping) for grouping in by}
    since, until = history.since, history.until
    charges = tuple(job_charges(history.jobs, since, until, until))
    idle = tuple(_idle(idle_charges(timelines(history), history.jobs, since, until, until)))
    lost = lost_legs(history.jobs)
    sent = [job for job in history.jobs if job.created and job.created >= since and job.name not in lost]
    jobs = {job.name: job for job in (*(charge.job for charge in charges), *sent) if job.name not in lost}
    total = _row("", tuple(jobs.values()), charges, since, idle, all_read=not history.jobs_unread)
    return {
        grouping: Usage(
            stack=history.stack,
            since=since,
            until=until,
            by=grouping,
            rows=_rows(name_of, charges, sent, since, lost),
            idle=idle,
            total=total,
            races=race_usage(jobs.values(), charges, lost),
            unread=history.unread,
        )
        for grouping, name_of in groupings.items()
    }


def _rows(
    name_of: Names, charges: Iterable[JobCharge], sent: Iterable[PastJob], since: datetime, lost: frozenset[str]
) -> tuple[UsageRow, ...]:
    """Return a row for each name, the dearest first. `sent`: the jobs sent within the time, whatever their end. `lost`:
    legs of races that count as no jobs, though as costs."""
    charges_of: dict[str, list[JobCharge]] = {}
    jobs_of: dict[str, dict[str, PastJob]] = {}
    for charge in charges:
        name = name_of(charge.job, charge.machines)
        charges_of.setdefault(name, []).append(charge)
        known = jobs_of.setdefault(name, {})
        if charge.job.name not in lost:
            known[charge.job.name] = charge.job
    for job in sent:
        for name in {name_of(job, machines) for machines in job.machines} or {name_of(job, None)}:
            jobs_of.setdefault(name, {})[job.name] = job
    rows = (_row(name, tuple(jobs.values()), charges_of.get(name, []), since) for name, jobs in jobs_of.items())
    return tuple(sorted(rows, key=lambda row: (-row.cost.known, -row.jobs, row.name)))


def pool_name(job: PastJob, machines: MachinesUsed | None) -> str:
    """Return `h100/workers`; the cluster alone where its pool is not known, and the capacity type beside the pools."""
    if not job.cluster_id:
        return job.capacity_type
    return f"{job.cluster}/{machines.pool}" if machines and machines.pool else job.cluster


_NAMES: Mapping[str, Names] = {
    "user": lambda job, _: job.user,
    "team": lambda job, _: job.team,
    "template": lambda job, _: job.template,
    "agent": lambda job, _: job.labels.get(AGENT_LABEL, ""),
    "session": lambda job, _: shown_name(job.display_name, job.labels) if SESSION_LABEL in job.labels else "",
    SESSIONS: lambda job, _: SESSIONS if SESSION_LABEL in job.labels else "",
    "pool": pool_name,
}


def _row(
    name: str,
    jobs: Collection[PastJob],
    charges: Collection[JobCharge],
    since: datetime,
    idle: Collection[IdleRow] = (),
    *,
    all_read: bool = True,
) -> UsageRow:
    """Return a name's row. `all_read` is False where there are unread jobs beside the pools."""
    waits = (job.waited for job in jobs if job.created and job.created >= since)
    of_pools = sum((charge.cost for charge in charges if charge.job.cluster_id), Price())
    # Unread jobs on pools may have had some idle machines: together they cost the same, so this is no upper bound.
    of_pools += sum((Price(row.cost.known, row.cost_complete) for row in idle), Price())
    beside = sum((charge.cost for charge in charges if not charge.job.cluster_id), Price(complete=all_read))
    cost = of_pools + beside
    return UsageRow(
        name=name,
        jobs=len({job.display_name if job.request_id else job.name for job in jobs}),
        machine_hours=sum(charge.hours for charge in charges) + sum(row.machine_hours for row in idle),
        accelerator_hours=sum(charge.hours * charge.machines.machine.accelerator_count for charge in charges)
        + sum(row.accelerator_hours for row in idle),
        waits=Waits.of(wait for wait in waits if wait is not None),
        pool_cost=of_pools,
        beside_cost=beside,
        cost=cost,
        cost_complete=cost.complete,
        cost_at_most=cost.at_most,
    )


def _idle(rows: Iterable[IdleRow]) -> Iterator[IdleRow]:
    """Yield a row for each pool, its generations together."""
    by_name: dict[str, list[IdleRow]] = {}
    for row in rows:
        by_name.setdefault(row.pool, []).append(row)
    for generations in by_name.values():
        cost = sum((row.cost for row in generations), Price())
        yield replace(
            generations[-1],
            machine_hours=sum(row.machine_hours for row in generations),
            accelerator_hours=sum(row.accelerator_hours for row in generations),
            live_machine_hours=sum(row.live_machine_hours for row in generations),
            known_hours=sum(row.known_hours for row in generations),
            unknown_hours=sum(row.unknown_hours for row in generations),
            cost=cost,
            cost_complete=cost.complete,
            at_most=any(row.at_most for row in generations),
        )
