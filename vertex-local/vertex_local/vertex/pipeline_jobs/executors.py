"""What the executor of a task is told: its inputs, and where its outputs go."""

from collections.abc import Mapping
from typing import Any

from . import lineage, values
from .definition import Task
from .records import PipelineJob, task_id

OUTPUT = "executor_output.json"


def executor_input(job: PipelineJob, task: Task, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the task's container is told of its inputs, and of where its outputs go."""
    component, place = task.component, folder(job, task)
    defined, root = component.get("outputDefinitions", {}), values.path(place)
    outputs = {
        key: {"artifacts": [_declared(job, task, key, item["artifactType"], f"{place}/{key}")]}
        for key, item in defined.get("artifacts", {}).items()
    }
    given = {
        key: {"artifacts": [job.tasks[source.task].artifacts[source.key]]}
        for key, source in task.artifacts.items()
        if source.key in job.tasks[source.task].artifacts
    }
    return {
        "inputs": {"parameterValues": dict(inputs), "artifacts": given},
        "outputs": {
            "parameters": {key: {"outputFile": f"{root}/{key}"} for key in defined.get("parameters", {})},
            "artifacts": outputs,
            "outputFile": f"{root}/{OUTPUT}",
        },
    }


def folder(job: PipelineJob, task: Task) -> str:
    root = job.body["runtimeConfig"]["gcsOutputDirectory"].rstrip("/")
    return f"{root}/{job.id}/{task_id(job, task.path)}"


def _declared(job: PipelineJob, task: Task, key: str, kind: Mapping[str, Any], uri: str) -> dict[str, Any]:
    return {"name": lineage.artifact_name(job, task, key), "type": kind, "uri": uri, "metadata": {}}
