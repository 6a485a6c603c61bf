"""Charges: the cost of machines within a time, by the job that had them; and of pools' machines that no job had. Pure.

A job's share of a pool is its machines for as long as it had them, at the price of such a machine. The rest of the
machines that were up is idle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from slipway.model.prices import Price, Usd, hourly
from slipway.operating.history.model import MachinesUsed, PastJob, PoolKey
from slipway.operating.history.timeline import PoolSpan, PoolTimeline

_NOTICED = 0.01
"""The unrecorded share of a time below which it is taken for none."""


@dataclass(frozen=True)
class JobCharge:
    """The cost of equal machines of a job."""

    job: PastJob
    machines: MachinesUsed
    #: Machine hours.
    hours: float
    cost: Price


@dataclass(frozen=True)
class IdleRow:
    """Machines of a pool that no job had."""

    #: `CLUSTER/POOL`
    pool: str
    machine: str
    #: Without a job.
    machine_hours: float
    accelerator_hours: float
    #: All hours of the pool's machines.
    live_machine_hours: float
    #: Hours of the clock for which the number of machines was recorded.
    known_hours: float
    #: Hours of the clock for which it was not: where these count, `cost` is not complete.
    unknown_hours: float
    cost: Usd
    cost_complete: bool
    #: Jobs that could not be read may have had some of these machines, which then cost less.
    at_most: bool = False

    @property
    def partly_unknown(self) -> bool:
        return self.unknown_hours > _NOTICED * (self.known_hours + self.unknown_hours)

    @property
    def share(self) -> float:
        """The share of the live machine hours."""
        return self.machine_hours / self.live_machine_hours if self.live_machine_hours else 0.0


def job_charges(jobs: Iterable[PastJob], since: datetime, until: datetime, now: datetime) -> Iterator[JobCharge]:
    """Yield the charges of jobs within a time.

    A run that only overlaps it is charged its share. Unfinished runs have run until `now`.
    """
    for job in jobs:
        share = _share(job, since, until, now)
        if job.busy is None or not share:
            continue
        for machines in job.machines:
            hours = machines.count * job.busy * share / 3600
            cost = hourly(machines.machine, job.region, job.capacity_type) * Decimal(str(hours))
            if job.lost is None and cost.known:  # It may have had no machines for a while.
                cost = replace(cost, at_most=True)
            yield JobCharge(job=job, machines=machines, hours=hours, cost=cost)


def idle_charges(
    timelines: Iterable[PoolTimeline], jobs: Iterable[PastJob], since: datetime, until: datetime, now: datetime
) -> Iterator[IdleRow]:
    """Yield a row for each pool that existed within a time, also where nothing of it was idle, or known.

    An adopted cluster is paid for by its creator. Unfinished runs have run until `now`.
    """
    changes: dict[PoolKey, dict[datetime, float]] = defaultdict(lambda: defaultdict(float))
    for job in jobs:
        for key, begin, end, machines in _stays(job, now):
            if begin < until and end > since:
                changes[key][max(begin, since)] += machines
                changes[key][end] -= machines
    for timeline in timelines:
        spans = [span for span in timeline.spans if span.begin < until and span.end > since]
        if not spans:
            continue
        hours, live, known, unknown = _hours(spans, changes[timeline.key], since, until)
        at_most = timeline.jobs_unread and bool(hours)
        cost = Price()
        if not timeline.cluster.adopted:
            cost = timeline.pool.price_per_hour * Decimal(str(hours))
            complete = cost.complete and unknown <= _NOTICED * (known + unknown)
            cost = replace(cost, complete=complete, at_most=cost.at_most or at_most)
        yield IdleRow(
            pool=timeline.name,
            machine=str(timeline.pool.machine),
            machine_hours=hours,
            accelerator_hours=hours * timeline.pool.machine.accelerator_count,
            live_machine_hours=live,
            known_hours=known,
            unknown_hours=unknown,
            cost=cost,
            cost_complete=cost.complete,
            at_most=at_most,
        )


def _stays(job: PastJob, now: datetime) -> Iterator[tuple[PoolKey, datetime, datetime, float]]:
    """Yield the beginning, the end and the machines of a job's stays on the pools of its cluster; none for a job beside
    the pools. The machines are an average, as trials come and go."""
    if job.started is None or not job.cluster_id:
        return
    end = job.ended or now
    run = (end - job.started).total_seconds()
    if run > 0:
        share = 1.0 if job.busy is None else min(1.0, job.busy / run)
        for used in job.machines:
            yield PoolKey(job.cluster_id, used.pool), job.started, end, used.count * share


def _share(job: PastJob, since: datetime, until: datetime, now: datetime) -> float:
    if job.started is None:
        return 0.0
    end = max(job.ended or now, job.started)
    run, inside = end - job.started, min(end, until) - max(job.started, since)
    if not run:
        return float(since <= job.started <= until)
    return max(0.0, inside / run)


def _hours(
    spans: Sequence[PoolSpan], changes: Mapping[datetime, float], since: datetime, until: datetime
) -> tuple[float, float, float, float]:
    """Return the idle and the live machine hours, and the recorded and unrecorded hours of the clock. `changes`: those
    of the number of machines in use."""
    idle = live = known = unknown = used = 0.0
    moments = iter(sorted(changes))
    moment = next(moments, None)
    for span in spans:
        at, end = max(span.begin, since), min(span.end, until)
        # Between two moments of change the number of machines in use is the same.
        while at < end:
            while moment is not None and moment <= at:
                used += changes[moment]
                moment = next(moments, None)
            then = end if moment is None else min(end, moment)
            hours = (then - at).total_seconds() / 3600
            if span.live is None:
                unknown += hours
            else:
                known += hours
                live += span.live * hours
                idle += max(0.0, span.live - used) * hours
            at = then
    return 0.0 if idle < 1e-9 else idle, live, known, unknown
