"""A template as the exact `CustomJob` that is posted, with placeholders for what only a submission knows.

The result is checked with the official message type, filled with the template's usual values, so a field that the API
does not know is an error in preview and not at somebody's submission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.errors import ConfigError
from slipway.template.code import Package
from slipway.template.jobtypes import custom_job
from slipway.template.model import JobTemplate
from slipway.template.parameter import Value
from slipway.template.placeholders import JOB, OUTPUT, REQUEST, fill
from slipway.template.worker_pool import WorkerPool

LAUNCHER = "slipway_launcher"


@dataclass(frozen=True)
class Setting:
    """What the stack gives to every template. `trainer` is a service account's address, `clusters` ids by name."""

    stack: str
    region: str
    commit: str
    catalog_bucket: str
    work_bucket: str
    trainer: str
    clusters: Mapping[str, str]


def request(
    template: JobTemplate, way: str, setting: Setting, package: str, cluster: str | None = None
) -> dict[str, Any]:
    """The body of `POST …/customJobs`, canonical proto3 JSON with `${…}` in it; `package` is a gs:// URI.

    Raises ConfigError when the official type rejects it.
    """
    if template.kind != "custom-job" or way not in ("pool", "spot") or not isinstance(template.code, Package):
        raise ConfigError(f"template {template.name}: {template.kind} by {way} is not compiled yet")
    spec: dict[str, Any] = {
        "workerPoolSpecs": [_worker_pool(template, worker, setting, package) for worker in template.worker_pools],
        "scheduling": {"timeout": f"{template.timeout_s}s", **({"strategy": "SPOT"} if way == "spot" else {})},
        "serviceAccount": setting.trainer,
        "baseOutputDirectory": {"outputUriPrefix": f"${{{OUTPUT}}}"},
    }
    if cluster is not None:
        spec["persistentResourceId"] = setting.clusters[cluster]
    labels = {
        "slipway-template": template.name,
        "slipway-stack": setting.stack,
        "slipway-commit": setting.commit,
        "slipway-way": way,
        "slipway-request": f"${{{REQUEST}}}",
    }
    body = {"displayName": f"${{{JOB}}}", "jobSpec": spec, "labels": labels}
    check(template, body)
    return body


def _worker_pool(template: JobTemplate, worker: WorkerPool, setting: Setting, uri: str) -> dict[str, Any]:
    shape = worker.shape
    machine: dict[str, Any] = {"machineType": shape.type}
    if shape.accelerator:
        machine |= {"acceleratorType": shape.accelerator, "acceleratorCount": shape.accelerator_count}
    code = worker.code or template.code
    assert isinstance(code, Package), "images are not compiled yet, and refused as not well-formed"
    claim = f"gs://{setting.work_bucket}/claims/${{{REQUEST}}}"
    package: dict[str, Any] = {
        "executorImageUri": code.image,
        "packageUris": [uri],
        "pythonModule": LAUNCHER,
        "args": ["--claim", claim, "--module", code.module, "--", *worker.args],
    }
    if template.env:
        package["env"] = [{"name": name, "value": value} for name, value in template.env.items()]
    return {
        "machineSpec": machine,
        "replicaCount": str(worker.replicas),
        "diskSpec": {"bootDiskType": worker.disk.type, "bootDiskSizeGb": worker.disk.size_gb},
        "pythonPackageSpec": package,
    }


def usual_values(template: JobTemplate) -> Mapping[str, Value]:
    """A value for every placeholder: defaults, and something allowed where there is none."""
    built_in: dict[str, Value] = {JOB: f"{template.name}-aaaaaaaa", REQUEST: "request", OUTPUT: "gs://bucket/jobs/job"}
    return built_in | {parameter.name: parameter.usual for parameter in template.parameters}


def check(template: JobTemplate, body: Mapping[str, Any]) -> Any:
    """The filled body as the official message. Raises ConfigError with the path of what does not belong there."""
    from google.protobuf.json_format import ParseDict, ParseError

    try:
        return ParseDict(fill(body, usual_values(template)), custom_job()())
    except ParseError as error:
        raise ConfigError(
            f"template {template.name} is no valid CustomJob",
            why=" ".join(str(error).split()),
            fix="the message's fields are those of google.cloud.aiplatform_v1.CustomJob",
        ) from error
