"""A job's account: how long it waited and ran, and what its machines cost meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from slipway.capacity import POOL
from slipway.cloud.jobs import VertexJob
from slipway.prices import Price, hourly


@dataclass(frozen=True)
class JobCost:
    """Seconds from create to start and from start to end, each up to now while it lasts; None for what never came.

    `cost` is None of what never ran. Machines of a pool are paid for anyway. A tuning job's are those of all trials
    that run at once, and its cost that of each trial's own time.
    """

    capacity_type: str
    wait: float | None
    run: float | None
    per_hour: Price
    cost: Price | None

    @property
    def paid_anyway(self) -> bool:
        return self.capacity_type == POOL


def job_cost(job: VertexJob, region: str, now: datetime) -> JobCost:
    end = job.end_time or now
    wait = _seconds(job.create_time, job.start_time or end)
    run = _seconds(job.start_time, end)
    used = (pool for pool in job.worker_pools if pool.replicas)
    each = sum((hourly(pool.machine, region, job.capacity_type) * pool.replicas for pool in used), Price())
    cost = None if run is None else each * (Decimal(str(_with_trials(job, run, end))) / 3600)
    return JobCost(job.capacity_type, wait, run, each * job.trials, cost)


def _with_trials(job: VertexJob, run: float, end: datetime) -> float:
    """Seconds that the machines of one spec were in use, those of all trials together. Where the service tells no times
    of trials, as if as many as may ran from beginning to end."""
    times = [_seconds(trial.start_time, trial.end_time or end) for trial in job.tried]
    return run * job.trials if None in times or not times else sum(time or 0.0 for time in times)


def _seconds(begin: datetime | None, end: datetime | None) -> float | None:
    return None if begin is None or end is None else max(0.0, (end - begin).total_seconds())
