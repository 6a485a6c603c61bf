"""The environment that Vertex AI gives each replica of a job (vertex-rules 3.5)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
CLIENT_SETTINGS = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
"""Variables that keep a client (gcsfs) from asking Google over gRPC, past every endpoint."""
_TF_ROLES = ("chief", "worker", "ps", "evaluator")
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
"""Variables that keep numeric libraries of one replica from using the whole machine."""


@dataclass(frozen=True)
class Place:
    """The place of a replica: its worker pool, its number in the pool, and its address."""

    index: int
    number: int
    host: str
    port: int
    open_port: int

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


def variables(
    places: Sequence[Place],
    own: Place,
    *,
    project: str,
    job_id: str,
    region: str,
    spec: Mapping[str, Any],
    trial: str | None = None,
) -> dict[str, str]:
    """Return the variables of the replica `own` of a job with replicas `places`. `project` is a number, `spec` the
    canonical CustomJobSpec, `trial` the id of the tuning job's trial that it runs."""
    environ = {
        "CLUSTER_SPEC": _text(cluster_spec(places, own, spec, trial)),
        # The service sets the number here, not the id.
        "CLOUD_ML_PROJECT_ID": project,
        "CLOUD_ML_JOB_ID": job_id,
        "CLOUD_ML_REGION": region,
    }
    if trial:
        environ["CLOUD_ML_TRIAL_ID"] = trial
    # The SDK's names; it takes full resource names as well as short ones.
    for field, variable in (("experiment", "AIP_EXPERIMENT_NAME"), ("experimentRun", "AIP_EXPERIMENT_RUN_NAME")):
        if spec.get(field):
            environ[variable] = spec[field]
    prefix = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "").rstrip("/")
    if prefix:
        environ["AIP_MODEL_DIR"] = f"{prefix}/model/"
        environ["AIP_CHECKPOINT_DIR"] = f"{prefix}/checkpoints/"
        environ["AIP_TENSORBOARD_LOG_DIR"] = f"{prefix}/logs/"
    if len(places) > 1:
        chief = next(place for place in places if place.index == 0)
        environ["TF_CONFIG"] = _text(tf_config(places, own, spec, trial))
        environ["RANK"] = str(sorted(places, key=lambda place: (place.index, place.number)).index(own))
        environ["WORLD_SIZE"] = str(len(places))
        environ["MASTER_ADDR"] = chief.host
        environ["MASTER_PORT"] = str(chief.port)
    return environ


def cluster_spec(
    places: Sequence[Place], own: Place, spec: Mapping[str, Any], trial: str | None = None
) -> dict[str, Any]:
    """Return CLUSTER_SPEC. A job of one replica has the key `chief` instead of `workerpool0`."""
    alone = len(places) == 1
    cluster: dict[str, list[str]] = {}
    for place in places:
        cluster.setdefault("chief" if alone else f"workerpool{place.index}", []).append(place.address)
    return {
        "cluster": cluster,
        "environment": "cloud",
        "task": {"type": "chief" if alone else f"workerpool{own.index}", "index": own.number} | _trial(trial),
        "job": dict(spec),
        "open_ports": [own.open_port],
    }


def tf_config(places: Sequence[Place], own: Place, spec: Mapping[str, Any], trial: str | None = None) -> dict[str, Any]:
    """Return TF_CONFIG. Evaluators are never part of the cluster."""
    cluster: dict[str, list[str]] = {}
    for place in places:
        if _TF_ROLES[place.index] != "evaluator":
            cluster.setdefault(_TF_ROLES[place.index], []).append(place.address)
    task = {"type": _TF_ROLES[own.index], "index": own.number, "cloud": ""} | _trial(trial)
    return {"cluster": cluster, "task": task, "job": dict(spec), "environment": "cloud"}


def _text(body: Mapping[str, Any]) -> str:
    """Return JSON with unescaped letters: Linux takes 128 KB for one variable, and escapes triple a letter's size."""
    return json.dumps(body, ensure_ascii=False)


def _trial(trial: str | None) -> dict[str, str]:
    return {"trial": trial} if trial else {}


def expanded(text: str, known: Mapping[str, str]) -> str:
    """Return the text with known `$(NAME)` replaced as Kubernetes does: `$$` is `$`, unknown ones stay."""
    return _REFERENCE.sub(lambda match: "$" if match[0] == "$$" else known.get(match[1], match[0]), text)
