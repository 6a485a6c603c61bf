import json
from pathlib import Path
from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.resources.object_media import md5, media
from local.plugin.transport import CloudError
from local.plugin.values import COMPUTED, UNKNOWN, Asset, Properties
from tests.local.plugin.conftest import Asked, Recorder

_TOKEN = "gcp:storage/bucket:Bucket"
_ONE = "/storage/v1/b/work"
_RULE = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefix": ["jobs/"]}}
_INPUTS: Properties = {
    "name": "work",
    "location": "us-central1",
    "storageClass": "STANDARD",
    "forceDestroy": True,
    "uniformBucketLevelAccess": True,
    "publicAccessPrevention": "enforced",
    "versioning": {"enabled": False},
    "softDeletePolicy": {"retentionDurationSeconds": 0},
    "labels": {"a": "b"},
    "lifecycleRules": [
        {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["jobs/"]}},
        {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3, "withState": "ARCHIVED"}},
    ],
    "cors": [{"origins": ["*"], "methods": ["GET"], "maxAgeSeconds": 60}],
    "requesterPays": False,
    "__defaults": [],
}
_BODY = {
    "name": "work",
    "location": "us-central1",
    "storageClass": "STANDARD",
    "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"},
    "versioning": {"enabled": False},
    "softDeletePolicy": {"retentionDurationSeconds": 0},
    "labels": {"a": "b"},
    "lifecycle": {
        "rule": [_RULE, {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3, "isLive": False}}]
    },
    "cors": [{"origin": ["*"], "method": ["GET"], "maxAgeSeconds": 60}],
    "billing": {"requesterPays": False},
}


def _answer(**more: Any) -> dict[str, Any]:
    soft = {"retentionDurationSeconds": "0", "effectiveTime": "2026-11-20T00:00:00Z"}
    place = {"location": "US-CENTRAL1", "projectNumber": "100", "metageneration": "1"}
    return {**_BODY, **place, "softDeletePolicy": soft, **more}


def _made(recorder: Recorder, provider: Provider) -> dict[str, Any]:
    recorder.answer("POST /storage/v1/b", _answer())
    recorder.answer(f"GET {_ONE}", _answer())
    return provider.create(_TOKEN, _INPUTS, 0).state


def test_create_sends_the_whole_bucket_in_the_apis_own_form(recorder: Recorder, provider: Provider) -> None:
    _made(recorder, provider)
    asked = recorder.only("POST /storage/v1/b")
    assert asked.query == {"project": "p1", "alt": "json", "prettyPrint": "false"}
    assert asked.body == _BODY


def test_an_update_patches_only_what_changed(recorder: Recorder, provider: Provider) -> None:
    state = _made(recorder, provider)
    recorder.answer(f"PATCH {_ONE}", _answer())
    edited = {**_INPUTS, "versioning": {"enabled": True}, "labels": {"c": "d"}, "requesterPays": True, "cors": []}
    provider.update(_TOKEN, "work", state, edited, 0)
    assert recorder.only(f"PATCH {_ONE}").body == {
        "versioning": {"enabled": True},
        "labels": {"c": "d", "a": None},
        "billing": {"requesterPays": True},
        "cors": None,
    }


def test_a_change_on_our_side_alone_sends_nothing(recorder: Recorder, provider: Provider) -> None:
    state = _made(recorder, provider)
    made = provider.update(_TOKEN, "work", state, {**_INPUTS, "forceDestroy": False}, 0)
    assert f"PATCH {_ONE}" not in recorder.lines
    assert made.state["forceDestroy"] is False


def test_a_locked_retention_policy_is_locked_after_the_create(recorder: Recorder, provider: Provider) -> None:
    retention = {"retentionPeriod": "60", "isLocked": True}
    recorder.answer("POST /storage/v1/b", _answer(metageneration="5"))
    recorder.answer(f"POST {_ONE}/lockRetentionPolicy", {})
    recorder.answer(f"GET {_ONE}", _answer(retentionPolicy=retention))
    made = provider.create(_TOKEN, {**_INPUTS, "retentionPolicy": retention}, 0)
    assert recorder.only("POST /storage/v1/b").body["retentionPolicy"] == {"retentionPeriod": "60"}
    assert recorder.only(f"POST {_ONE}/lockRetentionPolicy").query["ifMetagenerationMatch"] == "5"
    assert made.state["retentionPolicy"] == retention


def test_a_bucket_with_objects_is_not_deleted_without_being_asked_to(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"GET {_ONE}/o", {"items": [{"name": "x", "generation": "1"}]})
    recorder.answer(f"GET {_ONE}/anywhereCaches", {})
    with pytest.raises(CloudError, match="containing objects without `forceDestroy` set to true"):
        provider.delete(_TOKEN, "work", {"name": "work", "forceDestroy": False}, 0)
    assert recorder.lines == [f"GET {_ONE}/o", f"GET {_ONE}/anywhereCaches"]


def test_a_bucket_whose_caches_can_not_be_listed_is_not_emptied(recorder: Recorder, provider: Provider) -> None:
    """As by terraform-provider-google #25343."""
    recorder.answer(f"GET {_ONE}/o", {"items": [{"name": "x", "generation": "1"}]})
    recorder.answer(f"GET {_ONE}/anywhereCaches", {"error": {"code": 403, "message": "denied"}}, 403)
    recorder.answer(f"DELETE {_ONE}", {"error": {"code": 409, "message": "The bucket … is not empty."}}, 409)
    with pytest.raises(CloudError, match="is not empty"):
        provider.delete(_TOKEN, "work", {"name": "work", "forceDestroy": True}, 0)
    assert recorder.lines[-1] == f"DELETE {_ONE}" and f"DELETE {_ONE}/o/x" not in recorder.lines


def test_force_destroy_deletes_every_version_of_every_object(recorder: Recorder, provider: Provider) -> None:
    items = [{"name": "a/x", "generation": "1"}, {"name": "a/x", "generation": "2"}]
    recorder.answer(f"GET {_ONE}/o", {"items": items})
    recorder.answer(f"GET {_ONE}/anywhereCaches", {})
    recorder.answer(f"GET {_ONE}/o", {})
    recorder.answer(f"DELETE {_ONE}/o/a%2Fx", None, 204)
    recorder.answer(f"DELETE {_ONE}", None, 204)
    provider.delete(_TOKEN, "work", {"name": "work", "forceDestroy": True}, 0)
    deleted = [request for request in recorder.asked if request.line == f"DELETE {_ONE}/o/a%2Fx"]
    assert [request.query["generation"] for request in deleted] == ["1", "2"]
    assert recorder.asked[0].query["versions"] == "true"
    assert recorder.lines[-1] == f"DELETE {_ONE}"


_OBJECT = "gcp:storage/bucketObject:BucketObject"
_UPLOAD = "POST /upload/storage/v1/b/cat/o"
_ONE_OBJECT = "/storage/v1/b/cat/o/packages%2Fx.json"
_OBJECT_INPUTS: Properties = {"bucket": "cat", "name": "packages/x.json", "content": "{}", "__defaults": []}


def _object(data: bytes = b"{}") -> dict[str, Any]:
    return {
        "bucket": "cat",
        "name": "packages/x.json",
        "md5Hash": md5(data),
        "generation": "17",
        "storageClass": "STANDARD",
        "contentType": "application/json",
    }


def _parts(asked: Asked) -> tuple[dict[str, Any], str, bytes]:
    boundary = asked.headers["content-type"].split("boundary=")[1].encode()
    _, metadata, media_part, _ = asked.raw.split(b"--" + boundary)
    head, data = media_part.removeprefix(b"\r\n").removesuffix(b"\r\n").split(b"\r\n\r\n", 1)
    return json.loads(metadata.split(b"\r\n\r\n", 1)[1]), head.decode().split(": ", 1)[1], data


def test_create_uploads_metadata_and_bytes_in_one_request(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE_OBJECT}", _object())
    inputs = {**_OBJECT_INPUTS, "contentType": "application/json", "metadata": {"a": "b"}, "cacheControl": "no-store"}
    made = provider.create(_OBJECT, inputs, 0)
    asked = recorder.only(_UPLOAD)
    assert asked.query == {
        "name": "packages/x.json",
        "uploadType": "multipart",
        "alt": "json",
        "prettyPrint": "false",
    }
    metadata, kind, data = _parts(asked)
    assert metadata == {
        "bucket": "cat",
        "contentType": "application/json",
        "metadata": {"a": "b"},
        "cacheControl": "no-store",
    }
    assert (kind, data) == ("application/json", b"{}")
    assert made.id == "cat-packages/x.json"
    assert made.state["content"] == "{}"
    assert made.state["detectMd5hash"] == made.state["md5hash"] == md5(b"{}")
    assert made.state["generation"] == 17
    assert provider.difference(_OBJECT, made.state, _OBJECT_INPUTS).changes == ()


def test_changed_content_is_uploaded_over_the_old(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE_OBJECT}", _object(b"new"))
    version = "projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1"  # As a bucket's key shows.
    state = {**_OBJECT_INPUTS, "md5hash": md5(b"{}"), "detectMd5hash": md5(b"{}"), "kmsKeyName": version}
    provider.update(_OBJECT, "cat-packages/x.json", state, {**_OBJECT_INPUTS, "content": "new"}, 0)
    metadata, _, data = _parts(recorder.only(_UPLOAD))
    assert data == b"new" and "kmsKeyName" not in metadata, "a version of a key is refused"
    assert not [line for line in recorder.lines if line.startswith("DELETE")]


def test_a_hold_changes_the_object_as_it_is(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"GET {_ONE_OBJECT}", _object())
    recorder.answer(f"PUT {_ONE_OBJECT}", {})
    state = {**_OBJECT_INPUTS, "md5hash": md5(b"{}"), "detectMd5hash": md5(b"{}")}
    provider.update(_OBJECT, "cat-packages/x.json", state, {**_OBJECT_INPUTS, "temporaryHold": True}, 0)
    assert recorder.only(f"PUT {_ONE_OBJECT}").body["temporaryHold"] is True


def test_a_preview_of_new_content_does_not_know_the_generation(provider: Provider) -> None:
    state = {**_OBJECT_INPUTS, "md5hash": md5(b"{}"), "generation": 17}
    planned = provider.plan(_OBJECT, state, {**_OBJECT_INPUTS, "content": "new"})
    assert planned["generation"] is planned["md5hash"] is planned["detectMd5hash"] is UNKNOWN
    assert planned["mediaLink"] is planned["md5hexhash"] is COMPUTED
    assert provider.plan(_OBJECT, None, {**_OBJECT_INPUTS, "content": UNKNOWN})["content"] is UNKNOWN


def test_a_file_is_uploaded_as_it_is(recorder: Recorder, provider: Provider, tmp_path: Path) -> None:
    data = b"\x1f\x8b\x08" + bytes(range(256))
    (tmp_path / "p.tar.gz").write_bytes(data)
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE_OBJECT}", _object(data))
    source = Asset("h", path=str(tmp_path / "p.tar.gz"))
    made = provider.create(_OBJECT, {"bucket": "cat", "name": "packages/x.json", "source": source}, 0)
    assert _parts(recorder.only(_UPLOAD))[1:] == ("application/x-gzip", data)
    assert made.state["source"] == source


def test_a_file_that_is_not_there_is_said(provider: Provider) -> None:
    inputs = {"bucket": "cat", "name": "x", "source": Asset("h", path="/no/such/file")}
    with pytest.raises(CloudError, match=r"source: can't be read: .*No such file.*/no/such/file"):
        provider.plan(_OBJECT, None, inputs)


def test_nothing_is_fetched_from_elsewhere() -> None:
    with pytest.raises(CloudError, match="fetches nothing from elsewhere"):
        media(Asset("h", uri="https://example.com/x"))
