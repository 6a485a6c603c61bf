"""The run of an experiment that a job belongs to: made before the job, as the service takes it only then, and ended
with it, as the Vertex SDK does when it waits for one.
"""

from __future__ import annotations

import contextlib

from slipway.cloud.failures import CloudError, Conflict, NotFound
from slipway.cloud.jobs import VertexJob
from slipway.cloud.metadata import CANCELLED, COMPLETE, EXPERIMENT, FAILED, RUN, RUNNING, Metadata
from slipway.context import Context
from slipway.submission.request import Request


def create_run(context: Context, request: Request) -> None:
    """Makes the run that the request names, and its experiment, as far as they are not there. Raises CloudError.

    Done again it changes nothing. A request that names none needs no call.
    """
    spec = request.kind.spec_of(request.body)
    experiment, run = spec.get("experiment", ""), spec.get("experimentRun", "")
    if not experiment or not run:
        return
    metadata = context.connection.metadata(context.catalog.region)
    title = experiment.rsplit("/", 1)[-1]
    metadata.make(run, RUN, run.rsplit("/", 1)[-1].removeprefix(f"{title}-"))
    try:
        metadata.add_child(experiment, run)
    except NotFound:
        metadata.make(experiment, EXPERIMENT, title)
        metadata.add_child(experiment, run)


_STATES = {"JOB_STATE_SUCCEEDED": COMPLETE, "JOB_STATE_CANCELLED": CANCELLED}
_TRIES = 3


def end_run(context: Context, job: VertexJob) -> str:
    """Gives the run of an ended job its state, unless it has ended already; of a job with a TensorBoard and no run of
    its own those that its logs have there. Says in words why that could not be done.

    Empty when all is done, and for a job of no run. Nothing is raised: the job itself is not concerned.
    """
    if not job.ended or not (job.experiment_run or (job.tensorboard and job.kind.runs_itself)):
        return ""
    metadata = context.connection.metadata(context.catalog.region)
    try:
        if job.experiment_run:
            _end(metadata, job.experiment_run, job)
        else:
            for run in metadata.runs_of_logs(job.tensorboard, job.name):
                with contextlib.suppress(NotFound):  # The service makes a run's context after the run.
                    _end(metadata, run, job)
    except CloudError as problem:
        hint = f" ({problem.fix})" if problem.fix else ""
        run = job.experiment_run.rsplit("/", 1)[-1] or f"of {job.display_name}'s logs"
        return f"the experiment's run {run} keeps its state: {problem.message}{hint}"
    return ""


def _end(metadata: Metadata, name: str, job: VertexJob) -> None:
    state = _STATES.get(job.state, FAILED)
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
