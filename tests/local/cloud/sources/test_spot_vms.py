"""Source 004, "Use Spot VMs with training": its REST body with the errors corrected, its Python, its limits (X1–X7)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.local.cloud.sources.conftest import STAGING, gpus_drawn, log, posted, refusal
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform

A100 = {"machineType": "a2-highgpu-1g", "acceleratorType": "NVIDIA_TESLA_A100", "acceleratorCount": 1}
CONTAINER = {"imageUri": "python:3.10", "command": ["sh", "-c", "sleep $0"], "args": ["600"]}
PACKAGE = {
    "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    "packageUris": ["gs://bucket/trainer.tar.gz"],
    "pythonModule": "trainer.task",
    "args": [],
}


def body(**task: Any) -> dict[str, Any]:
    """The document's body. There a bracket closes the worker pool after its machine, so that replicaCount and the task
    stand outside of it; here they are in it. It shows both kinds of task, of which there is to be one."""
    pool = {"machineSpec": A100, "replicaCount": 1, **(task or {"containerSpec": CONTAINER})}
    return {"displayName": "JOB_NAME", "jobSpec": {"workerPoolSpecs": [pool], "scheduling": {"strategy": "SPOT"}}}


@pytest.mark.journey
def test_the_mended_body_runs_on_preemptible_quota(cloud: LocalCloud) -> None:
    name = posted(cloud, body())
    cloud.until(name, "JOB_STATE_RUNNING")
    assert gpus_drawn(cloud, "a100") == (0, 1)
    cloud.rest("POST", f"/v1/{name}:cancel", {})
    cloud.until(name, "JOB_STATE_CANCELLED")


def test_the_body_as_it_is_printed_is_refused(cloud: LocalCloud) -> None:
    misplaced = body()
    del misplaced["jobSpec"]["workerPoolSpecs"][0]["replicaCount"]
    misplaced["jobSpec"]["replicaCount"] = 1
    code, words = refusal(cloud, misplaced)
    assert code == 400 and 'Unknown name "replicaCount"' in words
    code, words = refusal(cloud, body(containerSpec=CONTAINER, pythonPackageSpec=PACKAGE))
    assert code == 400
    assert "task" in words or "Exactly one" in words


def test_there_may_be_a_hundred_package_uris(cloud: LocalCloud) -> None:
    many = {**PACKAGE, "packageUris": [f"gs://bucket/{number}.tar.gz" for number in range(101)]}
    code, words = refusal(cloud, body(pythonPackageSpec=many))
    assert code == 400 and "At most 100 package URIs" in words


def test_tpu_pods_are_no_spot_machines(cloud: LocalCloud) -> None:
    sent = body()
    machine = {"machineType": "cloud-tpu", "acceleratorType": "TPU_V4_POD", "acceleratorCount": 32}
    sent["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = machine
    code, words = refusal(cloud, sent)
    assert code == 400 and ("TPU" in words or "cloud-tpu" in words)


def test_other_series_than_a2_and_a3_are_taken_today(cloud: LocalCloud) -> None:
    """The document knows A2 and A3 alone; today's page has no such line."""
    sent = copy.deepcopy(body())
    machine = {"machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}
    sent["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = machine
    name = posted(cloud, sent)
    cloud.rest("POST", f"/v1/{name}:cancel", {})
    cloud.until(name, "JOB_STATE_CANCELLED")


def spot() -> Any:
    """Return the strategy by the sample's way to its name."""
    types: Any = aiplatform.compat.types
    return types.custom_job.Scheduling.Strategy.SPOT


def preempt(cloud: LocalCloud, times: int) -> None:
    cloud.rest("POST", "/slipway/scenario", {"spot": {"preempt": [{"job": "spot", "after": 0.0, "times": times}]}})


def spot_job(seconds: str) -> aiplatform.CustomJob:
    worker_pool_spec: Any = [
        {
            "machine_spec": {
                "machine_type": "a2-highgpu-1g",
                "accelerator_type": "NVIDIA_TESLA_A100",
                "accelerator_count": 1,
            },
            "replica_count": 1,
            "container_spec": {"image_uri": "python:3.10", "command": ["sh", "-c", f"echo began; sleep {seconds}"]},
        }
    ]
    return aiplatform.CustomJob(
        display_name="spot", worker_pool_specs=worker_pool_spec, staging_bucket=f"gs://{STAGING}"
    )


@pytest.mark.journey
def test_the_sample_is_restarted_after_preemption_and_succeeds(sdk: LocalCloud) -> None:
    preempt(sdk, 2)
    job = spot_job("1")
    job.run(scheduling_strategy=spot())
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    said = log(sdk, job.resource_name)
    assert said.count("began") == 3
    assert len([line for line in said if "STOCKOUT" in line]) == 2


@pytest.mark.journey
def test_after_six_restarts_the_job_fails(sdk: LocalCloud) -> None:
    preempt(sdk, -1)
    job = spot_job("600")
    with pytest.raises(RuntimeError, match="STOCKOUT"):
        job.run(scheduling_strategy=spot())
    assert log(sdk, job.resource_name).count("began") == 7
