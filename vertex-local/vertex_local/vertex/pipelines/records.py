"""A training pipeline, which follows the job behind it."""

from collections.abc import Mapping
from typing import Any

from .. import conditions
from ..collection import Kind
from ..conditions import Field
from ..tables import Entry, ResourceTable
from .rules import Task

_DEFINITION = Field("json_extract(body, '$.trainingTaskDefinition')", ("=", "!=", ":"))
PIPELINES = ResourceTable(
    kind=Kind("TrainingPipeline", "/trainingPipelines", "resource", "trainingPipelines", trains=True),
    table="training_pipelines",
    first=6_000_000_000_000_000_000,
    fields={**conditions.FIELDS, "trainingTaskDefinition": _DEFINITION},
)
SUFFIXES: Mapping[Task, str] = {"custom": "-custom-job", "tuning": "-hyperparameter-tuning-job"}
_METADATA: Mapping[Task, str] = {"custom": "backingCustomJob", "tuning": "backingHyperparameterTuningJob"}
_NOT_FOUND, _INTERNAL = 5, 13


def metadata(task: Task, job: str, best: str | None = None) -> dict[str, Any]:
    """Return the training task's metadata: the job behind the pipeline, and that of a tuning job's best trial."""
    return {_METADATA[task]: job} | ({"bestTrialBackingCustomJob": best} if best else {})


def followed(entry: Entry, job: Mapping[str, Any] | None, best: str | None, now: str) -> Entry:
    """Return the pipeline after a look at its job (None when it is gone). A success is left to be written with the
    model."""
    work = entry.work or {}
    if job is None:
        return failed(entry, _NOT_FOUND, f"The job {work['job']} does not exist any more.", now)
    state = job["state"].replace("JOB_STATE", "PIPELINE_STATE")
    if state == "PIPELINE_STATE_EXPIRED":
        state = "PIPELINE_STATE_FAILED"
    body = {**entry.body, "trainingTaskMetadata": metadata(work["task"], work["job"], best)}
    if "startTime" in job:
        body["startTime"] = job["startTime"]
    if state in ("PIPELINE_STATE_FAILED", "PIPELINE_STATE_CANCELLED"):
        error = job.get("error", {"code": _INTERNAL, "message": f"The job {work['job']} ended as {job['state']}."})
        ended = {"endTime": job.get("endTime", now), "updateTime": now}
        return Entry(entry.number, {**body, "state": state, "error": error, **ended}, None)
    if state == "PIPELINE_STATE_SUCCEEDED":
        state = "PIPELINE_STATE_RUNNING"
    if body == entry.body and state == entry.body["state"]:
        return entry
    return Entry(entry.number, {**body, "state": state, "updateTime": now}, entry.work)


def failed(entry: Entry, code: int, message: str, now: str) -> Entry:
    """Return the pipeline at its end, with an error of its own."""
    error = {"code": code, "message": message}
    body = {**entry.body, "state": "PIPELINE_STATE_FAILED", "error": error, "endTime": now, "updateTime": now}
    return Entry(entry.number, body, None)


def succeeded(entry: Entry, model: Mapping[str, Any] | None, end_time: str, now: str) -> Entry:
    """Return the pipeline at its good end, with the model it uploaded."""
    body = {**entry.body, "state": "PIPELINE_STATE_SUCCEEDED", "endTime": end_time, "updateTime": now}
    if model is not None:
        named = {key: model[key] for key in ("name", "versionId", "artifactUri") if key in model}
        body["modelToUpload"] = {**entry.body["modelToUpload"], **named}
    return Entry(entry.number, body, None)
