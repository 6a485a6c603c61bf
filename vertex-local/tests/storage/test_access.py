"""Who may do what in Storage, and the official client without credentials. (P5)"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import google.cloud.storage as storage
import pytest
import requests
from google.api_core import exceptions

from tests.storage.conftest import client
from vertex_local.storage.multipart import boundary
from vertex_local.testing.local_cloud import LocalCloud

_USE = """
import google.cloud.storage as storage
bucket = storage.Client().bucket({name!r})
bucket.blob("x").upload_from_string("said {word}")
print(bucket.get_blob("x").download_as_text())
"""


def use(name: str, word: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    code = _USE.format(name=name, word=word)
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def test_the_unmodified_client_works_with_the_emulator_variable_alone(
    cloud: LocalCloud, bucket: storage.Bucket
) -> None:
    done = use(bucket.name, "by prefix", cloud.env("deployer"))
    assert done.stdout == "said by prefix\n", done.stderr


def test_a_wrong_token_in_the_prefix_is_refused(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    env = {**cloud.env(), "STORAGE_EMULATOR_HOST": f"{cloud.url}/t/wrong"}
    done = use(bucket.name, "nothing", env)
    assert done.returncode != 0 and "cannot be refreshed" in done.stderr  # how the client words a 401


def test_a_role_on_a_bucket_reaches_that_bucket_only(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    ada = client(cloud, "submitter")
    with pytest.raises(exceptions.Forbidden, match=r"ada@company\.example does not have storage\.objects\.get access"):
        ada.bucket(bucket.name).blob("x").download_as_bytes()
    policy = bucket.get_iam_policy(requested_policy_version=3)
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"group:ml-engineers@company.example"}})
    bucket.set_iam_policy(policy)
    bucket.blob("x").upload_from_string("shared")
    assert ada.bucket(bucket.name).blob("x").download_as_text() == "shared"
    with pytest.raises(exceptions.Forbidden, match=r"storage\.objects\.create"):
        ada.bucket(bucket.name).blob("y").upload_from_string("no")
    with pytest.raises(exceptions.Forbidden, match=r"storage\.objects\.delete"):
        ada.bucket(bucket.name).blob("x").delete()
    with pytest.raises(exceptions.Forbidden, match=r"storage\.buckets\.list"):
        list(ada.list_buckets())


def test_a_creator_may_add_but_not_overwrite(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    policy = bucket.get_iam_policy(requested_policy_version=3)
    policy.bindings.append({"role": "roles/storage.objectCreator", "members": {"user:ada@company.example"}})
    bucket.set_iam_policy(policy)
    ada = client(cloud, "submitter").bucket(bucket.name)
    ada.blob("x").upload_from_string("1")
    with pytest.raises(exceptions.Forbidden, match=r"storage\.objects\.delete"):
        ada.blob("x").upload_from_string("2")


def test_the_previewer_sees_buckets_and_changes_none(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    previewer = client(cloud, "previewer")
    assert previewer.get_bucket(bucket.name).location == "US-CENTRAL1"
    with pytest.raises(exceptions.Forbidden):
        previewer.bucket(bucket.name).blob("x").upload_from_string("no")
    with pytest.raises(exceptions.Forbidden):
        previewer.create_bucket("previewers-bucket")


def test_the_project_s_editors_have_what_object_lists_give_them_by_default(cloud: LocalCloud) -> None:
    """As Compute Engine's default account is, which Google's own tests run jobs as. # N17"""
    compute = "100000000001-compute@developer.gserviceaccount.com"
    assert cloud.rest("GET", f"/v1/projects/-/serviceAccounts/{compute}")["email"] == compute
    body = {"scope": ["https://www.googleapis.com/auth/cloud-platform"]}
    token = cloud.rest("POST", f"/v1/projects/-/serviceAccounts/{compute}:generateAccessToken", body)["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    for name, uniform in (("of-lists", False), ("of-roles", True)):
        access = {"uniformBucketLevelAccess": {"enabled": uniform}}
        cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": name, "iamConfiguration": access})
        upload = f"{cloud.url}/upload/storage/v1/b/{name}/o?uploadType=media&name=x"
        assert requests.post(upload, b"content", headers=headers, timeout=30).status_code == 200
        read = f"{cloud.url}/storage/v1/b/{name}/o/x?alt=media"
        assert requests.get(read, headers=headers, timeout=30).content == b"content"
        roles = {item["role"] for item in cloud.rest("GET", f"/storage/v1/b/{name}/iam")["bindings"]}
        assert ("roles/storage.legacyObjectOwner" in roles) is uniform


def test_the_environment_of_the_tests_holds_no_cloud_of_its_own() -> None:
    assert "STORAGE_EMULATOR_HOST" not in os.environ


# --- What Storage refuses in words, a row each, with bodies as clients that go astray would send them. # N4


BUCKET = "/storage/v1/b/refused-objects"
UPLOAD = "/upload/storage/v1/b/refused-objects/o"
BATCH, MIXED, RELATED = "/batch/storage/v1", "multipart/mixed; boundary=b", "multipart/related; boundary=b"
JSON = "application/json"
STRANGE_ROLE = json.dumps({"bindings": [{"role": "roles/no.such", "members": ["user:a@b.c"]}]})
OTHERS = json.dumps({"sourceObjects": [{"name": "kept", "objectPreconditions": {"ifGenerationMatch": "1"}}]})


def parts(*contents: str) -> str:
    return "".join(f"--b\r\n{content}\r\n" for content in contents) + "--b--\r\n"


def calls(*lines: str) -> str:
    """A batch: what each of its calls answers stands in the answer to the whole."""
    return parts(*(f"Content-Type: application/http\r\n\r\n{line}\r\n\r\n" for line in lines))


ROWS: tuple[tuple[str, str, str, str, int, str], ...] = (
    ("POST", BATCH, MIXED, calls("DELETE"), 200, "A part of the batch is not an HTTP request"),
    ("POST", BATCH, MIXED, calls("GET /compute/v1/x HTTP/1.1"), 200, "GET /compute/v1/x in a batch is not implemented"),
    ("POST", BATCH, MIXED, calls(*[f"GET {BUCKET}"] * 101), 400, "exceeds the limit of 100 calls"),
    ("POST", BATCH, MIXED, parts("Content-Type: application/http"), 400, "no blank line after its headers"),
    ("POST", f"{UPLOAD}?uploadType=multipart", RELATED, parts("\r\n\r\n{}"), 400, "two parts: the metadata in JSON"),
    # The older shape of errors, which Storage's clients read, whoever found the mistake.
    ("PUT", f"{BUCKET}/iam", JSON, STRANGE_ROLE, 400, '"reason":"invalid"'),
    ("GET", f"{BUCKET}?ifMetagenerationNotMatch=1", JSON, "", 304, ""),
    ("POST", f"{BUCKET}/o/all/compose", JSON, OTHERS, 412, "pre-conditions you specified did not hold"),
    ("DELETE", f"{BUCKET}/o/kept", JSON, "", 403, "kept' is under active hold"),
)


@pytest.fixture(scope="module")
def held(cloud: LocalCloud) -> None:
    """A bucket with an object that is under a hold, from now on in this cloud."""
    made = cloud.session().post(f"{cloud.url}/storage/v1/b?project=local-project", json={"name": "refused-objects"})
    if made.ok:
        cloud.rest("POST", f"{UPLOAD}?uploadType=media&name=kept", {})
        cloud.rest("PATCH", f"{BUCKET}/o/kept", {"temporaryHold": True})


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(("method", "path", "kind", "body", "status", "words"), ROWS)
def test_it_is_refused_in_words(
    cloud: LocalCloud, method: str, path: str, kind: str, body: str, status: int, words: str
) -> None:
    headers = {"Authorization": f"Bearer {cloud.token()}", "Content-Type": kind}
    answer = requests.request(method, cloud.url + path, data=body, headers=headers, timeout=30)
    assert answer.status_code == status, answer.text
    assert words in answer.text.replace('": "', '":"')


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("kind", ["media", "resumable"])
def test_a_key_of_the_client_s_own_is_refused_before_anything_is_kept(cloud: LocalCloud, kind: str) -> None:
    headers = {"Authorization": f"Bearer {cloud.token()}", "X-Goog-Encryption-Key": "c2VjcmV0"}
    answer = requests.post(f"{cloud.url}{UPLOAD}?uploadType={kind}&name=mine", json={}, headers=headers, timeout=30)
    assert answer.status_code == 501 and "encryption key" in answer.json()["error"]["message"]
    assert cloud.call("GET", f"{BUCKET}/o/mine").status_code == 404


@pytest.mark.parametrize("written", ["===1==", '"===1=="', "'===1=='"])  # the last is gcloud's
def test_a_boundary_may_stand_in_either_quotation_marks(written: str) -> None:
    assert boundary(f"multipart/related; boundary={written}") == b"===1=="
