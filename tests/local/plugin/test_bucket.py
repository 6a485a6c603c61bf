from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.transport import CloudError
from local.plugin.values import Properties
from tests.local.plugin.conftest import Recorder

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


def test_the_state_after_a_create_needs_no_change(recorder: Recorder, provider: Provider) -> None:
    state = _made(recorder, provider)
    assert provider.difference(_TOKEN, state, _INPUTS).changes == ()
    assert state["url"] == "gs://work"
    assert state["projectNumber"] == 100
    assert state["lifecycleRules"][0]["condition"] == {"age": 30, "matchesPrefixes": ["jobs/"], "withState": "ANY"}


def test_a_bucket_with_nothing_but_a_place(recorder: Recorder, provider: Provider) -> None:
    recorder.answer("POST /storage/v1/b", {})
    recorder.answer(f"GET {_ONE}", {"name": "work", "location": "EU", "storageClass": "STANDARD"})
    provider.create(_TOKEN, {"name": "work", "location": "EU", "storageClass": "STANDARD", "__defaults": []}, 0)
    assert recorder.only("POST /storage/v1/b").body == {
        "name": "work",
        "location": "EU",
        "storageClass": "STANDARD",
        "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": False}},
        "lifecycle": {"rule": []},
    }


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
    with pytest.raises(CloudError, match="containing objects without `forceDestroy` set to true"):
        provider.delete(_TOKEN, "work", {"name": "work", "forceDestroy": False}, 0)
    assert recorder.lines == [f"GET {_ONE}/o"]


def test_force_destroy_deletes_every_version_of_every_object(recorder: Recorder, provider: Provider) -> None:
    items = [{"name": "a/x", "generation": "1"}, {"name": "a/x", "generation": "2"}]
    recorder.answer(f"GET {_ONE}/o", {"items": items})
    recorder.answer(f"GET {_ONE}/o", {})
    recorder.answer(f"DELETE {_ONE}/o/a%2Fx", None, 204)
    recorder.answer(f"DELETE {_ONE}", None, 204)
    provider.delete(_TOKEN, "work", {"name": "work", "forceDestroy": True}, 0)
    deleted = [one for one in recorder.asked if one.line == f"DELETE {_ONE}/o/a%2Fx"]
    assert [one.query["generation"] for one in deleted] == ["1", "2"]
    assert recorder.asked[0].query["versions"] == "true"
    assert recorder.lines[-1] == f"DELETE {_ONE}"


def test_an_import_gives_the_bucket_as_it_is(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"GET {_ONE}", _answer())
    read = provider.read(_TOKEN, "p1/work", {}, {})
    assert read is not None
    assert (read.found.id, read.inputs["project"], read.inputs["location"]) == ("work", "p1", "US-CENTRAL1")
    edits = {key: value for key, value in _INPUTS.items() if key not in ("labels", "forceDestroy")}
    assert provider.difference(_TOKEN, read.found.state, edits).changes == ()
