"""The run of an experiment that a job is to belong to: the service takes a job only when both are there."""

from __future__ import annotations

from slipway.cloud.failures import NotFound
from slipway.cloud.metadata import EXPERIMENT, RUN, Metadata
from slipway.submit.request import Request


def join(metadata: Metadata, request: Request) -> None:
    """Makes the run that the request names, and its experiment, as far as they are not there. Raises CloudError.

    Done again it changes nothing. A request that names none needs no call.
    """
    spec = request.kind.spec_of(request.body)
    experiment, run = spec.get("experiment", ""), spec.get("experimentRun", "")
    if not experiment or not run:
        return
    title = experiment.rsplit("/", 1)[-1]
    metadata.make(run, RUN, run.rsplit("/", 1)[-1].removeprefix(f"{title}-"))
    try:
        metadata.add_child(experiment, run)
    except NotFound:
        metadata.make(experiment, EXPERIMENT, title)
        metadata.add_child(experiment, run)
