"""The experiment of a job and its run there, made before the job, as the service takes them only then. The run ends
with the job, as in the Vertex SDK when it waits for a job."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from slipway.base.clock import poll
from slipway.base.formatting import last_part
from slipway.google.answers import region_of
from slipway.google.failures import Call, CloudError, Conflict, NotFound, Unavailable
from slipway.google.jobs import VertexJob
from slipway.google.metadata import BOARD, CANCELLED, COMPLETE, EXPERIMENT, FAILED, RUN, RUNNING, STATE, Metadata
from slipway.using.context import Context
from slipway.using.submission.request import Request

_TRIES = 3
_BOARD_MADE_S, _LOOK_EVERY_S = 300.0, 1.0


def experiment_of(request: Request) -> str:
    """Return the full name of the request's experiment, empty where it names none."""
    return str(request.kind.spec_of(request.body).get("experiment", ""))


def prepare_experiment(context: Context, request: Request) -> None:
    """Make the experiment that the request names, if it does not exist, with the region's default TensorBoard, as the
    SDK's `init` does: without one nothing can log to it. A repetition changes nothing. Raises CloudError."""
    experiment = experiment_of(request)
    if not experiment:
        return
    metadata = context.connection.metadata(region_of(experiment))
    home, title = experiment.partition("/metadataStores/")[0], last_part(experiment)
    for attempt in range(1, _TRIES + 1):
        try:
            existing = metadata.context(experiment)
            if not existing.board:
                metadata.change(existing, BOARD, _default_board(context, metadata, home))
        except NotFound:
            if not metadata.make(experiment, EXPERIMENT, title, _default_board(context, metadata, home)):
                continue  # Somebody has made the experiment meanwhile, with or without a TensorBoard.
        except Conflict:
            if attempt == _TRIES:
                raise
            continue
        return


def _default_board(context: Context, metadata: Metadata, home: str) -> str:
    """Return the default TensorBoard's full name; it is made where the region has none."""
    if board := metadata.default_board(home):
        return board
    operation = metadata.make_default_board(home, f"Default Tensorboard {context.now:%Y-%m-%d %H:%M:%S}")
    clock = context.clock
    for turn in poll(clock.sleep, _LOOK_EVERY_S, within=_BOARD_MADE_S, now=clock.monotonic):
        operation = context.vertex.operation(operation.name) if turn else operation
        if operation.done:
            break
    if board := metadata.default_board(home):
        return board
    raise Unavailable(
        Call("create the default TensorBoard"),
        operation.error or f"it is not there after {_BOARD_MADE_S:.0f} s",
        "submit again, or ask an owner of the project to create one in the console (Vertex AI, Experiments)",
    )


def create_run(context: Context, request: Request, ready: Callable[[], None]) -> None:
    """Make the run that the request names, if it does not exist. `ready` returns when its experiment is prepared; it is
    not called for a request that names none. A repetition changes nothing. Raises CloudError."""
    experiment, run = experiment_of(request), request.kind.spec_of(request.body).get("experimentRun", "")
    if not experiment or not run:
        return
    metadata = context.connection.metadata(region_of(experiment))
    title = last_part(experiment)
    metadata.make(run, RUN, last_part(run).removeprefix(f"{title}-"))
    ready()
    metadata.add_child(experiment, run)


_STATES = {"JOB_STATE_SUCCEEDED": COMPLETE, "JOB_STATE_CANCELLED": CANCELLED}


def end_run(context: Context, job: VertexJob) -> str:
    """Give the run of an ended job its state, unless the run has ended already; for a job with a TensorBoard and no run
    of its own, the runs of its logs there. Return the reason for a failure; empty for success, and for a job of no run.
    Nothing is raised: the job itself is not affected."""
    if not job.ended or not (job.experiment_run or (job.tensorboard and job.kind.runs_itself)):
        return ""
    metadata = context.connection.metadata(region_of(job.experiment_run or job.tensorboard))
    try:
        if job.experiment_run:
            _end(metadata, job.experiment_run, job)
        else:
            for run in metadata.runs_of_logs(job.tensorboard, job.name):
                with contextlib.suppress(NotFound):  # The service makes a run's context after the run.
                    _end(metadata, run, job)
    except CloudError as problem:
        run = last_part(job.experiment_run) or f"of {job.display_name}'s logs"
        return f"the experiment's run {run} keeps its state: {problem.message} ({problem.fix})"
    return ""


def _end(metadata: Metadata, name: str, job: VertexJob) -> None:
    state = _STATES.get(job.state, FAILED)
    for attempt in range(1, _TRIES + 1):
        run = metadata.context(name)
        if run.state not in ("", RUNNING):
            return  # The code has ended its run itself.
        try:
            metadata.change(run, STATE, state)
        except Conflict:
            if attempt == _TRIES:
                raise
        else:
            return
