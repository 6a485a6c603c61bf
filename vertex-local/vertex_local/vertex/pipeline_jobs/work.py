"""The work behind pipeline jobs: looks at tasks' custom jobs, takes their outputs, starts the tasks that may begin."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...storage.records import Records
from ...wire import ApiError
from ...world import World
from ..clusters.records import CLUSTERS
from ..collection import canonical
from ..jobs import table as jobs
from ..names import id_of
from ..scheduling import submission
from ..tuning.records import child_name
from . import definition, executors, lineage, machines, rules, values
from .definition import Source, Task
from .records import BILLING_LABEL, JOBS, PipelineJob, TaskRun, task_id

_CANCELLED, _INVALID_ARGUMENT, _DEADLINE_EXCEEDED, _FAILED_PRECONDITION = 1, 3, 4, 9


def step(world: World) -> bool:
    """Move every pipeline job on once and return whether any is under way."""
    alive = JOBS.alive(world.store)
    for job in alive:
        _advance(world, job)
    return bool(alive)


def cancel(world: World, job: PipelineJob) -> None:
    """End a pipeline job that is not over, and its tasks' jobs. Within a transaction."""
    for run in job.tasks.values():
        if run.state == "RUNNING":
            submission.cancel(world, run.job, "The pipeline job was cancelled.")
    body = {**job.body, "state": "PIPELINE_STATE_CANCELLING", "updateTime": world.now()}
    JOBS.put(world.store, replace(job, body=body))


def _advance(world: World, job: PipelineJob) -> None:
    """Take a step in one transaction, so that no task is started twice."""
    with world.store.transaction():
        if JOBS.get(world.store, job.name) != job:
            return
        declared = {task.path: task for task in definition.tasks(job.body["pipelineSpec"])}
        seen = replace(job, tasks={path: _seen(world, job, declared[path], run) for path, run in job.tasks.items()})
        stops = seen.body["state"] == "PIPELINE_STATE_CANCELLING"
        fast = seen.body["runtimeConfig"].get("failurePolicy") == "PIPELINE_FAILURE_POLICY_FAIL_FAST"
        stops = stops or (fast and any(run.state == "FAILED" for run in seen.tasks.values()))
        for path, task in declared.items():
            if seen.tasks[path].state == "PENDING":
                seen = replace(seen, tasks={**seen.tasks, path: _begun(world, seen, task, stops=stops)})
        seen = _told(seen, world.now())
        if seen != job:
            JOBS.put(world.store, replace(seen, body={**seen.body, "updateTime": world.now()}))
            lineage.recorded(world, job, seen, declared)
            world.changed.set()


def _told(job: PipelineJob, now: str) -> PipelineJob:
    """Return the job with the state that its tasks give it."""
    runs = job.tasks.values()
    starts = [run.start_time for run in runs if run.start_time]
    body = {**job.body, **({"startTime": min(starts)} if starts else {})}
    if not all(run.over for run in runs):
        if body["state"] == "PIPELINE_STATE_PENDING" and starts:
            body["state"] = "PIPELINE_STATE_RUNNING"
        return replace(job, body=body)
    ended: dict[str, Any] = {"endTime": max((run.end_time for run in runs if run.end_time), default=now)}
    failed = [path for path, run in job.tasks.items() if run.state == "FAILED"]
    if body["state"] == "PIPELINE_STATE_CANCELLING":
        ended |= {"state": "PIPELINE_STATE_CANCELLED"}
        ended |= {"error": {"code": _CANCELLED, "message": "The pipeline job was cancelled."}}
    elif failed or any(run.state != "SUCCEEDED" for run in runs):
        message = f"The DAG failed because some tasks failed. The failed tasks are: [{', '.join(failed)}]."
        ended |= {"state": "PIPELINE_STATE_FAILED", "error": {"code": _FAILED_PRECONDITION, "message": message}}
    else:
        ended |= {"state": "PIPELINE_STATE_SUCCEEDED"}
    return replace(job, body={**body, **ended}, over=True)


def _seen(world: World, job: PipelineJob, task: Task, run: TaskRun) -> TaskRun:
    """Return a task's run after a look at its job."""
    if run.state != "RUNNING":
        return run
    found = jobs.get(world.store, run.job)
    now = world.now()
    if found is None:
        return replace(run, state="FAILED", end_time=now, code=5, message=f"The job {run.job} does not exist any more.")
    body = found.body
    run = replace(run, start_time=body.get("startTime", run.start_time))
    if not found.over:
        return _waiting(world, job, task, run, body)
    run = replace(run, end_time=body.get("endTime", now))
    if body["state"] == "JOB_STATE_SUCCEEDED":
        return _finished(world, job, task, run)
    if body["state"] == "JOB_STATE_CANCELLED":
        return replace(run, state="CANCELLED", code=_CANCELLED, message=body["error"]["message"])
    if run.tries < task.most_retries and job.body["state"] != "PIPELINE_STATE_CANCELLING":
        return replace(_submitted(world, job, task, replace(run, end_time="")), tries=run.tries + 1)
    return replace(run, state="FAILED", code=body["error"]["code"], message=body["error"]["message"])


def _waiting(world: World, job: PipelineJob, task: Task, run: TaskRun, body: Mapping[str, Any]) -> TaskRun:
    """Return the run of a task whose job has not ended: a wait for a cluster's machines has its bound."""
    detail = rules.detail_of(job.body)
    if not detail or run.fell_back or "startTime" in body or body["state"] != "JOB_STATE_QUEUED":
        return run
    waited = world.clock.now() - datetime.fromisoformat(body["createTime"])
    if waited.total_seconds() * 1000 < int(detail.get("taskResourceUnavailableWaitTimeMs", 0)):
        return run
    submission.cancel(world, run.job, "The persistent resource had no room in time.")
    if detail.get("taskResourceUnavailableTimeoutBehavior") == "FALL_BACK_TO_ON_DEMAND":
        return _submitted(world, job, task, replace(run, fell_back=True))
    message = f"The persistent resource had no room for task {task.path} within {waited.total_seconds():.0f} s."
    return replace(run, state="FAILED", end_time=world.now(), code=_DEADLINE_EXCEEDED, message=message)


def _begun(world: World, job: PipelineJob, task: Task, *, stops: bool) -> TaskRun:
    """Return the run of a task that has not begun: started once all before it have succeeded."""
    before = [job.tasks[path] for path in task.before]
    if stops or any(run.over and run.state != "SUCCEEDED" for run in before):
        return TaskRun(state="NOT_TRIGGERED")
    if not all(run.state == "SUCCEEDED" for run in before):
        return TaskRun()
    try:
        inputs = {key: _value(job, task, key, source) for key, source in task.parameters.items()}
    except ValueError as error:
        return _failed(world, f"An input of task {task.path} is not of its type: {error}.")
    known = {key: value for key, value in inputs.items() if value is not None}
    return _submitted(world, job, task, TaskRun(inputs=known))


def _submitted(world: World, job: PipelineJob, task: Task, run: TaskRun) -> TaskRun:
    """Return the run of a task with a new custom job; with the error of one that can't be submitted."""
    try:
        declared = submission.checked(_job(world, job, task, run), job.region)
        email = submission.admit(world, None, job.region, declared)
        made = submission.submit(world, job.region, declared, email)
    except ValueError as error:
        return _failed(world, f"Task {task.path} can't be started: {error}.", run)
    except ApiError as error:
        return _failed(world, f"Task {task.path} can't be started: {error.message}", run)
    return replace(run, state="RUNNING", job=made.body["name"])


def _failed(world: World, message: str, run: TaskRun | None = None) -> TaskRun:
    run = run or TaskRun()
    return replace(run, state="FAILED", end_time=world.now(), code=_INVALID_ARGUMENT, message=message)


def _named(job: PipelineJob, task: Task) -> dict[str, str]:
    """Return what placeholders tell of the job and the task."""
    return {
        "pipeline_job_name": job.id,
        "pipeline_job_uuid": job.body["labels"][BILLING_LABEL],
        "pipeline_job_resource_name": job.name,
        "pipeline_job_create_time_utc": job.body["createTime"],
        "pipeline_task_name": task.path.rpartition(".")[2],
        "pipeline_task_uuid": task_id(job, task.path),
        "pipeline_root": job.body["runtimeConfig"]["gcsOutputDirectory"],
    }


def _job(world: World, job: PipelineJob, task: Task, run: TaskRun) -> dict[str, Any]:
    """Return the custom job of a task. Raises ValueError for what can't be filled, and where no machine suffices."""
    container, executor, named = task.container, executors.executor_input(job, task, run.inputs), _named(job, task)

    def fill(text: str) -> str:
        return values.filled(text, executor, named)

    def command(key: str) -> list[str]:
        return [word for entry in container.get(key, ()) for word in values.words(entry, executor, named)]

    env = [{"name": item["name"], "value": fill(item.get("value", ""))} for item in container.get("env", ())]
    need = machines.need(container.get("resources", {}), fill)
    pool: dict[str, Any] = {
        "replicaCount": "1",
        "containerSpec": {"imageUri": fill(container["image"]), "command": command("command"), "args": command("args")}
        | ({"env": env} if env else {}),
    }
    spec: dict[str, Any] = {"workerPoolSpecs": [pool], "serviceAccount": job.body["serviceAccount"]}
    name = "" if run.fell_back else rules.cluster_of(job.body)
    if name:
        cluster = CLUSTERS.find(
            world.store, canonical(world.project, name), f"The PersistentResource {name} does not exist."
        )
        pool["machineSpec"], pool["diskSpec"] = machines.of_cluster(need, cluster)
        spec["persistentResourceId"] = id_of(name)
    else:
        pool["machineSpec"] = machines.own(need)
    spec |= {key: job.body[key] for key in ("network", "reservedIpRanges", "pscInterfaceConfig") if key in job.body}
    suffix = f"-{task.path.rpartition('.')[2]}"
    body = {"displayName": child_name(job.id, suffix), "labels": job.body["labels"], "jobSpec": spec}
    return body | ({"encryptionSpec": job.body["encryptionSpec"]} if "encryptionSpec" in job.body else {})


def _value(job: PipelineJob, task: Task, key: str, source: Source) -> Any:
    """Return the value of an input, None for one that nothing gives. Raises ValueError."""
    value = _raw(job, task, source)
    kind = task.component.get("inputDefinitions", {}).get("parameters", {}).get(key, {}).get("parameterType", "")
    return None if value is None else values.typed(value, kind)


def _raw(job: PipelineJob, task: Task, source: Source) -> Any:
    if source.task:
        return job.tasks[source.task].outputs.get(source.key)
    if source.key:
        known = definition.parameters(job.body["pipelineSpec"])[source.key]
        given = job.body["runtimeConfig"].get("parameterValues", {})
        value = given.get(source.key, known.get("defaultValue"))
        return None if value is None else values.typed(value, known.get("parameterType", ""))
    if not isinstance(source.constant, str) or "{{$" not in source.constant:
        return source.constant
    named = {key: _raw(job, task, other) for key, other in source.beside.items() if f"['{key}']" in source.constant}
    beside = {key: value for key, value in named.items() if value is not None}
    return values.filled(source.constant, {"inputs": {"parameterValues": beside, "artifacts": {}}}, _named(job, task))


def _finished(world: World, job: PipelineJob, task: Task, run: TaskRun) -> TaskRun:
    """Return the run of a task whose job succeeded, with the outputs that it wrote."""
    folder, defined = executors.folder(job, task), task.component.get("outputDefinitions", {})
    executor = executors.executor_input(job, task, run.inputs)
    try:
        told = json.loads(_read(world, f"{folder}/{executors.OUTPUT}") or "{}")
        outputs = dict(told.get("parameterValues", {}))
        for key, item in defined.get("parameters", {}).items():
            if key not in outputs and (text := _read(world, f"{folder}/{key}")) is not None:
                outputs[key] = text
            if key in outputs:
                outputs[key] = values.typed(outputs[key], item.get("parameterType", ""))
            elif not item.get("isOptional"):
                raise ValueError(f"it wrote no {key}")
        artifacts = {key: item["artifacts"][0] for key, item in executor["outputs"]["artifacts"].items()}
        for key, item in told.get("artifacts", {}).items():
            if key in artifacts and item.get("artifacts"):
                kept = {part: artifacts[key][part] for part in ("name", "type")}
                artifacts[key] = artifacts[key] | item["artifacts"][0] | kept
                if not (isinstance(artifacts[key]["uri"], str) and isinstance(artifacts[key]["metadata"], dict)):
                    raise ValueError(f"the artifact {key} has no URI, or metadata that are no object")
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        message = f"The outputs of task {task.path} can't be read: {error}."
        return replace(run, state="FAILED", code=_INVALID_ARGUMENT, message=message)
    return replace(run, state="SUCCEEDED", outputs=outputs, artifacts=artifacts)


def _read(world: World, uri: str) -> str | None:
    """Return the text of an object, None where there is none. Raises ValueError for bytes that are no text."""
    bucket, _, name = uri.removeprefix("gs://").partition("/")
    records = Records(world)
    found = records.current(bucket, name)
    return None if found is None else records.blobs.path(found.blob).read_text(encoding="utf-8")
