"""A training pipeline, which follows the job behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from ..collection import Kind
from ..names import location_of
from ..resources import Followed
from .rules import Task

KIND = Kind(
    "TrainingPipeline",
    "/trainingPipelines",
    "resource",
    "trainingPipelines",
    trains=True,
    filtered=("displayName", "state", "trainingTaskDefinition", "createTime", "labels"),
)
SUFFIXES: Mapping[Task, str] = {"custom": "-custom-job", "tuning": "-hyperparameter-tuning-job"}
_METADATA: Mapping[Task, str] = {"custom": "backingCustomJob", "tuning": "backingHyperparameterTuningJob"}
_NOT_FOUND, _INTERNAL = 5, 13


@dataclass(frozen=True)
class Pipeline:
    """A pipeline: its body for people, the full name of the job behind it, and the directory of that job's output."""

    body: Mapping[str, Any]
    task: Task
    job: str
    output: str
    over: bool = False

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def region(self) -> str:
        return location_of(self.name)


PIPELINES = Followed(kind="trainingPipeline", record=Pipeline, key=attrgetter("name"))


def metadata(task: Task, job: str, best: str | None = None) -> dict[str, Any]:
    """Return the training task's metadata: the job behind the pipeline, and that of a tuning job's best trial."""
    return {_METADATA[task]: job} | ({"bestTrialBackingCustomJob": best} if best else {})


def followed(pipeline: Pipeline, job: Mapping[str, Any] | None, best: str | None, now: str) -> Pipeline:
    """Return the pipeline after a look at its job (None: gone). A success is written later, with the model."""
    if job is None:
        return failed(pipeline, _NOT_FOUND, f"The job {pipeline.job} does not exist any more.", now)
    state = job["state"].replace("JOB_STATE", "PIPELINE_STATE")
    if state == "PIPELINE_STATE_EXPIRED":
        state = "PIPELINE_STATE_FAILED"
    body = {**pipeline.body, "trainingTaskMetadata": metadata(pipeline.task, pipeline.job, best)}
    if "startTime" in job:
        body["startTime"] = job["startTime"]
    if state in ("PIPELINE_STATE_FAILED", "PIPELINE_STATE_CANCELLED"):
        error = job.get("error", {"code": _INTERNAL, "message": f"The job {pipeline.job} ended as {job['state']}."})
        ended = {"state": state, "error": error, "endTime": job.get("endTime", now), "updateTime": now}
        return replace(pipeline, body=body | ended, over=True)
    if state == "PIPELINE_STATE_SUCCEEDED":
        state = "PIPELINE_STATE_RUNNING"
    if body == pipeline.body and state == pipeline.body["state"]:
        return pipeline
    return replace(pipeline, body=body | {"state": state, "updateTime": now})


def failed(pipeline: Pipeline, code: int, message: str, now: str) -> Pipeline:
    """Return the pipeline at its end, with an error of its own."""
    error = {"code": code, "message": message}
    ended = {"state": "PIPELINE_STATE_FAILED", "error": error, "endTime": now, "updateTime": now}
    return replace(pipeline, body={**pipeline.body, **ended}, over=True)


def succeeded(pipeline: Pipeline, model: Mapping[str, Any] | None, end_time: str, now: str) -> Pipeline:
    """Return the pipeline at its good end, with the model it uploaded."""
    body = {**pipeline.body, "state": "PIPELINE_STATE_SUCCEEDED", "endTime": end_time, "updateTime": now}
    if model is not None:
        named = {key: model[key] for key in ("name", "versionId", "artifactUri") if key in model}
        body["modelToUpload"] = {**body["modelToUpload"], **named}
    return replace(pipeline, body=body, over=True)
