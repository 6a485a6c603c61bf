"""The official clients, unmodified: each way to get machines as Google's examples ask for it (W1, W2, X1, Z6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.api_core import exceptions
from google.protobuf import duration_pb2

from tests.local.cloud.vertex.scheduling.conftest import A100, HELD
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform, aiplatform_v1
from tests.local.official import custom_job as gca_custom_job

PROJECT, REGION = "slipway-local", "us-central1"
PARENT = f"projects/{PROJECT}/locations/{REGION}"
BUCKET = "supply-staging"
GPU = {"machine_type": "a2-highgpu-1g", "accelerator_type": "NVIDIA_TESLA_A100", "accelerator_count": 1}


@pytest.fixture(scope="module")
def jobs(running: LocalCloud) -> aiplatform_v1.JobServiceClient:
    return aiplatform_v1.JobServiceClient(
        transport="rest", client_options={"api_endpoint": running.url}, credentials=running.credentials("deployer")
    )


@pytest.fixture
def sdk(running: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{running.url}/t/{running.token('deployer')}")
    if BUCKET not in str(running.rest("GET", f"/storage/v1/b?project={PROJECT}")):
        running.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": BUCKET, "location": "us-central1"})
    aiplatform.init(
        project=PROJECT,
        location=REGION,
        staging_bucket=f"gs://{BUCKET}",
        credentials=running.credentials("deployer"),
        api_endpoint=running.url,
        api_transport="rest",
    )


@pytest.fixture(autouse=True)
def no_scenario(running: LocalCloud) -> Iterator[None]:
    yield
    running.rest("DELETE", "/slipway/scenario")


def pool(machine: dict[str, Any] = GPU, replicas: int = 1) -> dict[str, Any]:
    task = {"image_uri": "python:3.10", "command": ["python", "-c", "print('ran')"]}
    return {"machine_spec": machine, "replica_count": replicas, "container_spec": task}


def flex_start() -> Any:
    return gca_custom_job.Scheduling.Strategy.FLEX_START


def created(jobs: aiplatform_v1.JobServiceClient, *pools: Any, **scheduling: Any) -> Any:
    spec = {"worker_pool_specs": list(pools), "scheduling": scheduling}
    job = aiplatform_v1.CustomJob(display_name="asked", job_spec=aiplatform_v1.CustomJobSpec(spec))
    return jobs.create_custom_job(parent=PARENT, custom_job=job)


def test_the_sdk_runs_a_flex_start_job_to_its_end(sdk: None) -> None:
    job = aiplatform.CustomJob(display_name="sdk-flex", worker_pool_specs=[pool()])
    job.run(scheduling_strategy=flex_start(), max_wait_duration=1800)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    scheduling = job.gca_resource.job_spec.scheduling
    assert (scheduling.strategy, scheduling.max_wait_duration.seconds) == (flex_start(), 1800)


def test_the_sdk_s_wait_for_ever_gets_through(sdk: None, running: LocalCloud) -> None:
    no_machines = {"region": REGION, "machine": A100["machineType"], "machines": 0}
    running.rest("POST", "/slipway/scenario", {"supply": [no_machines]})
    job = aiplatform.CustomJob(display_name="sdk-ever", worker_pool_specs=[pool()])
    job.submit(scheduling_strategy=flex_start(), max_wait_duration=0)
    running.rest("POST", "/slipway/clock", {"advance": 30 * 24 * 3600})
    assert job.state.name == "JOB_STATE_PENDING"
    job.cancel()


def test_the_sdk_hears_that_the_wait_is_over(sdk: None, running: LocalCloud) -> None:
    no_machines = {"region": REGION, "machine": A100["machineType"], "machines": 0}
    running.rest("POST", "/slipway/scenario", {"supply": [no_machines]})
    job = aiplatform.CustomJob(display_name="sdk-vain", worker_pool_specs=[pool()])
    with pytest.raises(RuntimeError, match="max wait duration of 1 s"):
        job.run(scheduling_strategy=flex_start(), max_wait_duration=1)


def test_the_sdk_runs_a_spot_job_through_a_preemption(sdk: None, running: LocalCloud) -> None:
    running.rest("POST", "/slipway/scenario", {"spot": {"preempt": [{"job": "sdk-spot"}]}})
    cpu = {"machine_type": "n1-standard-4"}
    job = aiplatform.CustomJob(display_name="sdk-spot", worker_pool_specs=[pool(cpu)])
    job.run(scheduling_strategy=gca_custom_job.Scheduling.Strategy.SPOT)
    assert job.state.name == "JOB_STATE_SUCCEEDED"


def test_the_generated_client_is_refused_in_google_s_shape(jobs: aiplatform_v1.JobServiceClient) -> None:
    with pytest.raises(exceptions.BadRequest, match="same machine configuration") as caught:
        created(
            jobs, pool(), pool(GPU | {"machine_type": "a2-highgpu-2g", "accelerator_count": 2}), strategy=flex_start()
        )
    (detail,) = caught.value.details
    assert detail["fieldViolations"][0]["field"] == "job_spec.worker_pool_specs[1].machine_spec"
    with pytest.raises(exceptions.BadRequest, match="7 days"):
        created(jobs, pool(), strategy=flex_start(), timeout=duration_pb2.Duration(seconds=604801))


def test_the_generated_client_uses_a_reservation(jobs: aiplatform_v1.JobServiceClient, running: LocalCloud) -> None:
    affinity = {
        "reservation_affinity_type": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [HELD],
    }
    machine = GPU | {"reservation_affinity": affinity}
    with pytest.raises(exceptions.BadRequest, match="does not exist"):
        created(jobs, pool(machine))
    held = {HELD: {"machine": "a2-highgpu-1g", "count": 1}}
    running.rest("POST", "/slipway/scenario", {"reservations": held})
    job = created(jobs, pool(machine))
    spec = job.job_spec.worker_pool_specs[0].machine_spec.reservation_affinity
    assert (spec.reservation_affinity_type.name, list(spec.values)) == ("SPECIFIC_RESERVATION", [HELD])
    assert job.state.name == "JOB_STATE_PENDING"


def test_the_generated_client_is_told_of_a_stock_out(jobs: aiplatform_v1.JobServiceClient, running: LocalCloud) -> None:
    no_machines = {"region": REGION, "machine": "e2-standard-4", "machines": 0}
    running.rest("POST", "/slipway/scenario", {"supply": [no_machines]})
    job = created(jobs, pool({"machine_type": "e2-standard-4"}))
    assert job.state.name == "JOB_STATE_PENDING"
    while job.state.name == "JOB_STATE_PENDING":
        job = jobs.get_custom_job(name=job.name)
    assert (job.state.name, job.error.code) == ("JOB_STATE_FAILED", 8)
    assert "in region: us-central1." in job.error.message
