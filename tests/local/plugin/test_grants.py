from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.transport import CloudError
from tests.local.plugin.conftest import LOST, Recorder, Waits

_TOKEN = "gcp:serviceaccount/account:Account"
_LIST = "/v1/projects/p1/serviceAccounts"
_EMAIL = "trainer@p1.iam.gserviceaccount.com"
_ID = f"projects/p1/serviceAccounts/{_EMAIL}"
_INPUTS = {"accountId": "trainer", "displayName": "Trainer", "disabled": False, "__defaults": ["disabled"]}
_ANSWER = {"name": _ID, "email": _EMAIL, "projectId": "p1", "uniqueId": "42", "displayName": "Trainer"}


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


_PROJECT = "gcp:projects/iAMMember:IAMMember"
_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
_ACCOUNT = "gcp:serviceaccount/iAMMember:IAMMember"
_READ = "POST /v1/projects/p1:getIamPolicy"
_WRITE = "POST /v1/projects/p1:setIamPolicy"
_ADA: dict[str, Any] = {"project": "p1", "role": "roles/aiplatform.user", "member": "user:ada@x.example"}
_BOB = {"role": "roles/aiplatform.user", "members": ["user:bob@x.example"]}


def _policy(*bindings: dict[str, Any], etag: str = "e1") -> dict[str, Any]:
    return {"version": 1, "etag": etag, "bindings": list(bindings)}


def test_a_member_joins_the_binding_of_its_role(recorder: Recorder, provider: Provider) -> None:
    both = {**_BOB, "members": ["user:bob@x.example", "user:ada@x.example"]}
    recorder.answer(_READ, _policy(_BOB))
    recorder.answer(_READ, _policy(both, etag="e2"))
    recorder.answer(_WRITE, {})
    made = provider.create(_PROJECT, _ADA, 0)
    assert recorder.asked[0].body == {"options": {"requestedPolicyVersion": 3}}
    assert recorder.only(_WRITE).body == {"policy": {"version": 3, "etag": "e1", "bindings": [both]}}
    assert made.id == "p1/roles/aiplatform.user/user:ada@x.example"
    assert made.state == {**_ADA, "etag": "e2"}


def test_a_write_that_came_second_begins_again(recorder: Recorder, provider: Provider, waits: Waits) -> None:
    recorder.answer(_READ, _policy())
    recorder.answer(_READ, _policy(_BOB, etag="e2"))
    recorder.answer(_READ, _policy({**_BOB, "members": ["user:ada@x.example"]}))
    recorder.refuse(_WRITE, 409, "There were concurrent policy changes.", "ABORTED")
    recorder.answer(_WRITE, {})
    provider.create(_PROJECT, _ADA, 0)
    writes = [request.body["policy"] for request in recorder.asked if request.line == _WRITE]
    assert [write["etag"] for write in writes] == ["e1", "e2"]
    assert writes[1]["bindings"][0]["members"] == ["user:bob@x.example", "user:ada@x.example"]
    assert len(waits.waited) == 1


def test_a_projects_policy_is_written_once_more_where_its_answer_was_lost(
    recorder: Recorder, provider: Provider
) -> None:
    """The official provider sends the members of a project as one, and after a failure each by itself."""
    held: dict[str, Any] = _policy(_BOB)

    def take(line: str) -> tuple[int, Any, dict[str, str]]:
        if line == _WRITE:
            held.update(recorder.asked[-1].body["policy"])
            return LOST, None, {}
        return 200, held, {}

    recorder.take = take  # type: ignore[method-assign]
    assert provider.create(_PROJECT, _ADA, 0).state["member"] == "user:ada@x.example"
    assert recorder.lines == [_READ, _WRITE, _READ, _READ]
    assert held["bindings"][0]["members"] == ["user:bob@x.example", "user:ada@x.example"]


def test_an_answer_that_is_lost_twice_fails_as_a_buckets_does_at_once(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_READ, _policy())
    recorder.answer(_WRITE, None, LOST)
    with pytest.raises(CloudError, match=r'Post ".*:setIamPolicy.*": EOF'):
        provider.create(_PROJECT, _ADA, 0)
    assert recorder.lines.count(_WRITE) == 2
    recorder.answer("GET /storage/v1/b/cat/iam", _policy())
    recorder.answer("PUT /storage/v1/b/cat/iam", None, LOST)
    with pytest.raises(CloudError, match=r'Put ".*/b/cat/iam.*": EOF'):
        provider.create(_BUCKET, {"bucket": "cat", "role": "roles/x", "member": "user:ada@x.example"}, 0)
    assert recorder.lines.count("PUT /storage/v1/b/cat/iam") == 1


def test_beginning_again_has_an_end(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_READ, _policy())
    recorder.refuse(_WRITE, 409, "There were concurrent policy changes.", "ABORTED")
    with pytest.raises(CloudError, match="Error applying IAM policy for projects/p1: googleapi: Error 409"):
        provider.create(_PROJECT, _ADA, 0)
    assert recorder.lines.count(_WRITE) == 10


def test_members_of_one_policy_in_one_program_do_not_collide(recorder: Recorder, provider: Provider) -> None:
    held: dict[str, Any] = _policy()

    def take(line: str) -> tuple[int, Any, dict[str, str]]:
        if line == _WRITE:
            held.update(recorder.asked[-1].body["policy"])
        return 200, held, {}

    recorder.take = take  # type: ignore[method-assign]
    people = [f"user:{number}@x.example" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda member: provider.create(_PROJECT, {**_ADA, "member": member}, 0), people))
    assert sorted(held["bindings"][0]["members"]) == people


def test_a_member_that_is_there_already_is_not_written_again(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_READ, _policy({**_BOB, "members": ["user:Ada@x.example"]}))
    provider.create(_PROJECT, _ADA, 0)
    assert _WRITE not in recorder.lines


def test_a_member_that_somebody_took_out_reads_as_gone(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_READ, _policy(_BOB))
    assert provider.read(_PROJECT, "id", _ADA, _ADA) is None


def test_delete_takes_out_one_member_and_an_empty_binding(recorder: Recorder, provider: Provider) -> None:
    alone = {"role": "roles/viewer", "members": ["user:ada@x.example"]}
    recorder.answer(_READ, _policy(_BOB, alone))
    recorder.answer(_WRITE, {})
    provider.delete(_PROJECT, "id", {**_ADA, "role": "roles/viewer"}, 0)
    assert recorder.only(_WRITE).body["policy"]["bindings"] == [_BOB]


def test_a_buckets_policy_is_a_document_of_its_own(recorder: Recorder, provider: Provider) -> None:
    binding = {"role": "roles/storage.objectViewer", "members": ["user:ada@x.example"]}
    recorder.answer("GET /storage/v1/b/cat/iam", _policy())
    recorder.answer("GET /storage/v1/b/cat/iam", _policy(binding))
    recorder.answer("PUT /storage/v1/b/cat/iam", {})
    inputs = {"bucket": "cat", "role": "roles/storage.objectViewer", "member": "user:ada@x.example"}
    made = provider.create(_BUCKET, inputs, 0)
    assert recorder.asked[0].query["optionsRequestedPolicyVersion"] == "3"
    assert recorder.only("PUT /storage/v1/b/cat/iam").body == {"version": 3, "etag": "e1", "bindings": [binding]}
    assert made.state["bucket"] == "b/cat"
    assert provider.difference(_BUCKET, made.state, inputs).changes == ()


def test_a_service_accounts_policy_is_read_by_query(recorder: Recorder, provider: Provider) -> None:
    account = "projects/p1/serviceAccounts/a@p1.iam.gserviceaccount.com"
    binding = {"role": "roles/iam.serviceAccountUser", "members": ["group:g@x.example"]}
    recorder.answer(f"POST /v1/{account}:getIamPolicy", _policy())
    recorder.answer(f"POST /v1/{account}:getIamPolicy", _policy(binding))
    recorder.answer(f"POST /v1/{account}:setIamPolicy", {})
    inputs = {"serviceAccountId": account, "role": "roles/iam.serviceAccountUser", "member": "group:g@x.example"}
    made = provider.create(_ACCOUNT, inputs, 0)
    assert recorder.asked[0].query["options.requestedPolicyVersion"] == "3"
    assert recorder.asked[0].raw == b""
    assert made.id == f"{account}/roles/iam.serviceAccountUser/group:g@x.example"
