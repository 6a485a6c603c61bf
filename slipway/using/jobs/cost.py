"""A job's account: how long it waited and ran, and what its machines cost meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from slipway.google.jobs import VertexJob
from slipway.model.capacity import POOL, SPOT
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import UNKNOWN, Price, per_hour
from slipway.using.jobs.log import JobEvents


@dataclass(frozen=True)
class JobCost:
    """A job's times and cost. A tuning job's machines are those of all concurrent trials, and its cost is that of each
    trial's own time."""

    #: Machines of a pool are paid for anyway.
    capacity_type: str
    #: Seconds from create to start, up to now while it waits; None where the create time is unknown.
    wait: float | None
    #: Seconds from start to end, up to now while it runs; None for a job that never ran.
    run: float | None
    per_hour: Price
    #: None for a job that never ran.
    cost: Price | None
    #: Seconds of `run` without machines, as events tell.
    without: float = 0.0
    #: There may be more such seconds, so that the cost is an upper bound.
    untold: bool = False
    #: Seconds that `cost` covers, at `per_hour`; None for a job that never ran.
    busy: float | None = None

    @property
    def paid_anyway(self) -> bool:
        return self.capacity_type == POOL


def needs_events(job: VertexJob) -> bool:
    return job.capacity_type == SPOT and job.start_time is not None


def job_cost(job: VertexJob, region: str, now: datetime, events: JobEvents | None = None) -> JobCost:
    """Return a job's account. `events`: those of the service's log, None where they were not read. A pipeline's cost is
    that of its parts, and unknown where they were not read."""
    end = job.end_time or now
    wait = _seconds(job.create_time, job.start_time or end)
    run = _seconds(job.start_time, end)
    machines = (MachineGroup(pool.machine, pool.replicas) for pool in job.worker_pools if pool.replicas)
    each = UNKNOWN if job.kind is PIPELINE_JOB else per_hour(machines, region, job.capacity_type)
    without, untold = _without_machines(job, end, events) if needs_events(job) else (0.0, False)
    paid = None if run is None else max(0.0, _with_trials(job, run, end) - without)
    cost = None if paid is None else each * (Decimal(str(paid)) / 3600)
    if job.parts is not None and run is not None:
        cost = sum((part.cost for part in (job_cost(part, region, now) for part in job.parts) if part.cost), Price())
    if cost and untold:
        cost = replace(cost, at_most=True)
    busy = None if paid is None else paid / job.trials
    return JobCost(
        capacity_type=job.capacity_type,
        wait=wait,
        run=run,
        per_hour=each * job.trials,
        cost=cost,
        without=without,
        untold=untold,
        busy=busy,
    )


def _without_machines(job: VertexJob, end: datetime, events: JobEvents | None) -> tuple[float, bool]:
    """Sum the seconds from each preemption to the next run; tell whether some preemptions are unknown."""
    if events is None or events.why or events.more:
        return 0.0, True
    seconds, untold = 0.0, False
    lost: dict[str, datetime] = {}  # The time since which each trial has no machines.
    for event in events.all:
        if event.at is None:
            untold = untold or event.kind == "preemption"
        elif event.kind == "preemption":
            lost.setdefault(event.trial, event.at)
        elif event.kind == "running" and event.trial in lost:
            seconds += _seconds(lost.pop(event.trial), event.at) or 0.0
    if job.waits:  # The state of a waiting job tells that it has not run since.
        seconds += sum(_seconds(since, end) or 0.0 for since in lost.values())
        lost = {}
    return seconds, untold or bool(lost)


def _with_trials(job: VertexJob, run: float, end: datetime) -> float:
    """Sum the seconds of all trials; all of them, from beginning to end, where the service tells no times."""
    times = [_seconds(trial.start_time, trial.end_time or end) for trial in job.tried]
    return run * job.trials if None in times or not times else sum(time or 0.0 for time in times)


def _seconds(begin: datetime | None, end: datetime | None) -> float | None:
    return None if begin is None or end is None else max(0.0, (end - begin).total_seconds())
