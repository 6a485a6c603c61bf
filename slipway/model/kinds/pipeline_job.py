"""The kind of jobs that run a compiled Kubeflow pipeline."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.model.kinds.kind import JobKind, Json
from slipway.model.labels import record, recorded
from slipway.model.machines.spec import MachineSpec

if TYPE_CHECKING:
    from slipway.model.kinds.pipeline import Pipeline
    from slipway.model.kinds.settings import ModelUpload, Study

_EXAMPLES: Mapping[type[Any], str] = {list: "[1, 2]", dict: '{"depth": 3}'}


class PipelineJobKind(JobKind):
    """A compiled Kubeflow pipeline. Each of its tasks runs as a custom job: the job itself has no machines."""

    name, words = "pipeline", "pipeline"
    collection, message, module, spec = "pipelineJobs", "PipelineJob", "pipeline_job", "pipelineSpec"
    takes = needs = ("pipeline",)
    states, ended = "PIPELINE_STATE_", ("CANCELLED", "FAILED", "SUCCEEDED")
    never = ("EXPIRED", "PARTIALLY_SUCCEEDED", "UPDATING")
    free = ("labels", "pipelineSpec", "parameterValues")
    version = "v1beta1"
    id_parameter = "pipelineJobId"
    #: The keys that stand beside a pipeline, and in other kinds' specs.
    kept = ("serviceAccount", "network", "reservedIpRanges", "pscInterfaceConfig")

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Json | None) -> dict[str, Any]:
        assert pipeline is not None, "checked when the template was made"
        config: dict[str, Any] = {
            "gcsOutputDirectory": spec["baseOutputDirectory"]["outputUriPrefix"],
            "parameterValues": {name: f"${{{name}}}" for name in _pipeline(pipeline).parameters},
        }
        if detail := spec.get("persistentResourceRuntimeDetail"):
            config["defaultRuntime"] = {"persistentResourceRuntimeDetail": detail}
        kept = {key: spec[key] for key in self.kept if key in spec}
        return {self.spec: pipeline, "runtimeConfig": config, **kept}

    def record(self, body: dict[str, Any], values: Mapping[str, Any]) -> None:
        """Give the pipeline its parameters, each as its type has it."""
        pipeline = _pipeline(body[self.spec])
        typed = {name: _typed(name, value, pipeline.type_of(name)) for name, value in values.items()}
        body["runtimeConfig"] = {**body["runtimeConfig"], "parameterValues": typed}

    def spec_of(self, body: Json) -> dict[str, Any]:
        """Return a request as a CustomJobSpec: a worker pool for each need of its tasks. A job in the service's answer
        has none, as its tasks' own jobs have the machines."""
        config, pipeline = body.get("runtimeConfig") or {}, _pipeline(body.get(self.spec) or {})
        detail = (config.get("defaultRuntime") or {}).get("persistentResourceRuntimeDetail") or {}
        found = {
            "workerPoolSpecs": [{"replicaCount": "0", "containerSpec": {}}] if "state" in body else _pools(pipeline),
            "serviceAccount": body.get("serviceAccount"),
            "baseOutputDirectory": {"outputUriPrefix": config.get("gcsOutputDirectory", "")},
            "persistentResourceId": detail.get("persistentResourceName"),
        }
        values = {
            name: _text(value, pipeline.type_of(name)) for name, value in (config.get("parameterValues") or {}).items()
        }
        record(found, recorded(values))
        return {key: value for key, value in found.items() if value}


PIPELINE_JOB = PipelineJobKind()


def _pipeline(spec: Json) -> Pipeline:
    from slipway.model.kinds.pipeline import Pipeline  # Other kinds are submitted without it.

    return Pipeline(spec)


def _pools(pipeline: Pipeline) -> list[dict[str, Any]]:
    """Return the worker pools that a pipeline's tasks amount to, each with the tasks that may run at once."""
    images, pools = ", ".join(pipeline.images), []
    for group in pipeline.groups:
        machine = MachineSpec(group.machine.type, group.machine.accelerator, group.machine.accelerator_count).request()
        pools.append({**machine, "replicaCount": str(group.at_once), "containerSpec": {"imageUri": images}})
    return pools


def _text(value: Any, type_: type[Any] | None) -> Any:
    """Return a parameter as a template has it: lists and objects as JSON, whole numbers without the wire's point."""
    if isinstance(value, list | dict):
        return json.dumps(value)
    return type_(value) if type_ in (int, float) and type(value) in (int, float) else value


def _typed(name: str, value: Any, type_: type[Any] | None) -> Any:
    """Return a parameter of a template as the pipeline has it. Raises ConfigError."""
    if type_ is None or type_ not in _EXAMPLES:
        return value
    text = str(value)
    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(read := json.loads(text), type_):
            json.dumps(read, ensure_ascii=False, allow_nan=False).encode()  # Raises ValueError for what no JSON holds.
            return read
    raise ConfigError(
        f"invalid {name}: {quoted(text)}",
        why=f"the pipeline takes a {'list' if type_ is list else 'object'} there, written as JSON",
        fix=f"-p {name}='{_EXAMPLES[type_]}', for example",
    )
