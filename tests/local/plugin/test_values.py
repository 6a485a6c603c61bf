from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.plugin.kind import ImportIdError
from local.plugin.provider import kinds
from local.plugin.reading import refreshed
from local.plugin.resources.bucket import Bucket
from local.plugin.resources.bucket_object import BucketObject
from local.plugin.resources.iam_member import BUCKET, IamMember
from local.plugin.resources.persistent_resource import PersistentResource
from local.plugin.settings import Settings
from local.plugin.values import UNKNOWN, Asset, decode, encode, is_empty

_LEAVES = (
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=20).filter(lambda text: len(text) != 36)
    | st.just(UNKNOWN)
    | st.builds(Asset, hash=st.just("h"), text=st.text(max_size=5))
)
_NAMES = st.text("abcdef-_.", min_size=1, max_size=8)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)


@given(st.dictionaries(_NAMES, _VALUES, max_size=4), st.data())
def test_what_is_sent_comes_back_with_its_secrets(values: dict[str, Any], data: st.DataObject) -> None:
    secrets = data.draw(st.sets(st.sampled_from(sorted(values)))) if values else set()
    back = decode(encode(values, secrets))
    assert back.values == values
    assert back.secrets == secrets


def test_a_secret_deep_inside_makes_its_property_secret() -> None:
    struct = encode({"labels": {"a": "b"}, "plain": 1})
    struct.fields["labels"].struct_value.fields["a"].CopyFrom(encode({"x": "b"}, {"x"}).fields["x"])
    back = decode(struct)
    assert back.values == {"labels": {"a": "b"}, "plain": 1}
    assert back.secrets == {"labels"}


def test_empty_is_what_the_cloud_can_not_tell_from_nothing() -> None:
    nothing: list[Any] = [None, "", 0, False, [], {}, {"a": {"b": 0}, "__defaults": ["a"]}]
    something: list[Any] = ["x", 1, True, [0], {"a": 1}, UNKNOWN, Asset()]
    assert all(is_empty(value) for value in nothing)
    assert not any(is_empty(value) for value in something)


_SCHEMA = PersistentResource.schema
_STATE = {
    "name": "h100",
    "location": "us-central1",
    "displayName": "h100",
    "resourcePools": [
        {"id": "w", "machineSpec": {"machineType": "m"}, "replicaCount": "3", "usedReplicaCount": "2"},
        {"id": "x", "machineSpec": {"machineType": "n"}},
    ],
    "effectiveLabels": {"a": "b"},
    "pulumiLabels": {},
    "deletionPolicy": "DELETE",
    "state": "RUNNING",
}


def test_a_refresh_brings_the_inputs_to_what_is_there_and_adds_none() -> None:
    pool = {"id": "w", "machineSpec": {"machineType": "m", "__defaults": []}, "replicaCount": "1", "__defaults": []}
    inputs = {"name": "h100", "network": "gone", "resourcePools": [pool], "__defaults": ["name"]}
    assert refreshed(_SCHEMA, inputs, _STATE) == {
        "name": "h100",
        "resourcePools": [{**pool, "replicaCount": "3"}],
        "__defaults": ["name"],
    }


def test_a_refresh_keeps_the_spelling_of_a_location_alone() -> None:
    inputs = {"location": "us-central1", "labels": {"a": "b", "gone": "c"}}
    now = {"location": "US-CENTRAL1", "labels": {"a": "c", "theirs": "d"}}
    assert refreshed(Bucket.schema, inputs, now) == {"location": "us-central1", "labels": {"a": "c"}}
    member = {"bucket": "work", "role": "r", "member": "user:a@b.example"}
    preview = refreshed(IamMember(BUCKET).schema, member, {**member, "bucket": "b/work"})
    assert preview["bucket"] == "b/work"


def test_what_a_refresh_finds_changed_is_no_default_any_more() -> None:
    inputs = {"content": "x", "detectMd5hash": "different hash", "__defaults": ["detectMd5hash", "name"], "name": "n"}
    preview = refreshed(BucketObject.schema, inputs, {"content": "x", "detectMd5hash": "aGFzaA==", "name": "n"})
    assert preview == {"content": "x", "detectMd5hash": "aGFzaA==", "name": "n", "__defaults": ["name"]}


_SETTINGS = Settings(endpoints={}, token="t", project="p1")
_FULL = "projects/p1/locations/us-central1/persistentResources/h100"
_ACCOUNT = "projects/p1/serviceAccounts/a@p1.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("token", "given", "full"),
    [
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", _FULL, _FULL),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "p1/us-central1/h100", _FULL),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "us-central1/h100", _FULL),
        ("gcp:storage/bucket:Bucket", "b", "b"),
        ("gcp:storage/bucket:Bucket", "p2/b", "b"),
        ("gcp:serviceaccount/account:Account", _ACCOUNT, _ACCOUNT),
        ("gcp:serviceaccount/account:Account", "a@p1.iam.gserviceaccount.com", _ACCOUNT),
        (
            "gcp:cloudquota/sQuotaPreference:SQuotaPreference",
            "projects/p1/locations/global/quotaPreferences/q",
            "projects/p1/locations/global/quotaPreferences/q",
        ),
    ],
)
def test_the_forms_of_an_import_id(token: str, given: str, full: str) -> None:
    assert kinds()[token].locate(given, _SETTINGS).id == full


def test_the_parts_of_an_import_id_are_the_state_to_read_by() -> None:
    kind = kinds()["gcp:vertex/aiPersistentResource:AiPersistentResource"]
    assert kind.locate("p2/us-east1/h100", _SETTINGS).state == {
        "project": "p2",
        "location": "us-east1",
        "name": "h100",
    }
    member = kinds()["gcp:storage/bucketIAMMember:BucketIAMMember"]
    assert member.locate("b/x roles/viewer user:a@x.example", _SETTINGS).state == {
        "bucket": "b/x",
        "role": "roles/viewer",
        "member": "user:a@x.example",
    }


@pytest.mark.parametrize(
    ("token", "given"),
    [
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "h100"),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "a/b/c/d"),
        ("gcp:storage/bucketObject:BucketObject", "b-o"),
        ("gcp:projects/iAMMember:IAMMember", "p1 roles/viewer"),
        ("gcp:cloudquota/sQuotaPreference:SQuotaPreference", "q"),
    ],
)
def test_an_id_that_fits_no_form_is_refused_with_the_forms(token: str, given: str) -> None:
    with pytest.raises(ImportIdError, match="does not fit"):
        kinds()[token].locate(given, _SETTINGS)


def test_a_short_id_needs_a_project_from_the_configuration() -> None:
    kind = kinds()["gcp:vertex/aiPersistentResource:AiPersistentResource"]
    with pytest.raises(ImportIdError):
        kind.locate("us-central1/h100", Settings(endpoints={}, token="t"))
