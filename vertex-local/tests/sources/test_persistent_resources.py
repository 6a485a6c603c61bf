"""Source 001, "Run training jobs on a persistent resource", and 002, "Assured capacity" (B1, B2, B4, P1–P5).

What they say is refused: `contracts/sources.txt`.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core import exceptions

from tests.official import aiplatform, persistent_resource
from tests.sources.conftest import TRAINER
from vertex_local.testing.calling import PARENT
from vertex_local.testing.local_cloud import LocalCloud

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


# --- Source 002, "Assured capacity and faster start": a cluster from create to delete (B1, B2, B4).


MACHINE = {"machine_type": "n1-standard-4"}


def job(name: str, cluster: str, *command: str, replicas: int = 1) -> aiplatform.CustomJob:
    def pool(count: int) -> dict[str, Any]:
        task = {"image_uri": "python:3.10", "command": list(command)}
        return {"machine_spec": MACHINE, "replica_count": count, "container_spec": task}

    pools: Any = [pool(1)] + ([pool(replicas - 1)] if replicas > 1 else [])
    return aiplatform.CustomJob(display_name=name, worker_pool_specs=pools, persistent_resource_id=cluster)


@pytest.mark.journey
def test_a_cluster_from_create_to_delete(sdk: LocalCloud) -> None:
    cluster = persistent_resource.PersistentResource.create(
        persistent_resource_id="source-002",
        resource_pools=[
            {"machine_spec": MACHINE, "autoscaling_spec": {"min_replica_count": 1, "max_replica_count": 3}}
        ],
    )

    def size() -> int:
        pool = persistent_resource.PersistentResource("source-002").gca_resource.resource_pools[0]
        return int(pool.replica_count)

    assert size() == 1
    first = job("first", cluster.name, "true")
    first.run()
    assert any(line.startswith("Pulling image") for line in sdk.lines(first.resource_name, ""))
    # The same image again is there already: that is the time saved on a similar job.
    second = job("second", cluster.name, "true")
    second.run()
    told = sdk.lines(second.resource_name, "")
    assert not any(line.startswith("Pulling image") for line in told)
    assert any("python:3.10" in line and "cache" in line for line in told)
    # Distributed training lets the pool grow, as far as it may.
    three = job("three", cluster.name, "true", replicas=3)
    three.run()
    assert three.state.name == "JOB_STATE_SUCCEEDED" and size() == 3
    four = job("four", cluster.name, "true", replicas=4)
    with pytest.raises(exceptions.BadRequest, match="replica"):
        four.run()
    cluster.delete()
    with pytest.raises(exceptions.NotFound):
        persistent_resource.PersistentResource("source-002")
    with pytest.raises(exceptions.NotFound, match="PersistentResource"):
        job("late", "source-002", "true").run()
