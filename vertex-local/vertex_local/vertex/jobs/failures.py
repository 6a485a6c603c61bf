"""The meaning of replicas' ends for their job (vertex-rules 3.4). Pure.

The chief's success is the job's. An exit of user code is permanent, but for crash signals, after which the whole job is
tried again. An end from outside - a machine that went away, a signal from elsewhere - restarts the worker.
"""

import signal
from collections.abc import Mapping
from dataclasses import dataclass

from ...nodes.spec import Status
from ...training_settings import TrainingSettings
from .records import Outcome, Run

INVALID_ARGUMENT, INTERNAL = 3, 13
_OUT_OF_MEMORY = 137
_CRASHES = (int(signal.SIGABRT), 128 + signal.SIGABRT, int(signal.SIGSEGV), 128 + signal.SIGSEGV)
_GONE = ("lost", "stopped", "killed")


@dataclass(frozen=True)
class Restart:
    """A restart of these replicas."""

    names: tuple[str, ...]
    #: The whole job is restarted with them.
    whole: bool


def verdict(run: Run, seen: Mapping[str, Status], rules: TrainingSettings) -> Outcome | Restart | None:
    """Return what is to happen after a look at a run's replicas (by name); None is nothing."""
    chief = next(replica for replica in run.replicas if replica.chief)
    if seen[chief.name] == Status("exited"):
        return Outcome("JOB_STATE_SUCCEEDED")
    for name, status in seen.items():
        if status.phase == "unready":
            text = f"The replica {name} could not start. {status.message}"
            return Outcome("JOB_STATE_FAILED", INVALID_ARGUMENT, text)
        if status.phase == "exited" and status.code and status.code not in rules.restart_codes:
            return _failed(run, name, status.code, rules)
    gone = {name: item for name, item in seen.items() if item.phase in _GONE or (item.phase == "exited" and item.code)}
    if not gone:
        return None
    if all(item.phase in ("lost", "stopped") for item in gone.values()) and all(item.ended for item in seen.values()):
        return interrupted(run, rules)
    return _worn(run, gone, rules)


def interrupted(run: Run, rules: TrainingSettings) -> Outcome:
    """Return the outcome for a run that lost all machines at once, the service's error: three attempts in all."""
    if run.may_retry and run.failures + 1 < rules.job_retries:
        return Outcome("retry")
    return Outcome("JOB_STATE_FAILED", INTERNAL, "Internal error occurred for the current attempt.")


def _worn(run: Run, gone: Mapping[str, Status], rules: TrainingSettings) -> Outcome | Restart:
    """Return a restart of the workers, until one of them was restarted too often: then the whole job is tried again."""
    if run.may_retry and all(run.worn.get(name, 0) < rules.worker_restarts for name in gone):
        return Restart(tuple(gone), run.restart_whole)
    if run.may_retry and run.failures < rules.job_retries:
        return Outcome("retry")
    name, status = next(iter(gone.items()))
    if status.phase == "exited":
        return Outcome("JOB_STATE_FAILED", INVALID_ARGUMENT, _words(name, status.code))
    return Outcome("JOB_STATE_FAILED", INTERNAL, "Internal error occurred for the current attempt.")


def _failed(run: Run, name: str, code: int, rules: TrainingSettings) -> Outcome:
    if code in _CRASHES and run.may_retry and run.failures < rules.job_retries:
        return Outcome("retry")
    return Outcome("JOB_STATE_FAILED", INVALID_ARGUMENT, _words(name, code))


def _words(name: str, code: int) -> str:
    if code == _OUT_OF_MEMORY:
        return f"The replica {name} ran out of memory and exited with a non-zero status of {code}."
    reason = "Signal" if code > 128 else "Error"
    return f"The replica {name} exited with a non-zero status of {code}. Termination reason: {reason}."
