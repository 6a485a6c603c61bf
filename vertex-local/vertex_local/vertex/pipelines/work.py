"""The work behind training pipelines: looks at their jobs and uploads the models made by them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...wire import ApiError
from ...world import World
from ..jobs import table as jobs
from ..models import registration
from ..models.registration import UnusableError
from ..scheduling import submission
from ..tuning import work as tuning_work
from ..tuning.records import TUNING_JOBS
from . import records
from .records import PIPELINES, Pipeline

_INVALID_ARGUMENT, _NOT_FOUND, _ALREADY_EXISTS = 3, 5, 6
_CODES = {"NOT_FOUND": _NOT_FOUND, "ALREADY_EXISTS": _ALREADY_EXISTS}


def step(world: World) -> bool:
    """Move every pipeline on once and return whether any is under way."""
    alive = PIPELINES.alive(world.store)
    for pipeline in alive:
        _advance(world, pipeline)
    return bool(alive)


def cancel(world: World, pipeline: Pipeline) -> None:
    """End a pipeline that is not over, with its job. Within a transaction."""
    if pipeline.task == "custom":
        submission.cancel(world, pipeline.job, "The training pipeline was cancelled.")
    else:
        job = TUNING_JOBS.get(world.store, pipeline.job)
        if job is not None and not job.over:
            tuning_work.cancel(world, job)
    body = {**pipeline.body, "state": "PIPELINE_STATE_CANCELLING", "updateTime": world.now()}
    PIPELINES.put(world.store, replace(pipeline, body=body))


def _advance(world: World, pipeline: Pipeline) -> None:
    """Take a pipeline's step in one transaction, so that a model is uploaded once and its pipeline knows of it."""
    now = world.now()
    job, best_trial = _look(world, pipeline)
    best_job = best_trial[1] if best_trial else None
    seen = records.followed(pipeline, job, best_job, now)
    over = str(job["endTime"]) if job is not None and job["state"] == "JOB_STATE_SUCCEEDED" else ""
    if seen is pipeline and not over:
        return
    with world.store.transaction():
        if PIPELINES.get(world.store, pipeline.name) != pipeline:
            return
        if over:
            seen = _finished(world, seen, best_trial[0] if best_trial else None, over, now)
        PIPELINES.put(world.store, seen)


def _finished(world: World, pipeline: Pipeline, best: str | None, over: str, now: str) -> Pipeline:
    """Return a pipeline whose job succeeded `over` at that time, with its model uploaded."""
    declared = pipeline.body.get("modelToUpload")
    if not declared:
        return records.succeeded(pipeline, None, over, now)
    model = registration.declared(declared)
    if not model.get("artifactUri"):
        directory = pipeline.output.rstrip("/")
        model["artifactUri"] = f"{directory}/{best}/model" if best else f"{directory}/model"
    ids = {"model_id": pipeline.body.get("modelId", ""), "parent": pipeline.body.get("parentModel", "")}
    try:
        made = registration.upload(world, pipeline.region, model, pipeline=pipeline.name, **ids)
    except UnusableError as error:
        return records.failed(pipeline, _INVALID_ARGUMENT, f"The model could not be uploaded. {error}", now)
    except ApiError as error:
        code = _CODES.get(error.status, _INVALID_ARGUMENT)
        return records.failed(pipeline, code, f"The model could not be uploaded. {error.message}", now)
    return records.succeeded(pipeline, made, now, now)


def _look(world: World, pipeline: Pipeline) -> tuple[Mapping[str, Any] | None, tuple[str, str] | None]:
    """Return the body of a pipeline's job, and a tuning job's best trial: its id and its custom job."""
    if pipeline.task == "custom":
        job = jobs.get(world.store, pipeline.job)
        return (job.body if job else None), None
    tuning_job = TUNING_JOBS.get(world.store, pipeline.job)
    if tuning_job is None:
        return None, None
    best = tuning_job.best()
    return tuning_job.body, (best.id, best.job) if best else None
