"""Source 001, "Run training jobs on a persistent resource": its Python, its REST rules, its role (P1–P5)."""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core import exceptions

from local.cloud import identities
from local.cloud.access.policies import project_name
from tests.local.cloud.calling import PARENT, Calling
from tests.local.cloud.sources.conftest import TRAINER, posted, refusal
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform, persistent_resource

CLUSTER = "source-001"
GPU = {"machine_type": "n1-standard-4", "accelerator_type": "NVIDIA_TESLA_T4", "accelerator_count": 1}


@pytest.fixture(scope="session")
def cluster(running: LocalCloud) -> str:
    """A cluster for the sample: its K80, which the service no longer has, is a T4 here."""
    machine = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
    pool = {"machineSpec": machine, "replicaCount": "2"}
    accounts = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"resourcePools": [pool], "resourceRuntimeSpec": accounts}
    running.rest("POST", f"/v1/{PARENT}/persistentResources?persistentResourceId={CLUSTER}", body)
    return CLUSTER


def create_custom_job_on_persistent_resource_sample(
    display_name: str,
    container_uri: str,
    persistent_resource_id: str,
    service_account: str | None = None,
    **machine: Any,
) -> aiplatform.CustomJob:
    """The document's sample; the machine is an argument."""
    worker_pool_specs: Any = [
        {
            "machine_spec": machine or GPU,
            "replica_count": 1,
            "container_spec": {"image_uri": container_uri, "command": [], "args": []},
        }
    ]
    custom_job = aiplatform.CustomJob(
        display_name=display_name, worker_pool_specs=worker_pool_specs, persistent_resource_id=persistent_resource_id
    )
    custom_job.run(service_account=service_account)
    return custom_job


@pytest.mark.journey
def test_the_sample_runs(sdk: LocalCloud, cluster: str) -> None:
    job = create_custom_job_on_persistent_resource_sample("pr", "python:3.10", cluster, TRAINER)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    assert job.gca_resource.job_spec.persistent_resource_id == cluster
    pool = persistent_resource.PersistentResource(cluster).gca_resource.resource_pools[0]
    assert (pool.replica_count, pool.used_replica_count) == (2, 0)


def test_the_sample_s_accelerator_is_no_more(sdk: LocalCloud, cluster: str) -> None:
    with pytest.raises(exceptions.BadRequest, match="NVIDIA_TESLA_K80"):
        create_custom_job_on_persistent_resource_sample(
            "k80", "python:3.10", cluster, TRAINER, **{**GPU, "accelerator_type": "NVIDIA_TESLA_K80"}
        )


def body(cluster: str, *replicas: int, machine: str = "n1-standard-4", disk: str = "pd-ssd") -> dict[str, Any]:
    """What the document's REST section describes: pools that equal the cluster's."""
    pools = [
        {
            "machineSpec": {"machineType": machine, "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1},
            "diskSpec": {"bootDiskType": disk, "bootDiskSizeGb": 100},
            "replicaCount": count,
            "containerSpec": {"imageUri": "python:3.10", "command": ["sleep", "600"]},
        }
        for count in replicas
    ]
    return {
        "displayName": "rest",
        "jobSpec": {"persistentResourceId": cluster, "serviceAccount": TRAINER, "workerPoolSpecs": pools},
    }


@pytest.mark.parametrize("change", [{"machine": "n1-standard-8"}, {"disk": "pd-standard"}])
def test_machine_and_disk_must_equal_the_pool_s(cloud: LocalCloud, cluster: str, change: dict[str, str]) -> None:
    code, words = refusal(cloud, body(cluster, 1, **change))
    assert code == 400 and "job_spec.worker_pool_specs[0]" in words


def test_there_can_be_no_more_replicas_than_the_pool_has(cloud: LocalCloud, cluster: str) -> None:
    code, words = refusal(cloud, body(cluster, 1, 2))
    assert code == 400 and "replica" in words


@pytest.mark.journey
def test_replicas_of_other_jobs_are_not_free(cloud: LocalCloud, cluster: str) -> None:
    """One worker pool for a single node, several for distributed training; a full pool is waited for."""
    first = posted(cloud, body(cluster, 1, 1))
    cloud.until(first, "JOB_STATE_RUNNING")
    second = posted(cloud, body(cluster, 1))
    assert cloud.rest("GET", f"/v1/{second}")["state"] == "JOB_STATE_QUEUED"
    cloud.rest("POST", f"/v1/{first}:cancel", {})
    cloud.until(second, "JOB_STATE_RUNNING")
    cloud.rest("POST", f"/v1/{second}:cancel", {})
    cloud.until(second, "JOB_STATE_CANCELLED")


def test_the_vertex_ai_user_role_is_enough_and_needed(calling: Calling) -> None:
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    calling.call("POST", f"/v1/{PARENT}/persistentResources?persistentResourceId=mine", {"resourcePools": [pool]})
    task = {"imageUri": "python:3.10"}
    sent = {
        "displayName": "a",
        "jobSpec": {"persistentResourceId": "mine", "workerPoolSpecs": [{**pool, "containerSpec": task}]},
    }
    error = calling.refused("POST", f"/v1/{PARENT}/customJobs", sent, role="submitter")
    assert error.code == 403 and "aiplatform.customJobs.create" in str(error)
    calling.world.policies.seed(
        project_name("slipway-local"), {"roles/aiplatform.user": (identities.ROLES["submitter"],)}
    )
    assert calling.call("POST", f"/v1/{PARENT}/customJobs", sent, role="submitter")["name"]
