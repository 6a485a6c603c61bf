"""Custom jobs as their methods show them (D5, B4; vertex-rules 2, 3 and checklist 7). No process is started here."""

from typing import Any

import pytest

from local.cloud.nodes import mounts
from tests.local.cloud.calling import CLUSTERS, JOBS, Calling
from tests.local.cloud.vertex.bodies import KEY, NETWORK, PEERED, job_body, worker

NFS = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"


def package(**changes: Any) -> dict[str, Any]:
    spec = {"executorImageUri": PREBUILT, "packageUris": ["gs://b/p.tar.gz"], "pythonModule": "task"} | changes
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "pythonPackageSpec": spec}


def imageless() -> dict[str, Any]:
    return {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "containerSpec": {"command": ["true"]},
    }


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
        (job_body(imageless()), "[0].container_spec.image_uri", "Image URI is required"),
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
        (
            job_body(spec={"pscInterfaceConfig": {"networkAttachment": "a", "dnsPeeringConfigs": [{"domain": "x."}]}}),
            "dns_peering_configs[0].target_network",
            "required",
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


@pytest.mark.parametrize(
    ("machine", "disk"),
    [
        ({"machineType": "g2-standard-8", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}, "pd-standard"),
        (
            {"machineType": "a3-ultragpu-8g", "acceleratorType": "NVIDIA_H200_141GB", "acceleratorCount": 8},
            "pd-ssd",
        ),
        ({"machineType": "n4-standard-4"}, "pd-ssd"),
    ],
)
def test_a_boot_disk_that_the_machine_does_not_take_is_refused(
    calling: Calling, machine: dict[str, Any], disk: str
) -> None:
    body = worker(machineSpec=machine, diskSpec={"bootDiskType": disk})
    error = calling.refused("POST", JOBS, job_body(body))
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert "job_spec.worker_pool_specs[0].disk_spec.boot_disk_type" in error.message
    assert f"Boot disk type {disk} is not supported on machine type {machine['machineType']}" in error.message
    pool = {"id": "x", "machineSpec": machine, "diskSpec": {"bootDiskType": disk}, "replicaCount": "1"}
    refused = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=x", {"resourcePools": [pool]})
    assert "resource_pools[0].disk_spec.boot_disk_type" in refused.message
    gpus = ("nvidia_l4_gpus", "nvidia_h200_gpus", "n4_cpus", "cpus")
    calling.set(machine_disk="accept", **{f"quota.custom_model_training_{name}": 999 for name in gpus})
    calling.call("POST", JOBS, job_body(body))


@pytest.mark.parametrize(
    ("setting", "variable", "words"),
    [
        ("env_blank", {"name": "A"}, "Required field is not set."),
        ("env_blank", {"name": "A", "value": ""}, "Required field is not set."),
        (
            "env_apostrophe",
            {"name": "A", "value": "don't"},
            "Env vars cannot contain any unescaped apostrophe character '",
        ),
    ],
)
def test_a_value_of_a_variable_is_refused_as_people_report_it(
    calling: Calling, setting: str, variable: dict[str, str], words: str
) -> None:
    task = {"imageUri": "python:3.10", "env": [{"name": "B", "value": "\\'"}, variable]}
    bodies = [job_body(worker(containerSpec=task)), job_body(package(env=[variable]))]
    fields = ("container_spec.env[1].value", "python_package_spec.env[0].value")
    for body, field in zip(bodies, fields, strict=True):
        error = calling.refused("POST", JOBS, body)
        assert error.code == 400
        assert f"1.Field: job_spec.worker_pool_specs[0].{field}; Message: {words}" in error.message
    calling.set(**{setting: "accept"})
    for body in bodies:
        calling.call("POST", JOBS, body)


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


@pytest.mark.parametrize("kind", ["pipelineJobs", "schedules"])
def test_other_kinds_of_jobs_are_none_and_can_not_be_made(calling: Calling, kind: str) -> None:
    path = JOBS.replace("customJobs", kind)
    assert calling.call("GET", path) == {}
    assert calling.refused("POST", path, {}).status == "UNIMPLEMENTED"


def test_a_name_that_is_no_number_is_no_job(calling: Calling) -> None:
    error = calling.refused("GET", f"{JOBS}/mine")
    assert error.status == "INVALID_ARGUMENT"
    assert [one["field"] for one in error.details[0]["fieldViolations"]] == ["name"]
    assert calling.refused("GET", f"{JOBS}/123").code == 404


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
