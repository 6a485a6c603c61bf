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


def job(*, container: dict[str, Any] | None = None, **spec: Any) -> Any:
    task = container or {"imageUri": "python:3.11"}
    worker = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": task}
    return {"displayName": "refused", "jobSpec": {"workerPoolSpecs": [worker], **spec}}


def ray(**spec: Any) -> Any:
    return {**cluster(), "resourceRuntimeSpec": {"raySpec": spec}}


def lifecycle(action: dict[str, Any], condition: dict[str, Any] | None = None) -> Any:
    return {"name": "odd", "lifecycle": {"rule": [{"action": action, "condition": condition or {"age": 1}}]}}


def secret(**changes: Any) -> Any:
    return {"replication": {"automatic": {}}, **changes}


def wish(**changes: Any) -> Any:
    quota = "CustomModelTrainingT4GPUsPerProjectPerRegion"
    asked = {"service": "aiplatform.googleapis.com", "quotaId": quota, "contactEmail": "a@b.c"}
    return {**asked, "quotaConfig": {"preferredValue": "8"}, "dimensions": {"region": "us-central1"}, **changes}


def policy(member: str, **changes: Any) -> Any:
    return {"policy": {"bindings": [{"role": "roles/owner", "members": [member]}], **changes}}


MODEL = {"displayName": "m"}
JOBS, STORES, BUCKETS = f"{VERTEX}/customJobs", f"{VERTEX}/metadataStores", "/storage/v1/b?project=slipway-local"
SECRETS, SECRET = f"{PROJECT}/secrets", f"{PROJECT}/secrets?secretId=odd"
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
    ("POST", "/v2/entries:write", {"logName": "projects/slipway-local/logs/a b", "entries": [{}]}, 400, "log_name"),
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
    # What a job, a model or a cluster names
    *(
        ("POST", JOBS, job(baseOutputDirectory={"outputUriPrefix": uri}), 400, "must be a Cloud Storage URI")
        for uri in ("gs://", "gs:///x", "/gcs/bucket", "s3://bucket/x")
    ),
    *(
        ("POST", JOBS, job(container={"imageUri": image}), 400, "is not the name of a container image")
        for image in ("https://gcr.io/a/b", "gcr.io/A/B", "a b", "gcr.io/a/", "a:b:c")
    ),
    ("POST", JOBS, job(models=["projects/slipway-local/locations/us-central1/models/7"]), 404, "models/7"),
    ("POST", CREATE, ray(imageUri="https://a/b"), 400, "is not the name of a container image"),
    ("POST", CREATE, ray(headNodeResourcePoolId="none"), 400, 'no resource pool "none"'),
    ("POST", CREATE, ray(resourcePoolImages={"none": "a"}), 400, 'no resource pool "none"'),
    ("POST", f"{VERTEX}/models:upload", {"model": MODEL}, 400, "container that serves the model is required"),
    ("POST", f"{VERTEX}/models:upload", {"model": {**MODEL, "containerSpec": {}}}, 400, "is required"),
    ("GET", f"{PROJECT}/locations/mars/customJobs", None, 400, "Unsupported region"),
    ("GET", f"{PROJECT}/locations/mars/tensorboards", None, 400, "Unsupported region"),
    ("GET", f"{PROJECT}/locations/mars/metadataStores/default/contexts", None, 400, "Unsupported region"),
    *(
        ("GET", f"{STORES}/none/{kind}", None, 404, "metadataStores/none does not exist")
        for kind in ("contexts", "executions", "artifacts", "metadataSchemas")
    ),
    ("POST", JOBS, job() | {"labels": {f"l{number}": "" for number in range(65)}}, 400, "At most 64 labels"),
    ("GET", f"{VERTEX}/pipelineJobs?pageSize=-1", None, 400, "page size"),
    # Quotas
    ("POST", f"{QUOTAS}?quotaPreferenceId=odd", wish(dimensions={"region": "mars"}), 400, 'region "mars"'),
    ("POST", f"{QUOTAS}?quotaPreferenceId=odd", wish(dimensions={"zone": "a"}), 400, "Dimension zone"),
    ("PATCH", f"{QUOTAS}/never-made", wish(), 404, "never-made not found"),
    ("PATCH", f"{QUOTAS}/odd?allowMissing=true&updateMask=colour", wish(), 400, "mask"),
    ("PATCH", f"{QUOTAS}/odd?allowMissing=perhaps", wish(), 400, "'allowMissing'"),
    ("POST", f"{QUOTAS}?quotaPreferenceId=odd&ignoreSafetyChecks=ALL", wish(), 400, "'ignoreSafetyChecks'"),
    ("GET", f"{QUOTAS}?orderBy=colour", None, 400, "Invalid order by"),
    # Buckets and objects
    ("POST", BUCKETS, {"name": "odd", "location": "MARS"}, 400, "location constraint is not valid"),
    ("POST", BUCKETS, {"name": "odd", "location": "EU", "customPlacementConfig": {"dataLocations": ["a"]}}, 400, "two"),
    ("POST", BUCKETS, {"name": "odd", "storageClass": "FROZEN"}, 400, "'FROZEN'"),
    ("POST", BUCKETS, {"name": "odd", "rpo": "SOON"}, 400, "'SOON'"),
    ("POST", BUCKETS, {"name": "odd", "iamConfiguration": {"publicAccessPrevention": "yes"}}, 400, "'yes'"),
    ("POST", BUCKETS, {"name": "odd", "autoclass": {"terminalStorageClass": "STANDARD"}}, 400, "'STANDARD'"),
    ("POST", BUCKETS, {"name": "odd", "encryption": {"defaultKmsKeyName": "key"}}, 400, "not the name of a key"),
    ("POST", BUCKETS, {"name": "odd", "hierarchicalNamespace": {"enabled": True}}, 501, "hierarchical namespace"),
    ("POST", BUCKETS, {"name": "odd", "labels": {"Team": "a"}}, 400, "'Team'"),
    ("POST", BUCKETS, {"name": "odd", "retentionPolicy": {"retentionPeriod": "0"}}, 400, "retentionPeriod"),
    ("POST", BUCKETS, {"name": "odd", "softDeletePolicy": {"retentionDurationSeconds": "5"}}, 400, "softDeletePolicy"),
    ("POST", BUCKETS, lifecycle({"type": "Melt"}), 400, "'Melt'"),
    ("POST", BUCKETS, lifecycle({"type": "SetStorageClass"}), 400, "action.storageClass"),
    ("POST", BUCKETS, lifecycle({"type": "Delete", "storageClass": "NEARLINE"}), 400, "for SetStorageClass only"),
    ("POST", BUCKETS, lifecycle({"type": "Delete"}, {"age": -1}), 400, "must not be negative"),
    ("POST", BUCKETS, lifecycle({"type": "Delete"}, {"matchesStorageClass": ["FROZEN"]}), 400, "'FROZEN'"),
    ("POST", BUCKETS, lifecycle({"type": "Delete"}, {"createdBefore": "soon"}), 400, "createdBefore"),
    ("PATCH", BUCKET, {"lifecycle": {"rule": [{"action": {"type": "Delete"}}]}}, 400, "condition is required"),
    ("POST", f"{BUCKETS}&projection=most", {"name": "odd"}, 400, "'projection'"),
    ("POST", f"{BUCKETS}&predefinedAcl=all", {"name": "odd"}, 400, "'predefinedAcl'"),
    ("GET", f"{BUCKET}/o?maxResults=-1", None, 400, "'maxResults'"),
    ("GET", f"{BUCKET}/o?pageToken=x", None, 400, "Invalid page token"),
    ("GET", f"{BUCKETS}&pageToken=x", None, 400, "Invalid page token"),
    ("POST", BUCKETS, {"name": "odd", "acl": [{"entity": "allUsers", "role": "READER"}]}, 501, "acl"),
    ("POST", f"{UPLOAD}?uploadType=media&name=a&predefinedAcl=publicRead", {}, 501, "predefinedAcl"),
    ("POST", f"{UPLOAD}?uploadType=resumable&name=a&predefinedAcl=publicRead", {}, 501, "predefinedAcl"),
    # Secrets
    ("POST", SECRET, secret(replication={"automatic": {}, "userManaged": {}}), 400, "either automatic or userManaged"),
    ("POST", SECRET, secret(replication={"userManaged": {}}), 400, "at least one replica"),
    ("POST", SECRET, secret(replication={"userManaged": {"replicas": [{"location": "mars"}]}}), 400, '"mars"'),
    ("POST", SECRET, secret(labels={"Team": "a"}), 400, '"Team"'),
    ("POST", SECRET, secret(annotations={"-": "a"}), 400, "annotation"),
    ("POST", SECRET, secret(versionAliases={"latest": "1"}), 400, '"latest"'),
    ("POST", SECRET, secret(expireTime="2020-01-01T00:00:00Z"), 400, "in the future"),
    ("POST", SECRET, secret(secretType="LARGE"), 400, "secretType"),
    # IAM
    ("POST", f"{PROJECT}:setIamPolicy", policy("user:ada"), 400, "Invalid member"),
    ("POST", f"{PROJECT}:setIamPolicy", policy("user:a@b.c", version=2), 400, "policy version 2"),
    ("POST", f"{PROJECT}:testIamPermissions", {"permissions": ["storage.*"]}, 400, "storage.*"),
    ("POST", TOKEN, {"scope": SCOPE, "colour": "red"}, 400, "colour"),
    ("POST", TOKEN, {"scope": SCOPE, "delegates": ["a"]}, 501, "delegates"),
    ("GET", f"{PROJECT}/services:batchGet?names=storage.googleapis.com", None, 400, "projects/PROJECT/services"),
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
    assert words.lower() in answer.json()["error"]["message"].lower()


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("kind", ["media", "resumable"])
def test_a_key_of_the_client_s_own_is_refused_before_anything_is_kept(cloud: LocalCloud, kind: str) -> None:
    headers = {"Authorization": f"Bearer {cloud.token()}", "X-Goog-Encryption-Key": "c2VjcmV0"}
    upload = f"{cloud.url}{UPLOAD}?uploadType={kind}&name=with-key"
    answer = requests.post(upload, json={}, headers=headers, timeout=30)
    assert answer.status_code == 501 and "encryption key" in answer.json()["error"]["message"]
    assert cloud.call("GET", f"{BUCKET}/o/with-key").status_code == 404
