"""Requests that break no rule, for tests to bend."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from slipway.model.cluster import Reservation
from slipway.model.machines.table import machine
from slipway.model.rules.rule import Breach
from slipway.model.rules.table import check

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:latest"
H100 = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}
H200 = {"machineType": "a3-ultragpu-8g", "acceleratorType": "NVIDIA_H200_141GB", "acceleratorCount": 8}
N1 = {"machineType": "n1-standard-8"}
RESERVATION = "projects/acme/zones/us-central1-a/reservations/h100"
SPECIFIC = {
    "reservationAffinityType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": [RESERVATION],
}
CONTEXT = "projects/acme/locations/us-central1/metadataStores/default/contexts/digits"
CUSTOM_TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"


def gpu(machine_type: str, **more: Any) -> dict[str, Any]:
    """Return a machine with its built-in accelerators, which a request names all the same."""
    shape = machine(machine_type)
    return {
        "machineType": machine_type,
        "acceleratorType": shape.accelerator,
        "acceleratorCount": shape.accelerator_count,
        **more,
    }


def package(**changes: Any) -> dict[str, Any]:
    spec = {"executorImageUri": IMAGE, "packageUris": ["gs://b/p.tar.gz"], "pythonModule": "task", "args": ["--a=1"]}
    return {"pythonPackageSpec": {**spec, **changes}}


def container(**changes: Any) -> dict[str, Any]:
    return {"containerSpec": {"imageUri": "us-docker.pkg.dev/p/r/i:t", **changes}}


def worker(spec: Mapping[str, Any] = N1, replicas: int = 1, code: Any = None, **changes: Any) -> dict[str, Any]:
    disk = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    code = package() if code is None else code
    return {"machineSpec": dict(spec), "replicaCount": str(replicas), "diskSpec": disk, **code, **changes}


def spec(*workers: dict[str, Any], scheduling: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "workerPoolSpecs": list(workers) or [worker(), worker(replicas=2)],
        "scheduling": {"timeout": "3600s", **(scheduling or {})},
        "serviceAccount": "trainer@acme.iam.gserviceaccount.com",
        "baseOutputDirectory": {"outputUriPrefix": "gs://b/jobs/j"},
        **changes,
    }


def custom(*workers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"displayName": "digits", "jobSpec": spec(*workers, **changes), "labels": {"team": "ml"}}


def flex(*workers: dict[str, Any], **scheduling: Any) -> dict[str, Any]:
    asked = {"strategy": "FLEX_START", "maxWaitDuration": "86400s", **scheduling}
    return custom(*(workers or (worker(H100),)), scheduling={k: v for k, v in asked.items() if v is not None})


def spot(*workers: dict[str, Any]) -> dict[str, Any]:
    return custom(*workers, scheduling={"strategy": "SPOT"})


def reserved(**affinity: Any) -> dict[str, Any]:
    wanted = {key: value for key, value in {**SPECIFIC, **affinity}.items() if value is not None}
    return custom(worker({**H100, "reservationAffinity": wanted}))


def tuning(*parameters: dict[str, Any], study: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    rate = {
        "parameterId": "rate",
        "doubleValueSpec": {"minValue": 1e-5, "maxValue": 0.1},
        "scaleType": "UNIT_LOG_SCALE",
    }
    return {
        "displayName": "digits",
        "studySpec": {
            "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
            "parameters": list(parameters) or [rate],
            **(study or {}),
        },
        "maxTrialCount": 8,
        "parallelTrialCount": 2,
        "trialJobSpec": spec(worker()),
        **changes,
    }


def pipeline(model: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    upload = (
        {"displayName": "digits", "containerSpec": {"imageUri": "gcr.io/acme/serve"}} if model is None else dict(model)
    )
    return {
        "displayName": "digits",
        "trainingTaskDefinition": CUSTOM_TASK,
        "trainingTaskInputs": spec(worker()),
        "modelToUpload": upload,
        **changes,
    }


def broken(body: Mapping[str, Any], capacity_type: str = "", **place: Any) -> tuple[Breach, ...]:
    """Return the rules that a request breaks; its kind follows from its keys."""
    kinds = {"jobSpec": "custom-job", "trialJobSpec": "hyperparameter-tuning-job"}
    kind = next((kind for key, kind in kinds.items() if key in body), "training-pipeline")
    return check(kind, capacity_type, deepcopy(dict(body)), **{"region": "us-central1", **place})


V5E = {"machineType": "ct5lp-hightpu-4t", "tpuTopology": "2x2"}
POD = {"machineType": "ct5lp-hightpu-4t", "tpuTopology": "4x4"}
GB200 = {"machineType": "a4x-highgpu-4g", "acceleratorType": "NVIDIA_GB200", "acceleratorCount": 4}
HYPERDISK = {"bootDiskType": "hyperdisk-balanced"}
L4 = {"machineType": "g2-standard-12", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}
T4 = {**N1, "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
POOL: dict[str, Any] = {"persistentResourceId": "cpu-1a2b3c4"}
BOARD = "projects/acme/locations/us-central1/tensorboards/7"
NFS = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}
NETWORK = "projects/123456789012/global/networks/training"
MODEL: dict[str, Any] = {"displayName": "digits", "containerSpec": {"imageUri": "gcr.io/acme/serve"}}
KNOWN = {RESERVATION: Reservation(RESERVATION, "a3-highgpu-8g", machines=2)}


def integer(name: str = "depth", **changes: Any) -> dict[str, Any]:
    return {"parameterId": name, "integerValueSpec": {"minValue": "1", "maxValue": "9"}, **changes}


def choice(name: str = "model", *values: str, **changes: Any) -> dict[str, Any]:
    return {"parameterId": name, "categoricalValueSpec": {"values": list(values or ("svm", "tree"))}, **changes}


def discrete(*values: float, **changes: Any) -> dict[str, Any]:
    return {"parameterId": "size", "discreteValueSpec": {"values": list(values)}, **changes}


def double(low: float, high: float, **changes: Any) -> dict[str, Any]:
    return {"parameterId": "rate", "doubleValueSpec": {"minValue": low, "maxValue": high}, **changes}


def under(parent: dict[str, Any], key: str, *values: Any) -> dict[str, Any]:
    return {**parent, "conditionalParameterSpecs": [{"parameterSpec": integer("inner"), key: {"values": list(values)}}]}


@dataclass(frozen=True)
class Example:
    """An example: `bad` breaks the rule and no other, and the words say how; each of `good` breaks none."""

    rule: str
    bad: dict[str, Any]
    words: str
    good: tuple[dict[str, Any], ...]
    capacity_type: str
    place: Mapping[str, Any]


def example(
    rule: str,
    bad: dict[str, Any],
    words: str,
    *good: dict[str, Any],
    capacity_type: str = "",
    place: Mapping[str, Any] | None = None,
) -> Example:
    return Example(rule, bad, words, good, capacity_type, place or {})


def env(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": "1"} for name in names]
