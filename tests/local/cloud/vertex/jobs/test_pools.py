"""Custom jobs on the pools of a persistent resource: match, size, queue, growth (B4; vertex-rules 1.5, 2)."""

import pytest

from tests.local.cloud.calling import CLUSTERS, JOBS, Calling, end, state
from tests.local.cloud.vertex.bodies import KEY, autoscaled, job_body, pool, worker


def test_machine_and_disk_must_match_a_pool_exactly(calling: Calling) -> None:
    calling.cluster("cpu", resourcePools=[pool(diskSpec={"bootDiskType": "pd-standard", "bootDiskSizeGb": 200})])
    error = calling.refused("POST", JOBS, job_body(cluster="cpu"))
    assert error.status == "INVALID_ARGUMENT"
    assert "1.Field: job_spec.worker_pool_specs[0]; Message:" in error.message
    assert "disk_spec.boot_disk_type pd-ssd != pd-standard" in error.message
    assert "disk_spec.boot_disk_size_gb 100 != 200" in error.message
    disk = {"bootDiskType": "pd-standard", "bootDiskSizeGb": 200}
    assert calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(diskSpec=disk)]})["state"].endswith("PENDING")


def test_the_nearest_pool_is_named(calling: Calling) -> None:
    calling.cluster("cpu", resourcePools=[pool("n1-highmem-8", id="big"), pool("n1-standard-8", id="near")])
    error = calling.refused("POST", JOBS, job_body(worker("n1-standard-4"), cluster="cpu"))
    assert "machine_spec.machine_type n1-standard-4 != n1-" in error.message


def test_more_than_a_pool_can_ever_have_is_refused(calling: Calling) -> None:
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3)])
    error = calling.refused("POST", JOBS, job_body(worker(), worker(replicas=3), cluster="cpu"))
    assert "1.Field: job_spec.worker_pool_specs[1].replica_count" in error.message
    assert "more than the 3" in error.message


@pytest.mark.parametrize("strategy", ["SPOT", "FLEX_START"])
def test_a_pool_takes_no_other_strategy(calling: Calling, strategy: str) -> None:
    calling.cluster("cpu")
    error = calling.refused("POST", JOBS, job_body(cluster="cpu", spec={"scheduling": {"strategy": strategy}}))
    assert "job_spec.scheduling.strategy" in error.message


def test_a_full_pool_queues_in_order_and_shows_what_is_used(calling: Calling) -> None:
    calling.cluster("cpu")
    made = [calling.job(cluster="cpu") for _ in range(3)]
    assert [job["state"] for job in made] == ["JOB_STATE_PENDING", "JOB_STATE_PENDING", "JOB_STATE_QUEUED"]
    assert calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"][0]["usedReplicaCount"] == "2"


def test_nobody_overtakes_a_job_that_waits_for_the_same_machines(calling: Calling) -> None:
    calling.cluster("cpu", resourcePools=[pool(), pool("n1-standard-8", 1)])
    calling.job(cluster="cpu")
    large = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})
    small = calling.job(cluster="cpu")
    other = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker("n1-standard-8")]})
    calling.advance(1)
    states = [state(calling, job).removeprefix("JOB_STATE_") for job in (large, small, other)]
    assert states == ["QUEUED", "QUEUED", "PENDING"]


def test_a_full_pool_can_be_set_to_reject(calling: Calling) -> None:
    calling.set(full_pool="reject")
    calling.cluster("cpu")
    calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})
    assert calling.refused("POST", JOBS, job_body(cluster="cpu")).status == "RESOURCE_EXHAUSTED"


def test_a_cluster_that_does_not_run_takes_no_jobs(calling: Calling) -> None:
    assert calling.refused("POST", JOBS, job_body(cluster="none")).code == 404
    calling.set(create_error="cpu")
    calling.cluster("cpu")
    error = calling.refused("POST", JOBS, job_body(cluster="cpu"))
    assert (error.status, "ERROR" in error.message) == ("FAILED_PRECONDITION", True)


def test_network_and_key_must_be_the_cluster_s(calling: Calling) -> None:
    calling.cluster("cpu", network="projects/1/global/networks/a")
    error = calling.refused("POST", JOBS, job_body(cluster="cpu", spec={"network": "projects/1/global/networks/b"}))
    assert "job_spec.network" in error.message
    error = calling.refused("POST", JOBS, job_body(cluster="cpu", encryptionSpec={"kmsKeyName": KEY}))
    assert "encryption_spec.kms_key_name; Message: The key" in error.message


# --- autoscaling (1.5)


def test_a_pool_grows_for_those_who_wait_and_shrinks_when_idle(calling: Calling) -> None:
    calling.set(scale_up_seconds=30, scale_idle_seconds=60, scale_down_seconds=10)
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3)])
    made = [calling.job(cluster="cpu") for _ in range(4)]
    calling.advance(1)
    growing = calling.call("GET", f"{CLUSTERS}/cpu")
    assert (growing["state"], growing["resourcePools"][0]["replicaCount"]) == ("UPDATING", "1")
    calling.advance(30)
    grown = calling.call("GET", f"{CLUSTERS}/cpu")
    assert (grown["state"], grown["resourcePools"][0]["replicaCount"]) == ("RUNNING", "3")
    assert [state(calling, job).removeprefix("JOB_STATE_") for job in made] == [*["PENDING"] * 3, "QUEUED"]
    calling.call("POST", f"/v1/{made[3]['name']}:cancel", {})
    for job in made[:3]:
        end(calling, job)
    calling.advance(1)
    calling.advance(59)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"][0]["replicaCount"] == "3"
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "UPDATING"
    calling.advance(10)
    idle = calling.call("GET", f"{CLUSTERS}/cpu")
    assert (idle["state"], idle["resourcePools"][0]["replicaCount"]) == ("RUNNING", "1")


def test_a_pool_grows_no_further_than_quota(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 8})
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3)])
    made = [calling.job(cluster="cpu") for _ in range(3)]
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"][0]["replicaCount"] == "2"
    assert [state(calling, job).removeprefix("JOB_STATE_") for job in made] == ["PENDING", "PENDING", "QUEUED"]
