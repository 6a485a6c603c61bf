"""Custom jobs as their methods show them (D5, B4; vertex-rules 2, 3 and checklist 7). No process is started here."""

from typing import Any

import pytest

from local.cloud import identities
from local.cloud.access import policies
from local.cloud.faults import Fault
from local.cloud.nodes import mounts
from local.cloud.nodes.spec import Status
from local.cloud.vertex.jobs import life as job_life
from local.cloud.vertex.jobs import table as jobs
from tests.local.cloud.calling import CLUSTERS, JOBS, Calling
from tests.local.cloud.vertex.bodies import KEY, NETWORK, PEERED, autoscaled, cluster_body, job_body, pool, worker

NFS = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}
CUSTOM_ACCOUNT = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
TRAINER = identities.DEPLOYER
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"


def package(**changes: Any) -> dict[str, Any]:
    spec = {"executorImageUri": PREBUILT, "packageUris": ["gs://b/p.tar.gz"], "pythonModule": "task"} | changes
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "pythonPackageSpec": spec}


def state(calling: Calling, job: dict[str, Any]) -> str:
    return str(calling.call("GET", "/v1/" + job["name"])["state"])


# --- create and read


def test_a_job_gets_a_number_a_disk_and_at_once_a_machine(calling: Calling) -> None:
    calling.cluster("cpu")
    made = calling.job(cluster="cpu")
    assert made["name"].rpartition("/")[2].isdigit()
    assert made["name"].startswith("projects/100000000001/")
    assert made["state"] == "JOB_STATE_PENDING"
    assert made["jobSpec"]["workerPoolSpecs"][0]["diskSpec"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    assert calling.call("GET", "/v1/" + made["name"]) == made


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        (job_body(displayName=""), "display_name", "required"),
        (job_body(labels={"A": "b"}), "labels", "lowercase"),
        ({"displayName": "x", "jobSpec": {}}, "worker_pool_specs", "At least one"),
        (job_body({}, worker()), "worker_pool_specs", "for the chief"),
        (job_body(*[worker() for _ in range(5)]), "worker_pool_specs", "At most 4"),
        (job_body(worker(replicas=2)), "worker_pool_specs[0].replica_count", "must be 1"),
        (job_body(worker(), worker(replicas=0)), "worker_pool_specs[1].replica_count", "at least 1"),
        (job_body(worker("n1-standard-2")), "machine_type", "Machine type n1-standard-2 is not supported."),
        (job_body({"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1}), "[0]", "Exactly one of"),
        (job_body(worker(diskSpec={"bootDiskSizeGb": 10})), "boot_disk_size_gb", "between 100"),
        (job_body(package(executorImageUri="mine:latest")), "executor_image_uri", "pre-built"),
        (job_body(package(packageUris=[])), "package_uris", "At least one"),
        (job_body(package(packageUris=["gs://b/p"] * 101)), "package_uris", "At most 100"),
        (job_body(package(packageUris=["/tmp/p"])), "package_uris[0]", "Cloud Storage"),
        (job_body(package(pythonModule="")), "python_module", "required"),
        (job_body(package(args=["x" * 100_001])), "args", "100000"),
        (job_body(package(env=[{"name": "1A", "value": ""}])), "env[0].name", "C identifier"),
        (job_body(package(env=[{"name": f"A{n}"} for n in range(101)])), "env", "At most 100"),
        (job_body(worker(nfsMounts=[{**NFS, "server": ""}])), "nfs_mounts[0].server", "required"),
        (job_body(worker(nfsMounts=[{**NFS, "path": "share"}])), "nfs_mounts[0].path", 'start with "/"'),
        (job_body(worker(nfsMounts=[{**NFS, "mountPoint": "/data"}])), "nfs_mounts[0].mount_point", "under /mnt/nfs/"),
        (job_body(worker(nfsMounts=[NFS, NFS])), "nfs_mounts[1].mount_point", "more than once"),
        (job_body(spec={"baseOutputDirectory": {"outputUriPrefix": "/tmp"}}), "output_uri_prefix", "Cloud Storage"),
        (job_body(spec={"scheduling": {"timeout": "-5s"}}), "timeout", "positive"),
        (job_body(spec={"tensorboard": "t"}), "service_account", "required with tensorboard"),
        (job_body(spec={"network": "default"}), "job_spec.network", "projects/{number}"),
        (job_body(spec={"network": "projects/acme/global/networks/n"}), "job_spec.network", "projects/{number}"),
        (job_body(spec={"reservedIpRanges": ["r"]}), "job_spec.reserved_ip_ranges", "need a network"),
        (job_body(spec={"network": NETWORK, "pscInterfaceConfig": PEERED}), "psc_interface_config", "cannot both"),
        (
            job_body(spec={"pscInterfaceConfig": {"networkAttachment": "A b"}}),
            "network_attachment",
            "name or full path",
        ),
        (
            job_body(spec={"pscInterfaceConfig": PEERED}),
            "job_spec.psc_interface_config.dns_peering_configs[0]",
            'with "."',
        ),
        (job_body(encryptionSpec={"kmsKeyName": KEY.replace("us-central1", "eu")}), "kms_key_name", "same region"),
        (job_body(encryptionSpec={"kmsKeyName": "key"}), "encryption_spec.kms_key_name", "not the name of a key"),
    ],
)
def test_a_bad_body_is_refused_with_field_and_message(calling: Calling, body: Any, field: str, words: str) -> None:
    error = calling.refused("POST", JOBS, body)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert error.message.startswith("List of found errors:\t1.Field: ")
    assert field in error.message
    assert words in error.message


def test_a_worker_pool_has_one_task(calling: Calling) -> None:
    error = calling.refused("POST", JOBS, job_body(worker() | package()))
    assert (error.code, "jobSpec.workerPoolSpecs[0]" in error.message) == (400, True)


def test_an_unknown_field_is_named_with_its_path(calling: Calling) -> None:
    error = calling.refused("POST", JOBS, job_body(worker(gpus=1)))
    assert "Unknown name \"gpus\" at 'jobSpec.workerPoolSpecs[0]'" in error.message


def test_what_is_not_here_says_so(calling: Calling) -> None:
    mount = {"instanceIp": "10.0.0.3", "volumeHandle": "v", "filesystem": "f", "mountPoint": "m"}
    error = calling.refused("POST", JOBS, job_body(worker(lustreMounts=[mount])))
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert "lustreMounts" in error.message


def test_nfs_mounts_are_refused_in_words_where_no_process_can_have_mounts_of_its_own(
    calling: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "possible", lambda: False)
    error = calling.refused("POST", JOBS, job_body(worker(nfsMounts=[NFS])))
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert "user namespaces" in error.message


@pytest.mark.parametrize("kind", ["pipelineJobs", "schedules"])
def test_other_kinds_of_jobs_are_none_and_can_not_be_made(calling: Calling, kind: str) -> None:
    path = JOBS.replace("customJobs", kind)
    assert calling.call("GET", path) == {}
    assert calling.refused("POST", path, {}).status == "UNIMPLEMENTED"


def test_a_name_that_is_no_number_is_no_job(calling: Calling) -> None:
    error = calling.refused("GET", f"{JOBS}/mine")
    assert error.message == "List of found errors:\t1.Field: name; Message: Invalid CustomJob resource name.\t"
    assert calling.refused("GET", f"{JOBS}/123").code == 404


# --- permissions and identity


def test_who_may_not_submit_is_told_the_permission(calling: Calling) -> None:
    error = calling.refused("POST", JOBS, job_body(), role="submitter")
    assert "aiplatform.customJobs.create" in error.message


def test_running_as_a_service_account_needs_leave_to_act_as_it(calling: Calling) -> None:
    calling.cluster("cpu", resourceRuntimeSpec=CUSTOM_ACCOUNT)
    user = ("user:ada@slipway.example",)
    calling.world.policies.seed(policies.project_name(), {"roles/aiplatform.user": user})
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    error = calling.refused("POST", JOBS, body, role="submitter")
    assert (error.code, "iam.serviceAccounts.actAs" in error.message) == (403, True)
    calling.world.policies.seed(policies.account_name(TRAINER), {"roles/iam.serviceAccountUser": user})
    assert calling.call("POST", JOBS, body, role="submitter")["state"] == "JOB_STATE_PENDING"


def test_a_service_account_must_exist(calling: Calling) -> None:
    error = calling.refused("POST", JOBS, job_body(spec={"serviceAccount": TRAINER.replace("deployer", "nobody")}))
    assert "does not exist" in error.message


@pytest.mark.parametrize("account", ["foo", "trainer@elsewhere.iam.gserviceaccount.com"])
def test_an_account_of_another_project_needs_a_grant_of_its_own_even_from_the_owner(
    calling: Calling, account: str
) -> None:
    """What this project's policy grants is for this project's accounts. (D5, P5)"""
    body = job_body(spec={"serviceAccount": account})
    error = calling.refused("POST", JOBS, body)
    assert (error.code, f"act as service_account: {account}" in error.message) == (403, True)
    owner = (identities.ROLES["owner"],)
    calling.world.policies.seed(policies.account_name(account), {"roles/iam.serviceAccountUser": owner})
    assert calling.call("POST", JOBS, body)["jobSpec"]["serviceAccount"] == account


def test_a_network_and_a_key_that_fit_are_taken(calling: Calling) -> None:
    spec = {"network": NETWORK, "reservedIpRanges": ["r"]}
    made = calling.job(spec=spec, encryptionSpec={"kmsKeyName": KEY})
    assert (made["jobSpec"]["network"], made["encryptionSpec"]["kmsKeyName"]) == (NETWORK, KEY)
    named = {"networkAttachment": "a", "dnsPeeringConfigs": [{**PEERED["dnsPeeringConfigs"][0], "domain": "x.com."}]}
    assert calling.job(spec={"pscInterfaceConfig": named})["jobSpec"]["pscInterfaceConfig"] == named


def test_a_cluster_with_custom_accounts_wants_one_named(calling: Calling) -> None:
    calling.cluster("cpu", resourceRuntimeSpec=CUSTOM_ACCOUNT)
    assert "job_spec.service_account" in calling.refused("POST", JOBS, job_body(cluster="cpu")).message


def test_a_cluster_without_custom_accounts_takes_none_unless_set_so(calling: Calling) -> None:
    calling.cluster("cpu")
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    assert "job_spec.service_account" in calling.refused("POST", JOBS, body).message
    calling.set(job_service_account="accept")
    assert calling.call("POST", JOBS, body)["state"] == "JOB_STATE_PENDING"


# --- on a persistent resource: match, size, queue (B4)


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
    assert "4 replicas are more than the 3" in error.message


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


def end(calling: Calling, job: dict[str, Any]) -> None:
    """Let a started job be over, as when its replicas have ended."""
    with calling.world.store.transaction():
        found = jobs.get(calling.world.store, job["name"])
        assert found and found.run
        seen = {replica.name: Status("exited") for replica in found.run.replicas}
        over = job_life.advanced(found, found.run, seen, calling.clock.now(), calling.world.settings)
        jobs.put(calling.world.store, found.run.number, found.run.region, over.body, over.run)


def test_a_pool_grows_no_further_than_quota(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 8})
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3)])
    made = [calling.job(cluster="cpu") for _ in range(3)]
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"][0]["replicaCount"] == "2"
    assert [state(calling, job).removeprefix("JOB_STATE_") for job in made] == ["PENDING", "PENDING", "QUEUED"]


# --- beside pools: quota (D5, checklist 3)


def test_more_than_the_limit_is_refused_with_all_metrics(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_pd_ssd": 50})
    gpu = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 4}
    error = calling.refused("POST", JOBS, job_body(worker(machineSpec=gpu), worker(replicas=4, machineSpec=gpu)))
    assert (error.code, error.status) == (429, "RESOURCE_EXHAUSTED")
    assert error.message == (
        "The following quota metrics exceed quota limits: "
        "aiplatform.googleapis.com/custom_model_training_nvidia_t4_gpus,"
        "aiplatform.googleapis.com/custom_model_training_pd_ssd"
    )


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


# --- lists


def test_a_list_is_filtered_paged_and_masked(calling: Calling) -> None:
    calling.cluster("cpu")
    for number in range(5):
        calling.job(displayName=f"train-{number}", labels={"n": str(number % 2)})
    calling.job(displayName="other", cluster="cpu")
    everything = calling.call("GET", JOBS)["customJobs"]
    assert [job["displayName"] for job in everything][:2] == ["other", "train-4"], "newest first"
    odd = calling.call("GET", f'{JOBS}?filter=labels.n="1" AND display_name:"train-*"&orderBy=display_name')
    assert [job["displayName"] for job in odd["customJobs"]] == ["train-1", "train-3"]
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


@pytest.mark.parametrize(
    "query", ["filter=color=red", "filter=state", "orderBy=color", "readMask=color", "pageToken=x"]
)
def test_a_bad_list_is_refused(calling: Calling, query: str) -> None:
    calling.job()
    assert calling.refused("GET", f"{JOBS}?{query}").status == "INVALID_ARGUMENT"


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


def test_the_default_account_is_the_custom_code_agent(calling: Calling) -> None:
    found = jobs.get(calling.world.store, calling.job()["name"])
    assert found and found.run and found.run.email == identities.CUSTOM_CODE_AGENT
