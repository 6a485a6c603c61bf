"""A pipeline job, and the runs of its tasks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from ..collection import Kind
from ..names import id_of, location_of
from ..resources import Followed

KIND = Kind(
    "PipelineJob",
    "/pipelineJobs",
    "resource",
    "pipelineJobs",
    trains=True,
    filtered=(
        *("displayName", "state", "createTime", "updateTime", "endTime", "labels"),
        *("templateUri", "templateMetadata.version"),
    ),
    ordered=("createTime", "updateTime", "endTime", "startTime"),
)
BILLING_LABEL = "vertex-ai-pipelines-run-billing-id"
"""The label by which the service ties a pipeline job's resources to it."""
TaskState = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "NOT_TRIGGERED"]


@dataclass(frozen=True)
class TaskRun:
    """The run of a task. Its outputs are known once it has succeeded."""

    state: TaskState = "PENDING"
    #: The full name of the custom job that it runs as.
    job: str = ""
    #: The jobs that it ran as before, and failed.
    tries: int = 0
    #: It runs on machines of its own, as the cluster had none in time.
    fell_back: bool = False
    start_time: str = ""
    end_time: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    #: The artifacts that it made, as executors get them.
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    code: int = 0
    message: str = ""

    @property
    def over(self) -> bool:
        return self.state not in ("PENDING", "RUNNING")


@dataclass(frozen=True)
class PipelineJob:
    """A pipeline job: the canonical body without its tasks' details, and the runs of its tasks by their paths."""

    body: Mapping[str, Any]
    tasks: Mapping[str, TaskRun] = field(default_factory=dict)
    over: bool = False
    #: The full names of the contexts of its pipeline and of itself.
    contexts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def id(self) -> str:
        return id_of(self.name)

    @property
    def region(self) -> str:
        return location_of(self.name)


JOBS = Followed(kind="pipelineJob", record=PipelineJob, key=attrgetter("name"))


def task_id(job: PipelineJob, path: str) -> str:
    """Return the number of a task or of a graph in a pipeline job."""
    return str(int(job.body["labels"][BILLING_LABEL]) + 1 + sorted(_paths(job)).index(path))


def details(job: PipelineJob, execution: Callable[[str], Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return the canonical details of all tasks, those of a graph before the tasks inside of it. `execution` returns
    the one of a task at a path, which has none before it begins."""
    shown = []
    for path in _paths(job):
        run = job.tasks.get(path) or _around([run for at, run in job.tasks.items() if at.startswith(f"{path}.")])
        above, _, name = path.rpartition(".")
        entry: dict[str, Any] = {
            "taskId": task_id(job, path),
            "taskName": name,
            "taskUniqueName": path,
            "createTime": job.body["createTime"],
            "state": run.state,
        }
        if above:
            entry["parentTaskId"] = task_id(job, above)
        entry |= {key: value for key, value in (("startTime", run.start_time), ("endTime", run.end_time)) if value}
        if run.job:
            entry["executorDetail"] = {"containerDetail": {"mainJob": run.job}}
        if run.message:
            entry["error"] = {"code": run.code, "message": run.message}
        if known := execution(path):
            entry["execution"] = dict(known)
        if run.artifacts:
            entry["outputs"] = {key: {"artifacts": [_shown(key, item)]} for key, item in run.artifacts.items()}
        shown.append(entry)
    return shown


def _shown(key: str, artifact: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"name": artifact["name"], "displayName": key, "uri": artifact["uri"]}
    shown |= {"metadata": artifact.get("metadata", {})}
    return shown | {"schemaTitle": artifact["type"].get("schemaTitle", "system.Artifact")}


def _paths(job: PipelineJob) -> list[str]:
    parts = [path.split(".") for path in job.tasks]
    return list(dict.fromkeys(".".join(names[:depth]) for names in parts for depth in range(1, len(names) + 1)))


def _around(inner: list[TaskRun]) -> TaskRun:
    """Return the run of a graph, from those inside of it."""
    states = {run.state for run in inner}
    order: tuple[TaskState, ...] = ("RUNNING", "FAILED", "CANCELLED", "PENDING", "NOT_TRIGGERED")
    state: TaskState = next((state for state in order if state in states), "SUCCEEDED")
    if state == "PENDING" and "SUCCEEDED" in states:
        state = "RUNNING"
    starts = [run.start_time for run in inner if run.start_time]
    ends = [run.end_time for run in inner if run.end_time]
    return TaskRun(state, start_time=min(starts, default=""), end_time=max(ends) if all(r.over for r in inner) else "")
