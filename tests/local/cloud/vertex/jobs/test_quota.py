"""Custom jobs and clusters beside each other under a quota (D5; vertex-rules checklist 3)."""

from tests.local.cloud.calling import CLUSTERS, JOBS, Calling, end, state
from tests.local.cloud.vertex.bodies import cluster_body, job_body, worker


def test_more_than_the_limit_is_refused_with_all_metrics(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_pd_ssd": 50})
    gpu = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 4}
    error = calling.refused("POST", JOBS, job_body(worker(machineSpec=gpu), worker(replicas=4, machineSpec=gpu)))
    assert (error.code, error.status) == (429, "RESOURCE_EXHAUSTED")
    said, _, metrics = error.message.rpartition(": ")
    assert said.endswith("exceed quota limits"), "clients know it by these words"
    assert metrics.split(",") == [
        "aiplatform.googleapis.com/custom_model_training_nvidia_t4_gpus",
        "aiplatform.googleapis.com/custom_model_training_pd_ssd",
    ]


def test_quota_in_use_makes_a_job_wait(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 6})
    first, second = calling.job(), calling.job()
    assert (first["state"], second["state"]) == ("JOB_STATE_PENDING", "JOB_STATE_QUEUED")
    end(calling, first)
    calling.advance(1)
    assert state(calling, second) == "JOB_STATE_PENDING"


def test_a_spot_job_draws_the_preemptible_metrics(calling: Calling) -> None:
    spot = job_body(spec={"scheduling": {"strategy": "SPOT"}})
    error = calling.refused("POST", JOBS, spot)
    assert error.message.endswith("aiplatform.googleapis.com/custom_model_training_preemptible_cpus")
    calling.set(**{"quota.custom_model_training_preemptible_cpus": 4, "quota.custom_model_training_cpus": 0})
    assert calling.call("POST", JOBS, spot)["state"] == "JOB_STATE_PENDING"
    assert calling.call("POST", JOBS, spot)["state"] == "JOB_STATE_QUEUED"


def test_clusters_draw_the_on_demand_metrics_and_jobs_on_them_none(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 8})
    calling.cluster("cpu")
    assert calling.job(cluster="cpu")["state"] == "JOB_STATE_PENDING"
    assert calling.job()["state"] == "JOB_STATE_QUEUED"
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=more", cluster_body())
    assert error.message.endswith("aiplatform.googleapis.com/custom_model_training_cpus")
    calling.set(cluster_quota="error")
    assert calling.cluster("more")["state"] == "ERROR"
