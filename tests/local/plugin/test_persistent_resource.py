"""What is sent for a cluster, and what is made of the answers."""

from typing import Any

import pytest

from local.plugin.cloud import OperationError
from local.plugin.provider import Provider
from local.plugin.transport import CloudError
from local.plugin.values import Properties
from tests.local.plugin.conftest import Recorder, Waits

_TOKEN = "gcp:vertex/aiPersistentResource:AiPersistentResource"
_ID = "projects/p1/locations/us-central1/persistentResources/h100"
_LIST = "/v1beta1/projects/p1/locations/us-central1/persistentResources"
_ONE = f"/v1beta1/{_ID}"
_OPERATION = "projects/100/locations/us-central1/persistentResources/h100/operations/7"
_INPUTS: Properties = {
    "name": "h100",
    "location": "us-central1",
    "displayName": "The H100s",
    "labels": {"slipway-stack": "dev"},
    "network": "projects/100/global/networks/n",
    "reservedIpRanges": ["range"],
    "encryptionSpec": {"kmsKeyName": "k"},
    "pscInterfaceConfig": {
        "networkAttachment": "a",
        "dnsPeeringConfigs": [{"domain": "d.", "targetProject": "t", "targetNetwork": "n"}],
    },
    "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
    "resourcePools": [
        {
            "id": "workers",
            "machineSpec": {"machineType": "a3", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8},
            "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 500},
            "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "4"},
            "replicaCount": "1",
        }
    ],
    "deletionPolicy": "DELETE",
    "__defaults": [],
}
_SENT = {
    name: value for name, value in _INPUTS.items() if name not in ("name", "location", "deletionPolicy", "__defaults")
}


def _answer(**more: Any) -> dict[str, Any]:
    pool = {**_INPUTS["resourcePools"][0], "usedReplicaCount": "1"}
    return {
        **_SENT,
        "name": f"projects/100/{_ID.split('/', 2)[2]}",
        "resourcePools": [pool],
        "labels": {"slipway-stack": "dev", "others": "x"},
        "state": "RUNNING",
        "error": {},
        "createTime": "2026-11-20T00:00:00Z",
        **more,
    }


def test_create_posts_under_the_name_and_polls_at_once_and_then_every_ten_seconds(
    recorder: Recorder, provider: Provider, waits: Waits
) -> None:
    recorder.answer(f"POST {_LIST}", {"name": _OPERATION})
    recorder.answer(f"GET /v1beta1/{_OPERATION}", {"name": _OPERATION})
    recorder.answer(f"GET /v1beta1/{_OPERATION}", {"name": _OPERATION})
    recorder.answer(f"GET /v1beta1/{_OPERATION}", {"name": _OPERATION, "done": True})
    recorder.answer(f"GET {_ONE}", _answer())

    made = provider.create(_TOKEN, _INPUTS, 0)

    created = recorder.only(f"POST {_LIST}")
    assert created.query == {"persistentResourceId": "h100", "alt": "json"}
    assert created.body == _SENT
    assert recorder.lines[1:] == [f"GET /v1beta1/{_OPERATION}"] * 3 + [f"GET {_ONE}"]
    assert waits.waited == [10.0, 10.0]
    assert made.id == _ID
    assert made.state["name"] == "h100"
    assert made.state["project"] == "p1"
    assert made.state["state"] == "RUNNING"
    assert made.state["labels"] == made.state["pulumiLabels"] == {"slipway-stack": "dev"}
    assert made.state["effectiveLabels"] == {"slipway-stack": "dev", "others": "x"}
    assert made.state["resourcePools"][0]["usedReplicaCount"] == "1"
    assert "errors" not in made.state


@pytest.mark.parametrize("code", [429, 500, 503])
@pytest.mark.parametrize(("timeout", "bound"), [(0, 1200), (60, 60)])
def test_a_refused_create_is_tried_again_until_its_time_out_without_a_word(
    recorder: Recorder, provider: Provider, waits: Waits, code: int, timeout: float, bound: float
) -> None:
    """gcp-provider.md, side by side: nothing but dots is seen meanwhile."""
    recorder.refuse(f"POST {_LIST}", code, "Quota exceeded.")
    with pytest.raises(CloudError, match=f"Error creating PersistentResource: googleapi: Error {code}: Quota exceeded"):
        provider.create(_TOKEN, _INPUTS, timeout)
    assert bound - 10 < waits.now() <= bound
    assert set(recorder.lines) == {f"POST {_LIST}"}


def test_a_create_that_fails_names_the_operations_error(recorder: Recorder, provider: Provider) -> None:
    error = {"code": 8, "message": "no more machines"}
    recorder.answer(f"POST {_LIST}", {"name": _OPERATION})
    recorder.answer(f"GET /v1beta1/{_OPERATION}", {"name": _OPERATION, "done": True, "error": error})
    with pytest.raises(CloudError) as failed:
        provider.create(_TOKEN, _INPUTS, 0)
    assert str(failed.value) == (
        "Error waiting to create PersistentResource: Error waiting for Creating PersistentResource: "
        "Error code 8, message: no more machines"
    )


@pytest.mark.parametrize(("asked", "seconds"), [(0, 1200), (60, 60)])
def test_waiting_ends_after_twenty_minutes_or_what_the_program_says(
    recorder: Recorder, provider: Provider, waits: Waits, asked: float, seconds: float
) -> None:
    recorder.answer(f"POST {_LIST}", {"name": _OPERATION})
    recorder.answer(f"GET /v1beta1/{_OPERATION}", {"name": _OPERATION})
    with pytest.raises(CloudError, match=f"timeout: {seconds:g} s"):
        provider.create(_TOKEN, _INPUTS, asked)
    assert sum(waits.waited) == seconds


def test_one_that_is_gone_reads_as_nothing(recorder: Recorder, provider: Provider) -> None:
    recorder.refuse(f"GET {_ONE}", 404, "The PersistentResource does not exist.", "NOT_FOUND")
    assert provider.read(_TOKEN, _ID, {"name": "h100"}, _INPUTS) is None


def test_a_refusal_to_read_is_no_absence(recorder: Recorder, provider: Provider) -> None:
    recorder.refuse(f"GET {_ONE}", 403, "denied", "PERMISSION_DENIED")
    with pytest.raises(CloudError, match="googleapi: Error 403: denied"):
        provider.read(_TOKEN, _ID, {"name": "h100"}, _INPUTS)


def _state(**more: Any) -> dict[str, Any]:
    labels = {"slipway-stack": "dev"}
    ours = {"project": "p1", "pulumiLabels": labels, "effectiveLabels": labels, "state": "RUNNING", **more}
    return {**{key: value for key, value in _INPUTS.items() if key != "__defaults"}, **ours}


def test_an_update_is_a_put_of_the_whole_body_that_nobody_waits_for(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"PUT {_ONE}", {"name": _OPERATION})
    recorder.answer(f"GET {_ONE}", _answer(displayName="Other"))
    provider.update(_TOKEN, _ID, _state(), {**_INPUTS, "displayName": "Other"}, 0)
    put = recorder.only(f"PUT {_ONE}")
    assert put.query == {"alt": "json"}
    assert put.body == {**_SENT, "displayName": "Other"}
    assert recorder.lines == [f"PUT {_ONE}", f"GET {_ONE}"]


def test_the_put_that_the_api_does_not_have_fails_the_update(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"PUT {_ONE}", b"not found", 404)
    with pytest.raises(CloudError, match=f'Error updating PersistentResource "{_ID}": googleapi: Error 404'):
        provider.update(_TOKEN, _ID, _state(), {**_INPUTS, "displayName": "Other"}, 0)


def test_a_delete_that_fails_says_why(recorder: Recorder, provider: Provider) -> None:
    error = {"code": 9, "message": "it is being rebooted"}
    recorder.answer(f"DELETE {_ONE}", {"name": _OPERATION, "done": True, "error": error})
    with pytest.raises(OperationError, match="Deleting PersistentResource: Error code 9, message: it is being"):
        provider.delete(_TOKEN, _ID, _state(), 0)


def test_deleting_what_is_gone_succeeds(recorder: Recorder, provider: Provider) -> None:
    recorder.refuse(f"DELETE {_ONE}", 404, "The PersistentResource does not exist.")
    provider.delete(_TOKEN, _ID, _state(), 0)
    assert recorder.lines == [f"DELETE {_ONE}"]


def test_prevent_stops_a_delete(recorder: Recorder, provider: Provider) -> None:
    with pytest.raises(CloudError, match='its deletionPolicy is "PREVENT"'):
        provider.delete(_TOKEN, _ID, _state(deletionPolicy="PREVENT"), 0)
    assert recorder.lines == []


def test_abandon_forgets_without_a_delete(recorder: Recorder, provider: Provider) -> None:
    provider.delete(_TOKEN, _ID, _state(deletionPolicy="ABANDON"), 0)
    assert recorder.lines == []
