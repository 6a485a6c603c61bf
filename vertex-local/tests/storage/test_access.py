"""Who may do what in Storage, and the official client without credentials. (P5)"""

from __future__ import annotations

import json
import subprocess
import sys

import google.cloud.storage as storage
import pytest
import requests

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
