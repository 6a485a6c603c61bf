"""Custom jobs as their methods show them (D5, B4; vertex-rules 2, 3 and checklist 7). No process is started here."""

from typing import Any

import pytest

from vertex_local import identities
from vertex_local.access import policies
from vertex_local.faults import Fault
from vertex_local.nodes import mounts
from vertex_local.testing.bodies import KEY, NETWORK, PEERED, autoscaled, cluster_body, job_body, pool, worker
from vertex_local.testing.calling import CLUSTERS, JOBS, Calling, end, state
from vertex_local.vertex.jobs import table as jobs

NFS = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}


# --- create and read


def test_a_job_gets_a_number_a_disk_and_at_once_a_machine(calling: Calling) -> None:
    calling.cluster("cpu")
    made = calling.job(cluster="cpu")
    assert made["name"].rpartition("/")[2].isdigit()
    assert made["name"].startswith("projects/100000000001/")
    assert made["state"] == "JOB_STATE_PENDING"
    assert made["jobSpec"]["workerPoolSpecs"][0]["diskSpec"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    assert calling.call("GET", "/v1/" + made["name"]) == made


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


def test_a_network_and_a_key_that_fit_are_taken(calling: Calling) -> None:
    spec = {"network": NETWORK, "reservedIpRanges": ["r"]}
    made = calling.job(spec=spec, encryptionSpec={"kmsKeyName": KEY})
    assert (made["jobSpec"]["network"], made["encryptionSpec"]["kmsKeyName"]) == (NETWORK, KEY)
    named = {"networkAttachment": "a", "dnsPeeringConfigs": [{**PEERED["dnsPeeringConfigs"][0], "domain": "x.com."}]}
    assert calling.job(spec={"pscInterfaceConfig": named})["jobSpec"]["pscInterfaceConfig"] == named


# --- cancel and delete


def test_a_waiting_job_is_cancelled_at_once_and_a_finished_one_not_at_all(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 4})
    calling.job()
    waiting = calling.job()
    assert calling.refused("DELETE", "/v1/" + waiting["name"]).status == "FAILED_PRECONDITION"
    assert calling.call("POST", f"/v1/{waiting['name']}:cancel", {}) == {}
    cancelled = calling.call("GET", "/v1/" + waiting["name"])
    assert (cancelled["state"], "endTime" in cancelled) == ("JOB_STATE_CANCELLED", True)
    error = calling.refused("POST", f"/v1/{waiting['name']}:cancel", {})
    assert (error.code, error.status) == (400, "FAILED_PRECONDITION")
    answer = calling.call("DELETE", "/v1/" + waiting["name"])
    assert answer["done"] is True
    assert calling.refused("GET", "/v1/" + waiting["name"]).code == 404


# --- Who may submit a custom job, and as which account it runs (D5, P5; vertex-rules 1.7, 2).


CUSTOM_ACCOUNT = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
TRAINER = identities.DEPLOYER


def test_running_as_a_service_account_needs_leave_to_act_as_it(calling: Calling) -> None:
    calling.cluster("cpu", resourceRuntimeSpec=CUSTOM_ACCOUNT)
    user = ("user:ada@company.example",)
    calling.world.policies.seed(policies.project_name("local-project"), {"roles/aiplatform.user": user})
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    error = calling.refused("POST", JOBS, body, role="submitter")
    assert (error.code, "iam.serviceAccounts.actAs" in error.message) == (403, True)
    calling.world.policies.seed(policies.account_name("local-project", TRAINER), {"roles/iam.serviceAccountUser": user})
    assert calling.call("POST", JOBS, body, role="submitter")["state"] == "JOB_STATE_PENDING"


@pytest.mark.parametrize("account", ["foo", "trainer@elsewhere.iam.gserviceaccount.com"])
def test_an_account_of_another_project_needs_a_grant_of_its_own_even_from_the_owner(
    calling: Calling, account: str
) -> None:
    """Grants of this project's policy are for this project's accounts. (D5, P5)"""
    body = job_body(spec={"serviceAccount": account})
    error = calling.refused("POST", JOBS, body)
    assert (error.code, f"act as service_account: {account}" in error.message) == (403, True)
    owner = (identities.ROLES["owner"],)
    calling.world.policies.seed(
        policies.account_name("local-project", account), {"roles/iam.serviceAccountUser": owner}
    )
    assert calling.call("POST", JOBS, body)["jobSpec"]["serviceAccount"] == account


def test_a_cluster_without_custom_accounts_takes_none_unless_set_so(calling: Calling) -> None:
    calling.cluster("cpu")
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    assert "job_spec.service_account" in calling.refused("POST", JOBS, body).message
    calling.set(job_service_account="accept")
    assert calling.call("POST", JOBS, body)["state"] == "JOB_STATE_PENDING"


def test_the_default_account_is_the_custom_code_agent(calling: Calling) -> None:
    found = jobs.get(calling.world.store, calling.job()["name"])
    assert found and found.run and found.run.email == identities.CUSTOM_CODE_AGENT


# --- Lists of custom jobs: filters, order, pages, masks, and what they do not show yet.


def test_a_list_is_filtered_paged_and_masked(calling: Calling) -> None:
    calling.cluster("cpu")
    for number in range(5):
        calling.job(displayName=f"train-{number}", labels={"n": str(number % 2)})
    calling.job(displayName="other", cluster="cpu")
    everything = calling.call("GET", JOBS)["customJobs"]
    assert [job["displayName"] for job in everything][:2] == ["other", "train-4"], "newest first"
    odd = calling.call("GET", f'{JOBS}?filter=labels.n="1" AND display_name:"train-*"')
    assert [job["displayName"] for job in odd["customJobs"]] == ["train-3", "train-1"]
    on_pool = calling.call("GET", f'{JOBS}?filter=job_spec.persistent_resource_id="cpu"')["customJobs"]
    assert [job["displayName"] for job in on_pool] == ["other"]
    names: list[str] = []
    token = ""
    while True:
        page = calling.call("GET", f"{JOBS}?pageSize=4&readMask=displayName&pageToken={token}")
        assert all(list(job) == ["displayName"] for job in page["customJobs"])
        names += [job["displayName"] for job in page["customJobs"]]
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert names == ["other", "train-4", "train-3", "train-2", "train-1", "train-0"]


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


# --- Custom jobs and clusters beside each other under a quota (D5; vertex-rules checklist 3).


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


def test_clusters_draw_the_on_demand_metrics_and_jobs_on_them_none(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 8})
    calling.cluster("cpu")
    assert calling.job(cluster="cpu")["state"] == "JOB_STATE_PENDING"
    assert calling.job()["state"] == "JOB_STATE_QUEUED"
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=more", cluster_body())
    assert error.message.endswith("aiplatform.googleapis.com/custom_model_training_cpus")
    calling.set(cluster_quota="error")
    assert calling.cluster("more")["state"] == "ERROR"


# --- Custom jobs on the pools of a persistent resource: match, size, queue, growth (B4; vertex-rules 1.5, 2).


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
