"""Refusals in words, with the role that is missing."""

import pytest

from slipway.google.failures import (
    Answer,
    Call,
    Conflict,
    Denied,
    Exhausted,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
    Unserved,
    failure,
    role_for,
)

CALL = Call("submit digits-1", "aiplatform.customJobs.create", "project p")


def test_a_full_disk_of_the_local_cloud_asks_for_room() -> None:
    error = failure(Call("submit it"), Answer(507, "RESOURCE_EXHAUSTED", "The disk is full: 3 MB are free at /state."))
    assert error.exit_code == 4 and "3 MB are free" in error.why and error.fix.startswith("make room on its disk")


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, Refused, 4),
        (401, Unauthenticated, 3),
        (403, Denied, 3),
        (404, NotFound, 4),
        (409, Conflict, 4),
        (412, Conflict, 4),
        (429, Exhausted, 5),
        (500, Unavailable, 4),
        (501, Unserved, 4),
        (503, Unavailable, 4),
    ],
)
def test_each_status_has_its_error_and_exit_code(status: int, kind: type, code: int) -> None:
    error = failure(CALL, Answer(status, "", "because"))
    assert type(error) is kind and error.exit_code == code and error.why == "because"
    assert error.what == "could not submit digits-1"


@pytest.mark.parametrize(
    ("permission", "role"),
    [
        ("aiplatform.customJobs.create", "roles/aiplatform.user"),
        ("aiplatform.persistentResources.create", "roles/aiplatform.admin"),
        ("aiplatform.persistentResources.list", "roles/aiplatform.viewer"),
        ("iam.serviceAccounts.actAs", "roles/iam.serviceAccountUser"),
        ("storage.objects.get", "roles/storage.objectViewer"),
        ("storage.objects.create", "roles/storage.objectCreator"),
        ("cloudquotas.quotas.get", "roles/cloudquotas.viewer"),
        ("some.other.permission", ""),
    ],
)
def test_the_least_role_is_named(permission: str, role: str) -> None:  # P5
    assert role_for(permission) == role


def test_a_denial_names_role_and_resource() -> None:  # P5
    message = (
        "Permission 'aiplatform.customJobs.create' denied on resource "
        "'//aiplatform.googleapis.com/projects/p' (or it may not exist)."
    )
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert isinstance(error, Denied)
    assert error.role == "roles/aiplatform.user"
    assert error.fix == "ask for roles/aiplatform.user on project p"


def test_the_permission_that_was_denied_goes_before_the_one_expected() -> None:  # P5
    message = "You do not have permission to act as service_account: trainer@p.iam.gserviceaccount.com"
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert error.role == "roles/iam.serviceAccountUser"
    assert error.fix == "ask for roles/iam.serviceAccountUser on trainer@p.iam.gserviceaccount.com"


@pytest.mark.parametrize("who", ["ada@company.example", "previewer@local-project.iam.gserviceaccount.com"])
def test_storages_words_are_understood_and_no_identity_is_taken_for_a_permission(who: str) -> None:  # P5
    message = f"{who} does not have storage.objects.get access to the Google Cloud Storage object."
    error = failure(Call("read the catalog", "storage.objects.get", "gs://c"), Answer(403, "", message))
    assert error.fix == "ask for roles/storage.objectViewer on gs://c"


def test_what_a_cloud_has_not_is_no_mistake_of_the_person() -> None:  # N4
    error = failure(CALL, Answer(501, "UNIMPLEMENTED", "the local cloud has no TPUs"))
    assert error.fix.startswith("trying again does not help") and "status.cloud" not in error.fix


def test_an_api_that_is_off_is_no_matter_of_roles() -> None:
    message = "Cloud Quotas API has not been used in project 1 before or it is disabled."
    assert "enable the API" in failure(CALL, Answer(403, "PERMISSION_DENIED", message)).fix


@pytest.mark.parametrize(
    ("answer", "proven"),
    [
        (Answer(400, "", ""), True),
        (Answer(429, "", ""), True),
        (Answer(408, "", ""), False),
        (Answer(500, "", ""), False),
        (Answer(502, "", ""), False),
        (Answer(501, "", ""), False),
        (Answer(501, "UNIMPLEMENTED", ""), True),
        (Answer(503, "UNAVAILABLE", ""), False),
        (Answer(503, "UNAVAILABLE", "", retry_after=5.0), True),
        (Answer(503, "", "", ({"@type": "type.googleapis.com/google.rpc.RetryInfo"},)), True),
    ],
)
def test_what_proves_that_nothing_was_done(answer: Answer, proven: bool) -> None:
    assert failure(CALL, answer).not_accepted is proven
