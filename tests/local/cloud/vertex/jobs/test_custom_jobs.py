"""Custom jobs as their methods show them (D5, B4; vertex-rules 2, 3 and checklist 7). No process is started here."""

from typing import Any

import pytest

from local.cloud.nodes import mounts
from tests.local.cloud.calling import JOBS, Calling
from tests.local.cloud.vertex.bodies import KEY, NETWORK, PEERED, job_body, worker

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
