"""The lineage of pipeline jobs in ML Metadata: contexts of the pipeline and of the run, an execution of the run and of
each task, and the artifacts that tasks make and take.

The SDK alone tells what the service keeps (an experiment's submissions and data frame,
`get_pipeline_df`): a pipeline's context has its name, a run's the job's id, and parameters are `input:NAME`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...documents import Body
from ...world import World
from ..collection import Documents, Kind
from ..metadata import links
from ..metadata.kinds import ARTIFACT, CONTEXT, EXECUTION
from ..metadata.metadata_stores import DEFAULT, used
from . import definition
from .definition import Task
from .records import BILLING_LABEL, PipelineJob, TaskRun, task_id

_PIPELINE, _RUN, _VERSION = "system.Pipeline", "system.PipelineRun", "0.0.1"
_LONGEST_ID = 128
_TASK_STATES = {"RUNNING": "RUNNING", "SUCCEEDED": "COMPLETE", "FAILED": "FAILED", "CANCELLED": "CANCELLED"}
_RUN_STATES = {
    "PIPELINE_STATE_PENDING": "NEW",
    "PIPELINE_STATE_SUCCEEDED": "COMPLETE",
    "PIPELINE_STATE_FAILED": "FAILED",
    "PIPELINE_STATE_CANCELLED": "CANCELLED",
}


def begun(world: World, job: PipelineJob) -> PipelineJob:
    """Return a new job with its contexts; its execution is kept, too. Within a transaction."""
    used(world, _store(job))
    title = str(job.body["pipelineSpec"].get("pipelineInfo", {}).get("name", ""))
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_ID] or "pipeline"
    run = _context(world, f"{_store(job)}/contexts/{job.id}", _RUN, job.id, {"metadata": {"pipeline_id": job.name}})
    pipeline = _context(world, f"{_store(job)}/contexts/{plain}", _PIPELINE, title, {})
    contexts = Documents(world, CONTEXT)
    made = contexts.find(run)
    if pipeline not in made.get("parentContexts", ()):
        contexts.keep({**made, "parentContexts": [*made.get("parentContexts", ()), pipeline]})
    known = replace(job, contexts=(pipeline, run))
    _keep_run(world, known)
    return known


def recorded(world: World, before: PipelineJob, after: PipelineJob, declared: Mapping[str, Task]) -> None:
    """Keep what has changed of a run: executions, and artifacts with the events of who made and took them. Within a
    transaction."""
    for path, run in after.tasks.items():
        if run != before.tasks[path] and run.state in _TASK_STATES:
            _keep_task(world, after, declared[path], run)
    _keep_run(world, after)


def contexts(world: World, job: PipelineJob) -> Body:
    """Return the contexts of a run as its detail shows them; without one that somebody deleted."""
    found = zip(("pipelineContext", "pipelineRunContext"), job.contexts, strict=False)
    return {key: body for key, name in found if (body := Documents(world, CONTEXT).look(name))}


def execution(world: World, job: PipelineJob, path: str) -> Body | None:
    """Return the execution of a task that has begun."""
    return Documents(world, EXECUTION).look(_execution(job, task_id(job, path)))


def artifact_name(job: PipelineJob, task: Task, key: str) -> str:
    """Return the full name of an output's artifact, which is made when the task has succeeded."""
    keys = sorted(task.component.get("outputDefinitions", {}).get("artifacts", {}))
    return f"{_store(job)}/artifacts/{task_id(job, task.path)}{keys.index(key):03}"


def _keep_run(world: World, job: PipelineJob) -> None:
    given, known = job.body["runtimeConfig"].get("parameterValues", {}), definition.parameters(job.body["pipelineSpec"])
    inputs = {name: given.get(name, defined.get("defaultValue")) for name, defined in known.items()}
    body = {
        "displayName": job.id,
        "schemaTitle": "system.Run",
        "state": _RUN_STATES.get(job.body["state"], "RUNNING"),
        "metadata": {f"input:{name}": value for name, value in inputs.items() if value is not None},
    }
    _keep(world, EXECUTION, _execution(job, job.body["labels"][BILLING_LABEL]), body, job.contexts)


def _keep_task(world: World, job: PipelineJob, task: Task, run: TaskRun) -> None:
    name = _execution(job, task_id(job, task.path))
    values = {f"input:{key}": value for key, value in run.inputs.items()}
    body = {
        "displayName": task.path.rpartition(".")[2],
        "schemaTitle": "system.ContainerExecution",
        "state": _TASK_STATES[run.state],
        "metadata": values | {f"output:{key}": value for key, value in run.outputs.items()},
    }
    _keep(world, EXECUTION, name, body, job.contexts)
    for key, artifact in run.artifacts.items():
        made = {
            "displayName": key,
            "uri": artifact["uri"],
            "schemaTitle": artifact["type"].get("schemaTitle", "system.Artifact"),
            "state": "LIVE",
            "metadata": artifact.get("metadata", {}),
        }
        _keep(world, ARTIFACT, artifact["name"], made, job.contexts)
        _tell(world, name, artifact["name"], "OUTPUT")
        if made["schemaTitle"].endswith("Metrics"):
            # `get_pipeline_df` looks for metrics among the outputs of the run.
            _tell(world, _execution(job, job.body["labels"][BILLING_LABEL]), artifact["name"], "OUTPUT")
    for source in task.artifacts.values():
        taken = job.tasks[source.task].artifacts.get(source.key)
        if taken:
            _tell(world, name, taken["name"], "INPUT")


def _tell(world: World, name: str, artifact: str, kind: str) -> None:
    if not any((event["artifact"], event["type"]) == (artifact, kind) for event in links.events(world.store, name)):
        links.record(world.store, {"artifact": artifact, "execution": name, "eventTime": world.now(), "type": kind})


def _context(world: World, name: str, schema: str, title: str, more: Mapping[str, Any]) -> str:
    """Make a context, unless it is there, and return its full name: another one where that is of another kind."""
    old = Documents(world, CONTEXT).look(name)
    if old is not None and old.get("schemaTitle") != schema:
        return _context(world, f"{name}-{schema.rpartition('.')[2].lower()}", schema, title, more)
    _keep(world, CONTEXT, name, {"displayName": title, "schemaTitle": schema, **more}, ())
    return name


def _keep(world: World, kind: Kind, name: str, body: Mapping[str, Any], contexts: Sequence[str]) -> None:
    """Keep a node as it is now, in contexts."""
    nodes = Documents(world, kind)
    old = nodes.look(name)
    body = {**body, "schemaVersion": _VERSION}
    if old is None:
        nodes.add(name, body)
    elif any(old.get(key) != value for key, value in body.items()):
        nodes.change({**old, **body})
    for context in contexts:
        links.join(world.store, context, name)


def _execution(job: PipelineJob, number: str) -> str:
    return f"{_store(job)}/executions/{number}"


def _store(job: PipelineJob) -> str:
    return f"{job.name.partition('/pipelineJobs/')[0]}/metadataStores/{DEFAULT}"
