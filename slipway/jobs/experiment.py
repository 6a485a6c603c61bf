"""Ending the run of an experiment with its job, as the Vertex SDK does when it waits for one."""

from __future__ import annotations

from slipway.cloud.failures import CloudError, Conflict
from slipway.cloud.metadata import CANCELLED, COMPLETE, FAILED, RUNNING, Metadata
from slipway.cloud.resources import CustomJob

_STATES = {"JOB_STATE_SUCCEEDED": COMPLETE, "JOB_STATE_CANCELLED": CANCELLED}
_TRIES = 3


def end_run(metadata: Metadata, job: CustomJob) -> str:
    """Gives the run of an ended job its state, unless it has ended already. Says in words why that could not be done.

    Empty when all is done, and for a job of no run. Nothing is raised: the job itself is not concerned.
    """
    if not job.experiment_run or not job.ended:
        return ""
    try:
        _end(metadata, job.experiment_run, _STATES.get(job.state, FAILED))
    except CloudError as problem:
        hint = f" ({problem.fix})" if problem.fix else ""
        return f"the experiment's run {job.experiment_run.rsplit('/', 1)[-1]} keeps its state: {problem.message}{hint}"
    return ""


def _end(metadata: Metadata, name: str, state: str) -> None:
    for attempt in range(1, _TRIES + 1):
        run = metadata.context(name)
        if run.state not in ("", RUNNING):
            return  # The code has ended it itself.
        try:
            metadata.set_state(run, state)
        except Conflict:
            if attempt == _TRIES:
                raise
        else:
            return
