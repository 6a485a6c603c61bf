"""Custom jobs and persistent resources over time, where no process is started (B4, D4, D5, D9; vertex-rules 1, 2, 3).

What their methods answer at once: `contracts/answered_jobs.txt`, `answered_clusters.txt` and `answered_people.txt`.
"""

from typing import Any

import pytest

from vertex_local import identities
from vertex_local.faults import Fault
from vertex_local.nodes import mounts
from vertex_local.testing.bodies import autoscaled, cluster_body, job_body, pool, worker
from vertex_local.testing.calling import CLUSTERS, JOBS, Calling, end, state
from vertex_local.vertex.jobs import table as jobs

NFS = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}


def test_nfs_mounts_are_refused_in_words_where_no_process_can_have_mounts_of_its_own(
    calling: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "possible", lambda **_: False)
    error = calling.refused("POST", JOBS, job_body(worker(nfsMounts=[NFS])))
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert "user namespaces" in error.message


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ({"command": ["sh", "-c", "cat /gcs/b/f"]}, '"cat /gcs/b/f"'),
        ({"args": ["--out=/gcs/b/out"]}, '"--out=/gcs/b/out"'),
        ({"env": [{"name": "OUT", "value": "/gcs/b/out"}]}, "the variable OUT"),
        ({"args": ["gs://b/gcs"]}, ""),
    ],
)
def test_paths_of_buckets_are_refused_in_words_where_no_buckets_can_be_mounted(
    calling: Calling, monkeypatch: pytest.MonkeyPatch, named: dict[str, Any], what: str
) -> None:
    monkeypatch.setattr(mounts, "possible", lambda **_: False)
    body = job_body(worker(containerSpec={"imageUri": "python:3.10", **named}))
    if not what:
        assert calling.call("POST", JOBS, body)["state"]
        return
    error = calling.refused("POST", JOBS, body)
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert f"{what} names a path below /gcs/" in error.message and "not a mistake in the request" in error.message
    if "env" in named:
        assert "/gcs/b/out" not in error.message, "it may be secret"


def test_the_default_account_is_the_custom_code_agent(calling: Calling) -> None:
    record = jobs.get(calling.world.store, calling.job()["name"])
    assert record and record.run and record.run.email == identities.CUSTOM_CODE_AGENT


def test_a_list_can_lag_behind_what_was_made(calling: Calling) -> None:
    """N7: lists have no promise to show a job at once, a read by name has."""
    calling.cluster("cpu")
    calling.world.faults.set([Fault("lagging-list", "GET .*/(customJobs|persistentResources)$", seconds=30)])
    made = calling.job(displayName="late")
    assert calling.call("GET", f'{JOBS}?filter=display_name="late"') == {"customJobs": []}
    assert calling.call("GET", CLUSTERS) == {"persistentResources": []}
    assert calling.call("GET", "/v1/" + made["name"])["displayName"] == "late"
    calling.clock.advance(31)
    assert (
        len(calling.call("GET", JOBS)["customJobs"]) == len(calling.call("GET", CLUSTERS)["persistentResources"]) == 1
    )


# --- Custom jobs on the pools of a persistent resource: match, size, queue, growth (B4; vertex-rules 1.5, 2).


def test_nobody_overtakes_a_job_that_waits_for_the_same_machines(calling: Calling) -> None:
    calling.cluster("cpu", resourcePools=[pool(), pool("n1-standard-8", 1)])
    calling.job(cluster="cpu")
    large = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})
    small = calling.job(cluster="cpu")
    other = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker("n1-standard-8")]})
    calling.advance(1)
    states = [state(calling, job).removeprefix("JOB_STATE_") for job in (large, small, other)]
    assert states == ["QUEUED", "QUEUED", "PENDING"]


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


# --- Persistent resources (vertex-rules 1).


def test_a_create_takes_its_time_and_a_speed_divides_it(calling: Calling) -> None:
    calling.set(create_seconds=300, speed=10)
    answer = calling.call("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body())
    calling.advance(29)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "PROVISIONING"
    assert "done" not in calling.call("GET", "/v1/" + answer["name"])
    refusal = calling.refused("DELETE", f"{CLUSTERS}/cpu")
    assert (refusal.status, "PROVISIONING" in refusal.message) == ("FAILED_PRECONDITION", True)
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["startTime"] == "2026-11-20T10:00:30.000000Z"


def test_deleting_cancels_its_jobs_first(calling: Calling) -> None:
    calling.cluster("cpu")
    calling.set(delete_seconds=60)
    running = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})
    waiting = calling.job(cluster="cpu")
    answer = calling.call("DELETE", f"{CLUSTERS}/cpu")
    assert "done" not in answer
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "STOPPING"
    assert calling.call("GET", "/v1/" + running["name"])["state"] == "JOB_STATE_CANCELLING"
    cancelled = calling.call("GET", "/v1/" + waiting["name"])
    assert cancelled["state"] == "JOB_STATE_CANCELLED"
    assert "was deleted" in cancelled["error"]["message"]
    calling.advance(61)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "STOPPING", "its job's processes still hold machines"


def test_a_reboot_takes_an_autoscaled_pool_back_to_its_minimum(calling: Calling) -> None:
    calling.set(reboot_seconds=60)
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3) | {"replicaCount": "2"}])
    answer = calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    assert answer["metadata"]["progressMessage"] == "Waiting for persistent resource shut down."
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "REBOOTING"
    assert calling.refused("DELETE", f"{CLUSTERS}/cpu").status == "FAILED_PRECONDITION"
    assert calling.refused("POST", f"{CLUSTERS}/cpu:reboot", {}).status == "FAILED_PRECONDITION"
    calling.advance(60)
    read = calling.call("GET", f"{CLUSTERS}/cpu")
    assert (read["state"], read["resourcePools"][0]["replicaCount"]) == ("RUNNING", "1")
    assert calling.call("GET", "/v1/" + answer["name"])["done"] is True


def test_a_reboot_takes_the_machines_from_running_jobs_which_get_another_attempt(calling: Calling) -> None:
    calling.cluster("cpu")
    made = calling.job(cluster="cpu")
    calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    record = jobs.get(calling.world.store, made["name"])
    assert record and record.run and record.run.outcome and record.run.outcome.state == "retry"
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "REBOOTING", "until its replicas have ended"
