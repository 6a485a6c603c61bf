"""What is refused in words, a row each: rules that `make bench-faults` found no test to notice. # N4"""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.local.conftest import LocalCloud

PROJECT = "/v1/projects/slipway-local"
VERTEX = f"{PROJECT}/locations/us-central1"
QUOTAS = f"{PROJECT}/locations/global/quotaPreferences"
BUCKET = "/storage/v1/b/refusals"
UPLOAD = "/upload/storage/v1/b/refusals/o"
TRAINER = "deployer@slipway-local.iam.gserviceaccount.com"
TOKEN = f"/v1/projects/-/serviceAccounts/{TRAINER}:generateAccessToken"
LOGS, READ = "/v2/entries:list", {"resourceNames": ["projects/slipway-local"]}
SCOPE = ["https://www.googleapis.com/auth/cloud-platform"]


def cluster(machine: dict[str, Any] | None = None, **pool: Any) -> Any:
    spec = {"machineType": "n1-standard-4", **(machine or {})}
    return {"resourcePools": [{"machineSpec": spec, **(pool or {"replicaCount": "1"})}]}


CREATE = f"{VERTEX}/persistentResources?persistentResourceId=refused"
ROWS: tuple[tuple[str, str, Any, int, str], ...] = (
    ("POST", CREATE, cluster({"reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}}), 400, "Reserv"),
    ("POST", CREATE, cluster({"machineType": "ct5lp-hightpu-4t", "tpuTopology": "2x2"}), 400, "TPUs are not supported"),
    (
        "POST",
        CREATE,
        cluster(autoscalingSpec={"minReplicaCount": "1", "maxReplicaCount": "1001"}),
        400,
        "Max replica count 1001 is more than 1000",
    ),
    ("POST", f"{PROJECT}:setIamPolicy", {"policy": {"auditConfigs": [{"service": "x"}]}}, 501, "Audit configurations"),
    ("POST", TOKEN, {"scope": SCOPE, "lifetime": "7200s"}, 400, "at most 3600s"),
    ("POST", TOKEN, {}, 400, "`scope` is required"),
    ("DELETE", f"{PROJECT}/serviceAccounts/{TRAINER}", None, 400, "belongs to the local cloud itself"),
    ("PATCH", f"{PROJECT}/serviceAccounts/{TRAINER}", {"updateMask": "email"}, 400, "updateMask must name"),
    ("POST", LOGS, {}, 400, "At least one resource name"),
    ("POST", LOGS, READ | {"orderBy": "x"}, 400, "order_by"),
    ("POST", LOGS, READ | {"pageSize": -1}, 400, "page_size"),
    ("POST", LOGS, READ | {"filter": "severity=~ERROR"}, 400, "operator '=~' does not fit this field"),
    ("POST", "/v2/entries:write", {"logName": "x", "entries": [{"textPayload": "a"}]}, 400, "Invalid log_name 'x'"),
    ("GET", f"{QUOTAS}/never-made", None, 404, "never-made not found"),
    ("POST", f"{QUOTAS}?quotaPreferenceId=-a", {}, 400, "Invalid quota preference id"),
    ("POST", "/slipway/clock", {"advance": -1}, 400, "not negative"),
    ("POST", "/slipway/clock", {"advance": 400 * 86400}, 400, "at most 366 days"),
    ("POST", "/slipway/faults", {"faults": ["all"]}, 400, "a list of objects"),
    ("POST", "/slipway/scenario", {"reservations": []}, 400, "reservations is a table"),
    ("GET", f"{PROJECT}/services/never.googleapis.com", None, 403, "Not found or permission denied"),
    ("GET", "/storage/v1/b", None, 400, "project"),
    ("GET", f"{BUCKET}/o?softDeleted=true", None, 501, "softDeleted"),
    ("PATCH", BUCKET, {"location": "EUROPE-WEST1"}, 400, "cannot be changed"),
    ("POST", "/storage/v1/b?project=slipway-local&predefinedAcl=publicRead", {"name": "public"}, 501, "predefinedAcl"),
    ("POST", f"{BUCKET}/o/none/copyTo/b/refusals/o/other", {}, 404, "none"),
    ("POST", f"{UPLOAD}?uploadType=media", {}, 400, "name"),
    ("POST", f"{UPLOAD}?uploadType=media&name=..", {}, 400, "Invalid object name"),
    ("POST", f"{UPLOAD}?uploadType=resumable", {}, 400, "name"),
    ("PUT", f"{UPLOAD}?uploadType=resumable&upload_id=never", {}, 404, "upload session"),
    ("POST", f"{UPLOAD}?uploadType=multipart&name=a", {}, 400, "boundary"),
    ("GET", f"{VERTEX}/tensorboards?orderBy=display_name%20up", None, 400, "Invalid order by: display_name up"),
    ("GET", "/not-served/big_table/v1/x", None, 501, "does not serve this API of Google's: big table"),
    ("GET", f"{VERTEX}/customJobs?filter=create_time>%222026-01-01T00:00:00%22", None, 400, "no time zone"),
)


@pytest.fixture(scope="module")
def bucket(cloud: LocalCloud) -> None:
    body = {"name": "refusals", "location": "US-CENTRAL1"}
    cloud.session().post(f"{cloud.url}/storage/v1/b?project=slipway-local", json=body)


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(("method", "path", "body", "status", "words"), ROWS)
def test_it_is_refused_in_words(cloud: LocalCloud, method: str, path: str, body: Any, status: int, words: str) -> None:
    headers = {"Authorization": f"Bearer {cloud.token()}"}
    answer = requests.request(method, cloud.url + path, json=body, headers=headers, timeout=30)
    assert answer.status_code == status, answer.text
    assert words.lower() in answer.text.lower()
