"""A job that waits, as pure steps: for quota, stocks, flex-start, after a preemption (vertex-rules 3.4, 4.1)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ...clock import timestamp
from ...training_settings import TrainingSettings
from .records import DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, Job, Outcome, Replica, Run, State, changed, ended

_INSUFFICIENT = "Resources are insufficient in region: {}. Try a different region or use a different accelerator."


def insufficient(region: str) -> str:
    """Return the service's words for a stock-out."""
    return _INSUFFICIENT.format(region)


def waiting(job: Job, run: Run, now: datetime) -> Job:
    """Return a job that begins to wait for machines, and has looked for none yet."""
    deadline = None if run.max_wait_s is None else timestamp(now + timedelta(seconds=run.max_wait_s))
    return changed(job, replace(run, deadline=deadline, due=None, tries=0), "JOB_STATE_QUEUED", now)


def placed(job: Job, run: Run, replicas: Sequence[Replica], now: datetime) -> Job:
    """Return a waiting job that got machines: PENDING until all its replicas run."""
    told = job.telling(f"All {_listed(run)} of the job are there.") if run.flex and run.tries else job
    got = replace(run, replicas=tuple(replicas), due=None, deadline=None, tries=0)
    return changed(told, got, "JOB_STATE_PENDING", now)


def without_quota(job: Job, run: Run, now: datetime) -> Job:
    """Return a waiting job whose quota is in use by others: QUEUED until it is free."""
    return _now(job, run, "JOB_STATE_QUEUED", now)


def behind(job: Job, run: Run, now: datetime) -> Job:
    """Return a flex-start job that has others before it."""
    return _now(job, run, "JOB_STATE_PENDING", now)


def without_machines(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """Return a waiting job that looked for machines when there were none."""
    if run.flex:
        return _in_flex_queue(job, run, now)
    if run.preemptions:
        return resumed(job, run, now, rules)
    tries = run.tries + 1
    told = job.telling(
        f"STOCKOUT: {_listed(run)} were not available. {insufficient(run.region)} "
        f"(try {tries} of {rules.stockout_tries})",
        "ERROR",
    )
    if tries >= rules.stockout_tries:
        return ended(told, run, Outcome("JOB_STATE_FAILED", RESOURCE_EXHAUSTED, insufficient(run.region)), now)
    return _later(told, replace(run, tries=tries), rules.delay(rules.stockout_retry_seconds), now)


def resumed(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """Return a Spot job that lost its machines: it is restarted later, if it was not too often already."""
    may = run.may_retry or rules.spot_disable_retries == "restart"
    if not may or run.restarts >= rules.spot_restarts:
        text = f"STOCKOUT: Spot VMs were preempted; the job was restarted {run.restarts} times. "
        outcome = Outcome("JOB_STATE_FAILED", RESOURCE_EXHAUSTED, text + insufficient(run.region))
        return ended(job, run, outcome, now)
    seconds = rules.delay(rules.spot_restart_seconds)
    again = replace(run, restarts=run.restarts + 1)
    told = job.telling(
        f"Restarting the job after preemption (restart {again.restarts} of {rules.spot_restarts}) in {seconds:g} s, "
        "as soon as there are Spot VMs.",
        "WARNING",
    )
    return _later(told, again, seconds, now)


def expired(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """Return a flex-start job whose longest wait is over."""
    state: State = "JOB_STATE_EXPIRED" if rules.flex_expiry_state == "JOB_STATE_EXPIRED" else "JOB_STATE_FAILED"
    text = (
        f"The job waited for its max wait duration of {run.max_wait_s or 0:g} s and its resources were not available. "
        f"{insufficient(run.region)}"
    )
    return ended(job.telling(text, "ERROR"), run, Outcome(state, DEADLINE_EXCEEDED, text), now)


def _in_flex_queue(job: Job, run: Run, now: datetime) -> Job:
    if run.tries:
        return _now(job, run, "JOB_STATE_PENDING", now)
    until = f"until {run.deadline}" if run.deadline else "for as long as it takes"
    told = job.telling(f"Waiting {until} for {_listed(run)} to be available at the same time (FLEX_START).")
    return changed(told, replace(run, tries=1), "JOB_STATE_PENDING", now)


def _later(job: Job, run: Run, seconds: float, now: datetime) -> Job:
    return changed(job, replace(run, due=timestamp(now + timedelta(seconds=seconds))), "JOB_STATE_PENDING", now)


def _now(job: Job, run: Run, state: State, now: datetime) -> Job:
    return job if run.state == state else changed(job, run, state, now)


def _listed(run: Run) -> str:
    counts: Counter[str] = Counter()
    for item in run.demands:
        counts[item.shape.machine_type] += item.count
    return ", ".join(f"{count} {machine}" for machine, count in counts.items())
