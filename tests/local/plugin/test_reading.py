from local.plugin.reading import imported, refreshed
from local.plugin.resources.bucket import Bucket
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
        "resourcePools": [
            {**pool, "replicaCount": "3"},
            {"id": "x", "machineSpec": {"machineType": "n", "__defaults": []}, "__defaults": []},
        ],
        "__defaults": ["name"],
    }


def test_a_refresh_keeps_the_spelling_of_what_is_equal() -> None:
    inputs = {"location": "us-central1", "forceDestroy": False}
    assert refreshed(Bucket.schema, inputs, {"location": "US-CENTRAL1", "forceDestroy": False}) == inputs


def test_an_import_gives_all_that_a_program_could_have_set() -> None:
    inputs = imported(_SCHEMA, _STATE)
    assert set(inputs) == {"name", "location", "displayName", "resourcePools", "deletionPolicy", "__defaults"}
    assert inputs["resourcePools"][0] == {
        "id": "w",
        "machineSpec": {"machineType": "m", "__defaults": []},
        "replicaCount": "3",
        "__defaults": [],
    }
