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
