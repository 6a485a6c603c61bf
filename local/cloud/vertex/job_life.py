"""The life of a custom job as pure steps (vertex-rules 3.4): queued, put on machines, running, ending, ended."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from local.cloud.clock import timestamp
from local.cloud.nodes.sighting import Sighting
from local.cloud.vertex.job import ENDED, Outcome, Replica, Run, State
from local.cloud.vertex.jobs import Job
from local.cloud.vertex.settings import TrainingSettings

INVALID_ARGUMENT, CANCELLED, DEADLINE_EXCEEDED, INTERNAL = 3, 1, 4, 13
_OUT_OF_MEMORY = 137
_TRANSIENT = (int(signal.SIGABRT), 128 + signal.SIGABRT, int(signal.SIGSEGV), 128 + signal.SIGSEGV)


def placed(job: Job, run: Run, replicas: Sequence[Replica], now: datetime) -> Job:
    """A queued job that got machines: PENDING until all its replicas run."""
    return _changed(job, replace(run, replicas=tuple(replicas)), "JOB_STATE_PENDING", now)


def cancelled(job: Job, run: Run, now: datetime, message: str) -> Job:
    """A job that someone ended: at once where it has no machines, CANCELLING until its replicas ended.

    A job whose end is decided already keeps it.
    """
    outcome = Outcome("JOB_STATE_CANCELLED", CANCELLED, message)
    if run.outcome is not None and run.outcome.state != "retry":
        return job
    if not run.replicas:
        return _ended(job, outcome, now)
    return _changed(job, replace(run, outcome=outcome), "JOB_STATE_CANCELLING", now)


def lost(job: Job, run: Run, now: datetime, rules: TrainingSettings) -> Job:
    """A job whose machines go away: another attempt, or the end. One that waits goes on waiting."""
    if run.outcome is not None or not run.replicas:
        return job
    return _changed(job, replace(run, outcome=_interrupted(run, rules.job_retries)), run.state, now)


def advanced(job: Job, run: Run, seen: Mapping[str, Sighting], now: datetime, rules: TrainingSettings) -> Job:
    """A started job after what was seen of its replicas (by name)."""
    if run.outcome is None:
        outcome = _outcome(run, seen, now, rules)
        if outcome is not None:
            # A job that is over before it was seen running has run all the same.
            over = outcome.state == "JOB_STATE_SUCCEEDED"
            run = replace(_begun(run, now) if over else run, outcome=outcome)
            job = _changed(job, run, "JOB_STATE_RUNNING" if over else run.state, now)
    if run.outcome is not None:
        return _closed(job, run, seen, now)
    if run.state == "JOB_STATE_PENDING" and all(sighting.phase != "starting" for sighting in seen.values()):
        return _changed(job, _begun(run, now), "JOB_STATE_RUNNING", now)
    return job


def _begun(run: Run, now: datetime) -> Run:
    return replace(run, start_time=run.start_time or timestamp(now))


def _closed(job: Job, run: Run, seen: Mapping[str, Sighting], now: datetime) -> Job:
    assert run.outcome is not None
    if not all(sighting.ended for sighting in seen.values()):
        return job
    if run.outcome.state == "retry":
        again = replace(run, attempt=run.attempt + 1, replicas=(), outcome=None)
        return _changed(job, again, "JOB_STATE_QUEUED", now)
    return _ended(job, run.outcome, now)


def _outcome(run: Run, seen: Mapping[str, Sighting], now: datetime, rules: TrainingSettings) -> Outcome | None:
    chief = next(replica for replica in run.replicas if replica.chief)
    if seen[chief.name] == Sighting("exited"):
        return Outcome("JOB_STATE_SUCCEEDED")
    for name, sighting in seen.items():
        if sighting.phase == "unready":
            return Outcome(
                "JOB_STATE_FAILED", INVALID_ARGUMENT, f"The replica {name} could not start. {sighting.message}"
            )
        if sighting.phase in ("lost", "stopped"):
            return _interrupted(run, rules.job_retries)
        if sighting.phase == "exited" and sighting.code:
            return _failed(run, name, sighting.code, rules)
    return _timed_out(run, now, rules)


def _failed(run: Run, name: str, code: int, rules: TrainingSettings) -> Outcome:
    if code in _TRANSIENT and run.may_retry and run.attempt <= rules.job_retries:
        return Outcome("retry")
    if code == _OUT_OF_MEMORY:
        message = f"The replica {name} ran out of memory and exited with a non-zero status of {code}."
    else:
        reason = "Signal" if code > 128 else "Error"
        message = f"The replica {name} exited with a non-zero status of {code}. Termination reason: {reason}."
    return Outcome("JOB_STATE_FAILED", INVALID_ARGUMENT, message)


def _interrupted(run: Run, retries: int) -> Outcome:
    if run.may_retry and run.attempt < retries:
        return Outcome("retry")
    return Outcome("JOB_STATE_FAILED", INTERNAL, "Internal error occurred for the current attempt.")


def _timed_out(run: Run, now: datetime, rules: TrainingSettings) -> Outcome | None:
    if run.start_time is None:
        return None
    if now < datetime.fromisoformat(run.start_time) + timedelta(seconds=run.timeout_s):
        return None
    state: State = "JOB_STATE_FAILED" if rules.timeout_state == "JOB_STATE_FAILED" else "JOB_STATE_CANCELLED"
    return Outcome(state, DEADLINE_EXCEEDED, f"The job ran longer than its timeout of {run.timeout_s:g} s.")


def _ended(job: Job, outcome: Outcome, now: datetime) -> Job:
    assert outcome.state in ENDED
    moment = timestamp(now)
    body = {**job.body, "state": outcome.state, "endTime": moment, "updateTime": moment}
    if outcome.state != "JOB_STATE_SUCCEEDED":
        body["error"] = {"code": outcome.code, "message": outcome.message}
    return Job(body, None)


def _changed(job: Job, run: Run, state: State, now: datetime) -> Job:
    moment = timestamp(now)
    body = {**job.body, "state": state, "updateTime": moment}
    if run.start_time:
        body["startTime"] = run.start_time
    return Job(body, replace(run, state=state))
