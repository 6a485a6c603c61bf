"""The kind of jobs that run a compiled Kubeflow pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.model.kinds.kind import JobKind, Json
from slipway.model.labels import VARIABLE, recorded
from slipway.model.machines.spec import MachineSpec

if TYPE_CHECKING:
    from slipway.model.kinds.pipeline import Pipeline
    from slipway.model.kinds.settings import ModelUpload, Study

_JSON: Mapping[str, type[Any]] = {"LIST": list, "STRUCT": dict}
"""The types of parameters that a template has as text, which is JSON."""
_NUMBERS: Mapping[str, type[Any]] = {"NUMBER_INTEGER": int, "NUMBER_DOUBLE": float}
_EXAMPLES: Mapping[type[Any], str] = {list: "[1, 2]", dict: '{"depth": 3}'}
_KEPT = ("serviceAccount", "network", "reservedIpRanges", "pscInterfaceConfig")


class PipelineJobKind(JobKind):
    """A compiled Kubeflow pipeline. Each of its tasks runs as a custom job: the job itself has no machines."""

    name, words = "pipeline", "pipeline"
    collection, message, module, spec = "pipelineJobs", "PipelineJob", "pipeline_job", "pipelineSpec"
    takes = needs = ("pipeline",)
    ended = ("CANCELLED", "FAILED", "SUCCEEDED")
    free = ("labels", "pipelineSpec", "parameterValues")
    version = "v1beta1"
    id_parameter = "pipelineJobId"

    def body(
        self, spec: Json, study: Study | None, model: ModelUpload | None, pipeline: Pipeline | None = None
    ) -> dict[str, Any]:
        assert pipeline is not None, "checked when the template was made"
        config: dict[str, Any] = {
            "gcsOutputDirectory": spec["baseOutputDirectory"]["outputUriPrefix"],
            "parameterValues": {name: f"${{{name}}}" for name in pipeline.offered},
        }
        if detail := spec.get("persistentResourceRuntimeDetail"):
            config["defaultRuntime"] = {"persistentResourceRuntimeDetail": detail}
        kept = {key: spec[key] for key in _KEPT if key in spec}
        return {self.spec: pipeline.spec, "runtimeConfig": config, **kept}

    def record(self, body: dict[str, Any], values: Mapping[str, Any]) -> None:
        """Give the pipeline its parameters, each as its type has it."""
        from slipway.model.kinds.pipeline import parameters  # Other kinds are submitted without it.

        known, typed = parameters(body[self.spec]), {}
        for name, value in values.items():
            wanted = _JSON.get(str(known.get(name, {}).get("parameterType")))
            typed[name] = value if wanted is None else _from_json(name, str(value), wanted)
        body["runtimeConfig"] = {**body["runtimeConfig"], "parameterValues": typed}

    def spec_of(self, body: Json) -> dict[str, Any]:
        """Return a request as a CustomJobSpec: a worker pool for each need of its tasks. A job in the service's answer
        has none, as its tasks' own jobs have the machines."""
        config = body.get("runtimeConfig") or {}
        detail = (config.get("defaultRuntime") or {}).get("persistentResourceRuntimeDetail") or {}
        env = [
            {
                "name": VARIABLE,
                "value": recorded(_texts(config.get("parameterValues") or {}, body.get(self.spec) or {})),
            }
        ]
        pools: list[dict[str, Any]] = [{"replicaCount": "0"}] if "state" in body else _pools(body.get(self.spec) or {})
        found = {
            "workerPoolSpecs": [
                {**pool, "containerSpec": {**pool.get("containerSpec", {}), "env": env}} for pool in pools
            ],
            "serviceAccount": body.get("serviceAccount"),
            "baseOutputDirectory": {"outputUriPrefix": config.get("gcsOutputDirectory", "")},
            "persistentResourceId": detail.get("persistentResourceName"),
        }
        return {key: value for key, value in found.items() if value}

    def state(self, body: Json) -> str:
        return super().state(body).replace("PIPELINE_STATE_", "JOB_STATE_")

    def filter(self, filter: str) -> str:
        return filter.replace("JOB_STATE_", "PIPELINE_STATE_")


PIPELINE_JOB = PipelineJobKind()


def _pools(spec: Json) -> list[dict[str, Any]]:
    """Return the worker pools that a pipeline's tasks amount to, each with the tasks that may run at once."""
    if "root" not in spec:
        return []
    from slipway.model.kinds.pipeline import Need, groups, images

    pools = []
    for group in groups(spec):
        shape = group.need.own() or Need().own()
        assert shape is not None, "the usual machine is in the table"
        request = MachineSpec(shape.type, shape.accelerator, shape.accelerator_count).request()
        image = ", ".join(images(spec))
        pools.append({**request, "replicaCount": str(group.at_once), "containerSpec": {"imageUri": image}})
    return pools


def _texts(values: Mapping[str, Any], spec: Json) -> dict[str, Any]:
    """Return parameters as a template has them: lists and objects as JSON, whole numbers without the point that they
    get on the wire."""
    known: Mapping[str, Json] = {}
    if "root" in spec:
        from slipway.model.kinds.pipeline import parameters

        known = parameters(spec)
    texts: dict[str, Any] = {}
    for name, value in values.items():
        kind = str(known.get(name, {}).get("parameterType"))
        texts[name] = json.dumps(value) if isinstance(value, list | dict) else value
        if isinstance(value, int | float) and not isinstance(value, bool) and kind in _NUMBERS:
            texts[name] = _NUMBERS[kind](value)
    return texts


def _from_json(name: str, text: str, wanted: type[Any]) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, wanted):
        return value
    raise ConfigError(
        f"invalid {name}: {quoted(text)}",
        why=f"the pipeline takes a {'list' if wanted is list else 'object'} there, written as JSON",
        fix=f"-p {name}='{_EXAMPLES[wanted]}', for example",
    )
