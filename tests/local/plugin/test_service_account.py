from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.transport import CloudError
from tests.local.plugin.conftest import Recorder

_TOKEN = "gcp:serviceaccount/account:Account"
_LIST = "/v1/projects/p1/serviceAccounts"
_EMAIL = "trainer@p1.iam.gserviceaccount.com"
_ID = f"projects/p1/serviceAccounts/{_EMAIL}"
_INPUTS = {"accountId": "trainer", "displayName": "Trainer", "disabled": False, "__defaults": ["disabled"]}
_ANSWER = {"name": _ID, "email": _EMAIL, "projectId": "p1", "uniqueId": "42", "displayName": "Trainer"}


def test_create_and_what_is_known_of_it(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"POST {_LIST}", _ANSWER)
    recorder.answer(f"GET /v1/{_ID}", _ANSWER)
    made = provider.create(_TOKEN, _INPUTS, 0)
    assert recorder.only(f"POST {_LIST}").body == {
        "accountId": "trainer",
        "serviceAccount": {"displayName": "Trainer"},
    }
    assert made.id == made.state["name"] == _ID
    assert (made.state["email"], made.state["member"]) == (_EMAIL, f"serviceAccount:{_EMAIL}")
    assert made.state["uniqueId"] == "42"
    assert provider.difference(_TOKEN, made.state, _INPUTS).changes == ()


def test_one_that_exists_is_taken_over_only_when_asked(recorder: Recorder, provider: Provider) -> None:
    recorder.refuse(f"POST {_LIST}", 409, "Service account trainer already exists")
    recorder.answer(f"GET /v1/{_ID}", _ANSWER)
    with pytest.raises(CloudError, match="Error creating service account: googleapi: Error 409"):
        provider.create(_TOKEN, _INPUTS, 0)
    assert provider.create(_TOKEN, {**_INPUTS, "createIgnoreAlreadyExists": True}, 0).id == _ID


def test_texts_are_patched_and_disabling_is_a_request_of_its_own(recorder: Recorder, provider: Provider) -> None:
    state: dict[str, Any] = {**_ANSWER, "accountId": "trainer", "project": "p1", "description": "old"}
    recorder.answer(f"PATCH /v1/{_ID}", {})
    recorder.answer(f"POST /v1/{_ID}:disable", {})
    recorder.answer(f"GET /v1/{_ID}", {**_ANSWER, "disabled": True})
    made = provider.update(_TOKEN, _ID, state, {"accountId": "trainer", "displayName": "New", "disabled": True}, 0)
    assert recorder.only(f"PATCH /v1/{_ID}").body == {
        "serviceAccount": {"displayName": "New", "description": ""},
        "updateMask": "displayName,description",
    }
    assert recorder.lines[1] == f"POST /v1/{_ID}:disable"
    assert made.state["disabled"] is True


def test_delete(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"DELETE /v1/{_ID}", {})
    provider.delete(_TOKEN, _ID, {"accountId": "trainer"}, 0)
    assert recorder.lines == [f"DELETE /v1/{_ID}"]
