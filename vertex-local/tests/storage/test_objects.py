"""Objects, by the official client, and what Storage refuses. Of buckets: `contracts/answered_storage.txt`. (N4)"""

import gzip
import json
import os
import subprocess
import sys
import uuid

import google.cloud.storage as storage
import pytest
import requests
from google.api_core import exceptions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.conftest import client
from vertex_local.storage.multipart import boundary
from vertex_local.storage.object_uploads import sweep_uploads
from vertex_local.storage.records import Records
from vertex_local.testing.calling import REGION, START, Calling
from vertex_local.testing.local_cloud import LocalCloud


def test_content_and_metadata_come_back(bucket: storage.Bucket) -> None:
    blob = bucket.blob("models/digits.joblib")
    blob.metadata = {"accuracy": "0.98"}
    blob.cache_control = "no-store"
    blob.upload_from_string(b"\x00\r\n--binary\xff", content_type="application/x-model")
    item = bucket.get_blob("models/digits.joblib")
    assert item and item.download_as_bytes() == b"\x00\r\n--binary\xff"
    assert (item.content_type, item.metadata, item.cache_control) == (
        "application/x-model",
        {"accuracy": "0.98"},
        "no-store",
    )
    assert item.size == 12 and item.md5_hash and item.crc32c and item.metageneration == 1


@pytest.mark.parametrize("size", [0, 1, 262_144, 1_000_000])
def test_resumable_uploads_in_chunks(bucket: storage.Bucket, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    blob = bucket.blob("big", chunk_size=262_144)
    blob.upload_from_string(content[:size])
    assert blob.download_as_bytes() == content[:size]


def test_uploads_that_nobody_has_gone_on_with_for_a_week_are_forgotten(calling: Calling) -> None:
    calling.call("POST", "/storage/v1/b?project=local-project", {"name": "acme-uploads", "location": REGION})
    path, now = "/upload/storage/v1/b/acme-uploads/o?uploadType=resumable", START.timestamp()
    old, new = (calling.reply("POST", f"{path}&name=x", {}).headers["x-guploader-uploadid"] for _ in range(2))
    for upload, age_s in ((old, 8 * 86_400), (new, 6 * 86_400)):
        os.utime(calling.world.state_folder / "uploads" / upload, (now - age_s, now - age_s))
    sweep_uploads(Records(calling.world), now)
    assert calling.refused("PUT", f"{path}&upload_id={old}").code == 404
    assert calling.call("PUT", f"{path}&upload_id={new}")["name"] == "x"


def test_ranges(bucket: storage.Bucket) -> None:
    blob = bucket.blob("digits")
    blob.upload_from_string("0123456789")
    assert blob.download_as_bytes(start=2, end=4) == b"234"
    assert blob.download_as_bytes(start=7) == b"789"
    with pytest.raises(exceptions.RequestRangeNotSatisfiable):
        blob.download_as_bytes(start=10, end=20)


def test_generation_and_metageneration_guard_overwrites(bucket: storage.Bucket) -> None:
    blob = bucket.blob("x")
    blob.upload_from_string("1")
    first = blob.generation
    blob.upload_from_string("2", if_generation_match=first)
    assert blob.generation > first
    with pytest.raises(exceptions.PreconditionFailed):
        blob.upload_from_string("3", if_generation_match=first)
    blob.metadata = {"a": "b"}
    with pytest.raises(exceptions.PreconditionFailed):
        blob.patch(if_metageneration_match=9)
    blob.patch(if_metageneration_match=1)
    assert blob.metageneration == 2
    with pytest.raises(exceptions.PreconditionFailed):
        blob.delete(if_generation_match=first)
    with pytest.raises(exceptions.NotFound):
        bucket.blob("x", generation=first).reload()


def test_a_versioned_bucket_keeps_what_is_overwritten_and_deleted(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    bucket.versioning_enabled = True
    bucket.patch()
    blob = bucket.blob("catalog.json")
    blob.upload_from_string("old")
    old = blob.generation
    blob.upload_from_string("new")
    assert bucket.blob("catalog.json", generation=old).download_as_text() == "old"
    bucket.delete_blob("catalog.json")
    assert bucket.get_blob("catalog.json") is None
    versions = list(client(cloud).list_blobs(bucket.name, versions=True))
    assert [version.generation for version in versions] == [old, blob.generation]
    assert all(version.time_deleted for version in versions)
    for version in versions:
        version.delete()
    assert not list(client(cloud).list_blobs(bucket.name, versions=True))


def test_copy_rewrite_and_compose(bucket: storage.Bucket) -> None:
    one, two = bucket.blob("1"), bucket.blob("2")
    one.metadata = {"k": "v"}
    one.upload_from_string(b"one ", content_type="application/x-part")
    two.upload_from_string("two")
    copied = bucket.copy_blob(one, bucket, "copy")
    assert (copied.download_as_text(), copied.content_type, copied.metadata) == (
        "one ",
        "application/x-part",
        {"k": "v"},
    )
    one.delete()
    assert copied.download_as_text() == "one "
    rewritten = bucket.blob("rewritten")
    token, done, total = rewritten.rewrite(copied)
    assert (token, done, total) == (None, 4, 4) and rewritten.md5_hash == copied.md5_hash
    whole = bucket.blob("whole")
    whole.compose([copied, two])
    assert whole.download_as_text() == "one two"
    assert whole.component_count == 2 and whole.md5_hash is None
    with pytest.raises(exceptions.NotFound):
        bucket.blob("w").compose([bucket.blob("missing")])


def test_listing_with_a_delimiter_pages_and_offsets(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    names = ["a", "d/1", "d/2", "d/e/3", "z/9", "ümlaut/1"]
    for name in names:
        bucket.blob(name).upload_from_string(name)
    listed = client(cloud).list_blobs(bucket.name, delimiter="/", page_size=1)
    assert [blob.name for blob in listed] == ["a"] and listed.prefixes == {"d/", "z/", "ümlaut/"}
    inside = client(cloud).list_blobs(bucket.name, prefix="d/", delimiter="/")
    assert [blob.name for blob in inside] == ["d/1", "d/2"] and inside.prefixes == {"d/e/"}
    between = client(cloud).list_blobs(bucket.name, start_offset="d/2", end_offset="z/9", page_size=1)
    assert [blob.name for blob in between] == ["d/2", "d/e/3"]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    names=st.sets(st.text(alphabet="ab/", min_size=1, max_size=5), min_size=1, max_size=12),
    prefix=st.text(alphabet="ab/", max_size=2),
    size=st.integers(min_value=1, max_value=4),
)
def test_pages_put_together_are_the_whole_list(
    cloud: LocalCloud, bucket: storage.Bucket, names: set[str], prefix: str, size: int
) -> None:
    root = f"{uuid.uuid4().hex}/"
    for name in names:
        bucket.blob(root + name).upload_from_string("")
    listed = client(cloud).list_blobs(bucket.name, prefix=root + prefix, delimiter="/", page_size=size)
    items = [blob.name.removeprefix(root) for blob in listed]
    rest = {name: name[len(prefix) :] for name in names if name.startswith(prefix)}
    assert items == sorted(name for name, tail in rest.items() if "/" not in tail)
    groups = {prefix + tail.partition("/")[0] + "/" for tail in rest.values() if "/" in tail}
    assert {blob.removeprefix(root) for blob in listed.prefixes} == groups


def test_a_batch_deletes_many_at_once(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    for word in ("a", "b"):
        bucket.blob(word).upload_from_string(word)
    official = client(cloud)
    with official.batch():
        for word in ("a", "b"):
            official.bucket(bucket.name).delete_blob(word)
    assert not list(official.list_blobs(bucket.name))
    with pytest.raises(exceptions.NotFound), official.batch():
        official.bucket(bucket.name).delete_blob("a")


def test_a_wrong_checksum_is_refused_and_leaves_nothing(bucket: storage.Bucket) -> None:
    blob = bucket.blob("x")
    blob.md5_hash = "1B2M2Y8AsgTpgAmY7PhCfg=="
    with pytest.raises(exceptions.BadRequest, match="doesn't match calculated"):
        blob.upload_from_string("not empty")
    assert bucket.get_blob("x") is None


def test_packed_content_is_unpacked_for_who_can_not(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    blob = bucket.blob("log.gz")
    blob.content_encoding = "gzip"
    blob.upload_from_string(gzip.compress(b"hello"), content_type="text/plain")
    path = f"{cloud.url}/storage/v1/b/{bucket.name}/o/log.gz?alt=media"
    headers = {"Authorization": f"Bearer {cloud.token()}", "Accept-Encoding": "identity"}
    plain = requests.get(path, headers=headers, timeout=10)
    assert plain.content == b"hello" and "content-encoding" not in plain.headers
    assert gzip.decompress(blob.download_as_bytes(raw_download=True)) == b"hello"


def test_an_interrupted_upload_is_resumed_where_it_stopped(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    head = {"Authorization": f"Bearer {cloud.token()}"}
    start = requests.post(
        f"{cloud.url}/upload/storage/v1/b/{bucket.name}/o?uploadType=resumable&name=r", headers=head, timeout=10
    )
    where, unit = start.headers["location"], 262_144
    assert cloud.token() not in where
    first = requests.put(
        where, data=b"a" * unit, headers={**head, "Content-Range": f"bytes 0-{unit - 1}/*"}, timeout=10
    )
    assert first.status_code == 308 and first.headers["range"] == f"bytes=0-{unit - 1}"
    asked = requests.put(where, headers={**head, "Content-Range": "bytes */*"}, timeout=10)
    assert asked.status_code == 308 and asked.headers["range"] == f"bytes=0-{unit - 1}"
    assert bucket.get_blob("r") is None
    gap = requests.put(
        where, data=b"bb", headers={**head, "Content-Range": f"bytes {unit + 5}-{unit + 6}/*"}, timeout=10
    )
    assert gap.status_code == 503 and f"starts at {unit + 5}" in gap.text and f"{unit} bytes" in gap.text
    odd = requests.put(where, data=b"bb", headers={**head, "Content-Range": f"bytes {unit}-{unit + 1}/*"}, timeout=10)
    assert odd.status_code == 400 and "multiple of 262144 bytes" in odd.text
    last = {**head, "Content-Range": f"bytes {unit}-{unit + 1}/{unit + 2}"}
    done = requests.put(where, data=b"bb", headers=last, timeout=10)
    assert done.json()["size"] == str(unit + 2)
    again = requests.put(where, data=b"bb", headers=last, timeout=10)
    assert again.json()["generation"] == done.json()["generation"]


@pytest.mark.parametrize("odd", ["a b", "ä/ö", "x?y#z", "100%", "a+b&c=d", "q:r", "..a", "new'quote\""])
def test_odd_names_survive(bucket: storage.Bucket, odd: str) -> None:
    bucket.blob(odd).upload_from_string(odd)
    blob = bucket.get_blob(odd)
    assert blob and blob.name == odd and blob.download_as_text() == odd
    blob.delete()


# --- The official client without credentials, and what is refused in words. (P5)


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
