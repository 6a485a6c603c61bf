from local.plugin.reading import imported, refreshed
from local.plugin.resources.bucket import Bucket
from local.plugin.resources.bucket_object import BucketObject
from local.plugin.resources.iam_member import BUCKET, IamMember
from local.plugin.resources.persistent_resource import PersistentResource

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
    found = refreshed(IamMember(BUCKET).schema, member, {**member, "bucket": "b/work"})
    assert found["bucket"] == "b/work"


def test_what_a_refresh_finds_changed_is_no_default_any_more() -> None:
    inputs = {"content": "x", "detectMd5hash": "different hash", "__defaults": ["detectMd5hash", "name"], "name": "n"}
    found = refreshed(BucketObject.schema, inputs, {"content": "x", "detectMd5hash": "aGFzaA==", "name": "n"})
    assert found == {"content": "x", "detectMd5hash": "aGFzaA==", "name": "n", "__defaults": ["name"]}


def test_an_import_gives_all_that_a_program_could_have_set() -> None:
    inputs = imported(_SCHEMA, _STATE)
    assert set(inputs) == {"name", "location", "displayName", "resourcePools", "deletionPolicy", "__defaults"}
    assert inputs["resourcePools"][0] == {
        "id": "w",
        "machineSpec": {"machineType": "m", "__defaults": []},
        "replicaCount": "3",
        "__defaults": [],
    }
