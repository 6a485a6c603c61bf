"""The life of a custom job on machines as pure steps (vertex-rules 3.4): starting, running, restarting, ending."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ...clock import timestamp
from ...nodes.spec import Status
from ...training_settings import TrainingSettings
from . import failures, waiting
from .failures import Restart
from .records import CANCELLED, DEADLINE_EXCEEDED, Job, Outcome, Run, State, changed, ended, halted, running_s


def cancelled(job: Job, run: Run, now: datetime, message: str) -> Job:
    """Return a job that someone ended: at once where it has no machines, CANCELLING until its replicas have ended.

    A job whose end is decided already keeps it.
    """
    outcome = Outcome("JOB_STATE_CANCELLED", CANCELLED, message)
    if run.outcome is not None and not run.outcome.again:
        return job
    if not run.replicas:
        return ended(job, run, outcome, now)
    return changed(job, replace(run, outcome=outcome), "JOB_STATE_CANCELLING", now)


def lost(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """Return a job whose machines go away: another attempt, or the end. One that waits goes on waiting."""
    if run.outcome is not None or not run.replicas:
        return job
    return changed(job, replace(run, outcome=failures.interrupted(run, rules)), run.state, now)


def reservation_ended(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """Return a job whose machines go away with their reservation, as others do but without a moment to end in."""
    after = lost(job, run, now, rules)
    if after is job or after.run is None or after.run.outcome is None:
        return job
    told = after.telling("The reservation of the job's machines has ended, and its VMs were deleted.", "WARNING")
    return changed(told, replace(after.run, outcome=replace(after.run.outcome, grace_s=0.0)), run.state, now)


def preempted(job: Job, run: Run, now: datetime, replica: str, notice_s: float | None) -> Job:
    """Return a Spot job that loses the machine of a replica, and with it its attempt."""
    if run.outcome is not None or not run.replicas:
        return job
    notice = f", with a notice of {notice_s:g} s" if notice_s else ""
    told = job.telling(f"The Spot VM of replica {replica} was preempted{notice}.", "WARNING")
    return changed(told, replace(run, outcome=Outcome("preempted", grace_s=notice_s or 0.0)), run.state, now)


def advanced(job: Job, run: Run, seen: Mapping[str, Status], now: datetime, rules: TrainingSettings) -> Job:
    """Return a started job after a look at its replicas (by name)."""
    if run.outcome is None:
        verdict = failures.verdict(run, seen, rules) or _timed_out(run, now, rules)
        if isinstance(verdict, Restart):
            return _restarted(job, run, verdict, now, rules)
        if verdict is not None:
            # A job that is over before it was seen running has run all the same.
            ran = verdict.state == "JOB_STATE_SUCCEEDED" or all(
                item.phase in ("running", "exited") for item in seen.values()
            )
            over = ran and run.state == "JOB_STATE_PENDING"
            run = replace(_begun(run, seen, now) if over else run, outcome=verdict)
            job = changed(_runs(job) if over else job, run, "JOB_STATE_RUNNING" if over else run.state, now)
    if run.outcome is not None:
        return _closed(job, run, run.outcome, seen, now, rules)
    if run.state == "JOB_STATE_PENDING" and all(status.phase != "starting" for status in seen.values()):
        return changed(_runs(job), _begun(run, seen, now), "JOB_STATE_RUNNING", now)
    return job


def _runs(job: Job) -> Job:
    """Return the running job with the service's own log line, as logs of real jobs have it."""
    return job.telling("Job is running.")


def _begun(run: Run, seen: Mapping[str, Status], now: datetime) -> Run:
    """Return the run, RUNNING since the last of its replicas began, which may be a while before this look."""
    moment = max((status.began for status in seen.values() if status.began), default=timestamp(now))
    return replace(run, start_time=run.start_time or moment, running_since=moment)


def _restarted(job: Job, run: Run, restart: Restart, now: datetime, rules: TrainingSettings) -> Job:
    """Return a job whose workers run again: in place while the others go on, or the whole job in the places it has."""
    worn = {**run.worn, **{name: run.worn.get(name, 0) + 1 for name in restart.names}}
    told = job
    for name in restart.names:
        words = "the whole job" if restart.whole else "it"
        told = told.telling(
            f"The replica {name} ended before its work was done; restarting {words} "
            f"(restart {worn[name]} of {rules.worker_restarts}).",
            "WARNING",
        )
    if restart.whole:
        return changed(told, replace(run, worn=worn, outcome=Outcome("restart")), run.state, now)
    return changed(told, replace(_again(run, restart.names, now), worn=worn), run.state, now)


def _again(run: Run, names: Sequence[str], now: datetime) -> Run:
    """Return the run with these replicas to be started once more, where they were."""
    lost = timestamp(now)
    replicas = [
        replace(item, restarts=item.restarts + 1, lost=lost) if item.name in names else item for item in run.replicas
    ]
    return replace(run, replicas=tuple(replicas))


def _closed(
    job: Job, run: Run, outcome: Outcome, seen: Mapping[str, Status], now: datetime, rules: TrainingSettings
) -> Job:
    """Return a job whose attempt is decided, once all replicas have ended."""
    if not all(status.ended for status in seen.values()):
        return job
    over = datetime.fromisoformat(max(status.over or timestamp(now) for status in seen.values()))
    if not outcome.again:
        return ended(job, run, outcome, now, over)
    run = halted(run, over)
    if outcome.state == "restart":
        again = _again(replace(run, outcome=None), [item.name for item in run.replicas], now)
        return changed(job, again, "JOB_STATE_PENDING", now)
    if outcome.state == "preempted":
        return _preempted(job, run, now, rules)
    told = job.telling(f"Attempt {run.attempt} of the job has failed; retrying the job.", "WARNING")
    again = replace(run, attempt=run.attempt + 1, replicas=(), outcome=None, worn={})
    return waiting.waiting(told, again, now)


def _preempted(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    ran = timedelta(seconds=round(run.ran_s))
    told = job.telling(f"STOCKOUT: the job has no machines any more. It has run for {ran}; waiting is not billed.")
    again = replace(run, attempt=run.attempt + 1, preemptions=run.preemptions + 1, replicas=(), outcome=None)
    gone = changed(told, again, "JOB_STATE_PENDING", now)
    assert gone.run is not None
    return waiting.resumed(gone, gone.run, now, rules)


def _timed_out(run: Run, now: datetime, rules: TrainingSettings) -> Outcome | None:
    if running_s(run, now) < run.timeout_s:
        return None
    state: State = "JOB_STATE_FAILED" if rules.timeout_state == "JOB_STATE_FAILED" else "JOB_STATE_CANCELLED"
    return Outcome(state, DEADLINE_EXCEEDED, f"The job ran longer than its timeout of {run.timeout_s:g} s.")
