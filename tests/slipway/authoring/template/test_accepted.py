"""What preview publishes is what the service takes: every kind by every capacity type, posted to the local cloud.

# D3 N3 W1 W2 W5 X1 Z1 Z6
The local cloud has the service's rules from their source, and knows nothing of `slipway.model.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from slipway.authoring.template.compile import usual_values
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import write
from slipway.model.catalog.placeholders import fill
from slipway.model.cluster import Reservation
from slipway.template import (
    JobTemplate,
    Metric,
    ModelUpload,
    Package,
    Parameter,
    Scheduling,
    Search,
    Stopping,
    Study,
    Variant,
    WorkerPool,
)
from tests.builders.templates import published_template

from .conftest import cluster, pool

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

PROJECT, REGION = "local-project", "us-central1"
HOME = f"/v1/projects/{PROJECT}/locations/{REGION}"
PATH = f"projects/{PROJECT}/zones/{REGION}-a/reservations/h100"
RESERVATION = {"machine": "a3-highgpu-8g", "count": 2, "share": "ALLOW_ALL"}
QUOTA = ("nvidia_h100_gpus", "preemptible_nvidia_h100_gpus", "preemptible_cpus", "pd_ssd")
COLLECTIONS = {
    "custom-job": "customJobs",
    "hyperparameter-tuning-job": "hyperparameterTuningJobs",
    "training-pipeline": "trainingPipelines",
}
CPU = cluster(pool("head", "n1-standard-4"), pool("workers", max=9))
H100 = (
    WorkerPool("chief", "a3-highgpu-8g", args=("--rate=0.1",), reservation="h100"),
    WorkerPool("workers", "a3-highgpu-8g", args=("--rate=0.1",), reservation="h100"),
)
TEMPLATE = JobTemplate(
    name="everything",
    summary="each kind by each capacity type",
    code=Package("jobs/nap", "nap.task", "us-docker.pkg.dev/vertex-ai/training/no-such-cpu.1-0:latest"),
    worker_pools=(
        WorkerPool("chief", "n1-standard-4", args=("--size=${size}", "--output=${slipway.output}", "--rate=0.1")),
        WorkerPool("judge", "n1-standard-8", replicas="${judges}", position="evaluators"),
    ),
    kinds=tuple(COLLECTIONS),
    parameters=(
        Parameter("size", str, default="small", choices=("small", "large")),
        Parameter("judges", int, default=2, min=1, max=4),
        Parameter("trials", int, default=4, min=1, max=9),
    ),
    capacity_types=("pool", "spot", "on-demand"),
    variants=(Variant({"size": "large"}, H100, ("flex-start", "spot", "on-demand", "reservation")),),
    scheduling=Scheduling(max_wait_s=0, restart_job_on_worker_restart=True),
    study=Study(
        metrics=(Metric("accuracy"),),
        parameters=(
            Search("rate", "double", 1e-4, 0.1, scale="log"),
            Search("model", "categorical", values=("svm", "forest")),
            Search("trees", "integer", 10, 500),
        ),
        max_trials="${trials}",
        parallel_trials=2,
        stopping=Stopping("median"),
    ),
    model=ModelUpload("digits", "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-5:latest", model_id="digits"),
    env={"SEED": "1"},
    secrets={"HF_TOKEN": "hf-token"},
    enable_web_access=True,
    timeout_s=7 * 24 * 3600,
)


@pytest.fixture(scope="module")
def roomy(cloud: LocalCloud) -> Iterator[LocalCloud]:
    """The cloud with quota for large machines and a reservation of some, for the time of this file."""
    quota = cloud.rest("GET", "/vertex-local/settings")["quota"]
    more = {f"custom_model_training_{metric}": 100_000 for metric in QUOTA}
    cloud.rest("POST", "/vertex-local/settings", {"quota": {**quota, **more}})
    cloud.rest("POST", "/vertex-local/scenario", {"reservations": {PATH: RESERVATION}})
    yield cloud
    cloud.rest("DELETE", "/vertex-local/scenario")
    cloud.rest("POST", "/vertex-local/settings", {"quota": quota})


@pytest.fixture(scope="session")
def made(cloud: LocalCloud) -> None:
    """Make a stack's bucket, trainer and cluster, once: a worker may come back to this file."""
    cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": "accepted", "location": "us-central1"})
    cloud.rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "accepted"})
    runtime = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    wanted = {"resourcePools": [pool.request() for pool in CPU.pools], "resourceRuntimeSpec": runtime}
    cloud.rest("POST", f"{HOME}/persistentResources?persistentResourceId=cpu-1a2b3c4", wanted)


@pytest.fixture(scope="module")
def context(roomy: LocalCloud, made: None) -> CompileContext:
    return CompileContext(
        stack="trial",
        region=REGION,
        commit="3f9c2e1",
        catalog_bucket="accepted",
        work_bucket="accepted",
        trainer=f"accepted@{PROJECT}.iam.gserviceaccount.com",
        clusters={"cpu": "cpu-1a2b3c4"},
        project=PROJECT,
        reservations={"h100": Reservation(PATH, "a3-highgpu-8g", machines=2)},
    )


def capacity_types() -> list[tuple[str, str, str]]:
    offers = prove(TEMPLATE, StackResources((CPU,), region=REGION, reservations={"h100": Reservation(PATH)}))
    return [(offer.kind, offer.capacity_type, "large" if "size=large" in offer.label else "small") for offer in offers]


@pytest.fixture(scope="module")
def published(context: CompileContext) -> list[dict[str, Any]]:
    offers = prove(TEMPLATE, StackResources((CPU,), region=REGION, reservations=context.reservations))
    found: list[dict[str, Any]] = write(published_template(TEMPLATE, offers, context))["offers"]
    assert all(offer["available"] for offer in found)
    return found


@pytest.mark.parametrize(("kind", "capacity_type", "size"), capacity_types())
def test_the_service_takes_the_request(
    cloud: LocalCloud, published: list[dict[str, Any]], kind: str, capacity_type: str, size: str
) -> None:
    (entry,) = (
        offer
        for offer in published
        if (offer["kind"], offer["capacityType"]) == (kind, capacity_type) and size in offer["when"]["size"]
    )
    name = f"everything-{kind}-{capacity_type}-{size}"
    values = {
        **usual_values(TEMPLATE),
        "size": size,
        "slipway.job": name,
        "slipway.output": f"gs://accepted/jobs/{name}",
    }
    made = cloud.rest("POST", f"{HOME}/{COLLECTIONS[kind]}", fill(entry["request"], values))
    spec = made["jobSpec"] if kind == "custom-job" else made.get("trialJobSpec", made.get("trainingTaskInputs"))
    assert made["displayName"] == name
    assert made["labels"]["slipway-capacity-type"] == capacity_type
    if capacity_type == "flex-start":
        assert spec["scheduling"]["maxWaitDuration"] == "0s"
    cloud.cancel(made["name"])
