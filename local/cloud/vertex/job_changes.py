"""What every step in a custom job's life is made of: a change that goes on, and an end. Pure."""

from dataclasses import replace
from datetime import datetime

from local.cloud.clock import timestamp
from local.cloud.vertex.job import ENDED, Outcome, Run, State
from local.cloud.vertex.jobs import Job

CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED = 1, 4, 8


def changed(job: Job, run: Run, state: State, now: datetime) -> Job:
    """A job that goes on in a state. Its time in RUNNING is counted when it leaves that."""
    body = {**job.body, "state": state, "updateTime": timestamp(now)}
    if run.start_time:
        body["startTime"] = run.start_time
    if run.state == "JOB_STATE_RUNNING" and state not in ("JOB_STATE_RUNNING", "JOB_STATE_CANCELLING"):
        run = replace(run, ran_s=running_s(run, now), running_since=None)
    return Job(body, replace(run, state=state), job.said)


def ended(job: Job, run: Run, outcome: Outcome, now: datetime) -> Job:
    """A job at its end: nothing is left to do for it."""
    assert outcome.state in ENDED
    moment = timestamp(now)
    body = {**job.body, "state": outcome.state, "endTime": moment, "updateTime": moment}
    if run.start_time:
        body["startTime"] = run.start_time
    if outcome.state != "JOB_STATE_SUCCEEDED":
        body["error"] = {"code": outcome.code, "message": outcome.message}
    return Job(body, None, job.said)


def running_s(run: Run, now: datetime) -> float:
    """Seconds in RUNNING, in all attempts together."""
    since = run.running_since or run.start_time
    if run.state != "JOB_STATE_RUNNING" or since is None:
        return run.ran_s
    return run.ran_s + (now - datetime.fromisoformat(since)).total_seconds()
