"""The life of a tuning job as pure steps: the looks at its trials, their early stops, its end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from . import reports, stopping
from .records import Ending, Tuning
from .reports import Report
from .study import Study
from .trial import Trial

_CANCELLED, _ABORTED = 1, 10
Progress = Literal["queued", "pending", "running", "succeeded", "ended"]


@dataclass(frozen=True)
class Seen:
    """A trial's custom job as a look shows it: `queued` has no machines, `pending` starts, `ended` did not succeed."""

    progress: Progress
    start_time: str | None = None
    end_time: str | None = None
    #: Why it did not succeed.
    message: str = ""
    #: Those new since the last look.
    reports: tuple[Report, ...] = ()
    #: The times up to which reports were read, by replica.
    read: Mapping[str, float] = field(default_factory=dict)


def observed(tuning: Tuning, seen: Mapping[str, Seen], now: str) -> Tuning:
    """Return the job after a look at its open trials (by id): their measurements, and those that are over."""
    study = tuning.study
    for trial in tuning.open_trials:
        sight = seen[trial.id]
        changed = replace(trial, start_time=trial.start_time or sight.start_time)
        read = tuning.read
        # Code may report before the job's start is written; its elapsed time is not known until then.
        if sight.reports and changed.start_time:
            start = datetime.fromisoformat(changed.start_time).timestamp()
            changed = replace(changed, measurements=reports.merged(trial.measurements, sight.reports, study, start))
            read = {**read, **{f"{trial.id}/{replica}": time for replica, time in sight.read.items()}}
        if sight.progress in ("succeeded", "ended"):
            changed = _closed(changed, sight, study, tuning.ending, now)
        tuning = replace(tuning.with_trial(changed), read=read)
    state, start_time = _standing(tuning, seen, now)
    # The times of reading matter as long as there may be more to read.
    going_on = {trial.id for trial in tuning.open_trials}
    read = {key: time for key, time in tuning.read.items() if key.partition("/")[0] in going_on}
    return replace(tuning, state=state, start_time=start_time, read=read)


def decided(tuning: Tuning, now: datetime, failed_trials: int) -> Tuning:
    """Return the job after its decisions: trials that stop early, no more trials, the way it ends. `failed_trials` is
    how many may fail where the job does not say."""
    if tuning.ending is not None:
        return tuning
    study = tuning.study
    for trial in tuning.trials:
        if trial.state == "ACTIVE" and stopping.hopeless(trial, tuning.trials, study):
            tuning = tuning.with_trial(replace(trial, state="STOPPING"))
    failed = [trial for trial in tuning.trials if trial.state == "INFEASIBLE"]
    limit = int(tuning.declared.get("maxFailedTrialCount", 0)) or failed_trials
    if len(failed) >= limit:
        message = f"Too many failed trials: {len(failed)}. The last one, trial {failed[-1].id}: {failed[-1].reason}"
        return ended_by(tuning, Ending("JOB_STATE_FAILED", _ABORTED, message))
    if not tuning.closed:
        tuning = _closing(tuning, study, now)
    if tuning.closed and not tuning.open_trials:
        return replace(tuning, ending=_outcome(tuning))
    return tuning


def wanted(tuning: Tuning) -> int:
    """Return how many trials may begin now."""
    if tuning.ending is not None or tuning.closed:
        return 0
    parallel = int(tuning.declared["parallelTrialCount"])
    return max(0, min(parallel - len(tuning.open_trials), tuning.max_trials - len(tuning.trials)))


def cancelled(tuning: Tuning) -> Tuning:
    """Return a job that someone ended: CANCELLING until its trials have ended, or ending as it was."""
    if tuning.ending is not None:
        return tuning
    stopped = ended_by(tuning, Ending("JOB_STATE_CANCELLED", _CANCELLED, "The job was cancelled."))
    return replace(stopped, state="JOB_STATE_CANCELLING")


def ended_by(tuning: Tuning, ending: Ending) -> Tuning:
    """Return a job that is to end so: its open trials stop."""
    return replace(_stopped(tuning), ending=ending)


def over(tuning: Tuning) -> bool:
    return tuning.ending is not None and not tuning.open_trials


def end_time(before: Tuning, after: Tuning, now: str) -> str:
    """Return when a job ended that is over after a look: with the last of the trials that were open before it."""
    last = {trial.id for trial in before.open_trials}
    return max((trial.end_time for trial in after.trials if trial.id in last and trial.end_time), default=now)


def _standing(tuning: Tuning, seen: Mapping[str, Seen], now: str) -> tuple[str, str | None]:
    """Return state and start time, by what the trials' jobs do."""
    if tuning.state == "JOB_STATE_CANCELLING":
        return tuning.state, tuning.start_time
    started = [sight.start_time or now for sight in seen.values() if sight.progress == "running" or sight.start_time]
    if tuning.start_time or started:
        return "JOB_STATE_RUNNING", tuning.start_time or min(started)
    waits = all(sight.progress == "queued" for sight in seen.values())
    return "JOB_STATE_QUEUED" if waits else "JOB_STATE_PENDING", None


def _closed(trial: Trial, sight: Seen, study: Study, ending: Ending | None, now: str) -> Trial:
    """Return a trial whose job is over. One that was stopped early counts with its measurements so far."""
    trial = replace(trial, end_time=sight.end_time or now)
    early = trial.state == "STOPPING" and ending is None
    if sight.progress == "ended" and not early:
        return replace(trial, state="INFEASIBLE", reason=ending.message if ending else sight.message)
    final = reports.final(trial.measurements, study)
    if final is None:
        names = ", ".join(f"'{name}'" for name in reports.missing(trial.measurements, study))
        return replace(trial, state="INFEASIBLE", reason=f"The trial did not report the metric {names}.")
    return replace(trial, state="SUCCEEDED", final=final)


def _closing(tuning: Tuning, study: Study, now: datetime) -> Tuning:
    if len(tuning.trials) >= tuning.max_trials:
        return replace(tuning, closed="all trials were made")
    why = stopping.over(study, tuning.trials, tuning.declared["createTime"], now)
    if why and study.stopping.get("shouldStopAsap"):
        tuning = _stopped(tuning)
    return replace(tuning, closed=why)


def _stopped(tuning: Tuning) -> Tuning:
    for trial in tuning.open_trials:
        tuning = tuning.with_trial(replace(trial, state="STOPPING"))
    return tuning


def _outcome(tuning: Tuning) -> Ending:
    if any(trial.state == "SUCCEEDED" for trial in tuning.trials):
        return Ending("JOB_STATE_SUCCEEDED")
    last = f" The last one: {tuning.trials[-1].reason}" if tuning.trials else ""
    return Ending("JOB_STATE_FAILED", _ABORTED, f"No trial succeeded.{last}")
