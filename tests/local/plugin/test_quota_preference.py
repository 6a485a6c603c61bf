from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.transport import CloudError
from local.plugin.values import Properties
from tests.local.plugin.conftest import Recorder

_TOKEN = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_ID = "projects/p1/locations/global/quotaPreferences/h100"
_ONE = f"/v1beta/{_ID}"
_SENT = {
    "name": "h100",
    "service": "aiplatform.googleapis.com",
    "quotaId": "CustomModelTrainingH100GPUsPerProjectPerRegion",
    "dimensions": {"region": "us-central1"},
    "quotaConfig": {"preferredValue": "8", "annotations": {"by": "slipway"}},
    "contactEmail": "ml@acme.example",
    "justification": "training",
}
_INPUTS: Properties = {**_SENT, "ignoreSafetyChecks": "QUOTA_SAFETY_CHECK_UNSPECIFIED", "__defaults": []}


def _answer(**config: Any) -> dict[str, Any]:
    known = {name: _SENT[name] for name in ("service", "quotaId", "dimensions")}
    return {**known, "name": _ID, "etag": "e", "quotaConfig": {"preferredValue": "8", "grantedValue": "4", **config}}


def test_create_names_the_preference_and_the_safety_checks(recorder: Recorder, provider: Provider) -> None:
    line = "POST /v1beta/projects/p1/locations/global/quotaPreferences"
    recorder.answer(line, {})
    recorder.answer(f"GET {_ONE}", _answer())
    made = provider.create(_TOKEN, _INPUTS, 0)
    asked = recorder.only(line)
    assert asked.query == {
        "quotaPreferenceId": "h100",
        "ignoreSafetyChecks": "QUOTA_SAFETY_CHECK_UNSPECIFIED",
        "alt": "json",
    }
    assert asked.body == _SENT
    assert made.id == _ID
    assert made.state["quotaConfig"] == {
        "preferredValue": "8",
        "grantedValue": "4",
        "annotations": {"by": "slipway"},
    }
    assert made.state["contactEmail"] == "ml@acme.example"
    assert provider.difference(_TOKEN, made.state, _INPUTS).changes == ()


def test_an_update_patches_what_changed(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"PATCH {_ONE}", {})
    recorder.answer(f"GET {_ONE}", _answer(preferredValue="16"))
    state = {**_SENT, "parent": "projects/p1", "quotaConfig": {"preferredValue": "8", "grantedValue": "4"}}
    inputs = {**_INPUTS, "quotaConfig": {"preferredValue": "16"}}
    provider.update(_TOKEN, _ID, state, inputs, 0)
    asked = recorder.only(f"PATCH {_ONE}")
    assert asked.query["updateMask"] == "quotaConfig"
    assert asked.body["quotaConfig"] == {"preferredValue": "16", "grantedValue": "4"}


def test_destroy_sends_nothing(recorder: Recorder, provider: Provider) -> None:
    provider.delete(_TOKEN, _ID, _SENT, 0)
    assert recorder.lines == []


def test_a_refused_preference_is_an_error_with_googles_text(recorder: Recorder, provider: Provider) -> None:
    line = "POST /v1beta/projects/p1/locations/global/quotaPreferences"
    recorder.refuse(line, 409, "Quota preference already exists.", "ALREADY_EXISTS")
    with pytest.raises(CloudError, match="Error creating QuotaPreference: googleapi: Error 409: Quota preference alr"):
        provider.create(_TOKEN, _INPUTS, 0)
