"""Servers that answer what no API would: each is an error in words, none is taken for an empty list or for success."""

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from slipway.deploying.deployment.deletion_guard import use_of_cluster
from slipway.google.catalog.lookup import SelectedCatalog, fetch
from slipway.google.failures import CloudError, Exhausted, Garbled, NoAnswer, Unavailable, Unreachable
from slipway.google.live import Unknown
from slipway.google.storage import Location, StoredObject
from slipway.model.kinds import CUSTOM_JOB
from tests.slipway.google.server import Server, connection

pytestmark = pytest.mark.usefixtures("no_garbage")
CLUSTER = "projects/p/locations/us-central1/persistentResources/cpu-1234567"
NO_JSON = [b"", b"<html>sign in</html>", b"[]", b"null", b'{"customJobs": [', b"[" * 50_000 + b"]" * 50_000]
NO_JOBS = [
    {"customJobs": None},
    {"customJobs": {"name": "j"}},
    {"customJobs": ["j"]},
    {"customJobs": [{"displayName": "without a name"}]},
    {"customJobs": [{"name": 3}]},
    {"customJobs": [{"name": "j", "labels": 3}]},
    {"customJobs": [{"name": "j", "jobSpec": {"workerPoolSpecs": [{"replicaCount": "many"}]}}]},
    {"customJobs": [{"name": "j", "createTime": "yesterday"}]},
    {"customJobs": [{"name": "j", "createTime": "2026-01-01T00:00:00"}]},
    {"customJobs": [], "nextPageToken": 3},
    {"customJobs": [], "nextPageToken": "again and again"},
]


def test_an_answer_tells_the_time_by_the_services_own_clock(server: Server) -> None:  # B6
    """Also a refusal; what is no date tells nothing."""
    for status in (200, 404):
        asked = connection(server.url)
        assert asked.session.time is None
        server.says({"name": "c"}, status)
        with contextlib.suppress(CloudError):
            asked.vertex("p", "us-central1").persistent_resource("c")
        assert asked.session.time is not None
    asked.session._date = "Sat, 21 Nov 2026 10:00:00 +0100"
    assert asked.session.time == datetime(2026, 11, 21, 9, tzinfo=UTC)
    asked.session._date = "yesterday"
    assert asked.session.time is None


def _short(content: bytes) -> str:
    return repr(content[:12])


@pytest.mark.parametrize("content", NO_JSON, ids=_short)
def test_a_list_that_is_no_json_object_is_no_empty_list(server: Server, content: bytes) -> None:
    server.says(content)
    vertex = connection(server.url).vertex("p", "us-central1")
    for read in (vertex.persistent_resources, lambda: list(vertex.jobs(CUSTOM_JOB))):
        with pytest.raises(Garbled, match="could not list"):
            read()
    with pytest.raises(Garbled):
        list(connection(server.url).logging("p").entries(""))


@pytest.mark.parametrize("body", NO_JOBS, ids=json.dumps)
def test_values_of_other_types_than_the_apis_are_an_error_in_words(server: Server, body: Any) -> None:
    server.says(body)
    with pytest.raises(Garbled, match="could not list the custom jobs"):
        list(connection(server.url).vertex("p", "us-central1").jobs(CUSTOM_JOB))


@pytest.mark.parametrize("content", [*NO_JSON, *(json.dumps(body).encode() for body in NO_JOBS[:-1])], ids=_short)
def test_the_guard_does_not_take_a_strange_answer_for_no_jobs(server: Server, content: bytes) -> None:
    server.says(content)
    found = use_of_cluster(connection(server.url), CLUSTER)
    assert isinstance(found, Unknown)
    assert "customJobs.list" in found.api


@pytest.mark.parametrize("content", [*NO_JSON, b"{}", b'{"name": null}', b'{"name": ""}'], ids=_short)
def test_a_submission_without_a_job_in_its_answer_is_neither_accepted_nor_refused(
    server: Server, content: bytes
) -> None:  # N7
    server.says(content)
    with pytest.raises(Garbled) as error:
        connection(server.url).vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    assert not error.value.not_accepted
    assert len(server.sent) == 1


def test_a_submission_follows_no_redirection(server: Server) -> None:  # N7
    server.says(b"", 302, Location=f"{server.url}elsewhere")
    with pytest.raises(Garbled) as error:
        connection(server.url).vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    assert not error.value.not_accepted
    assert server.sent == ["POST /projects/p/locations/us-central1/customJobs"]


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": None, "details": None, "status": None}},
        {"error": {"message": {"a": 1}, "details": 3}},
        {"error": "nothing of the kind"},
        {"error": None},
        [],
        b"<html>busy</html>",
        b"[" * 50_000,
    ],
)
def test_an_error_body_of_any_kind_is_read_as_far_as_it_goes(server: Server, body: Any) -> None:
    vertex = connection(server.url).vertex("p", "us-central1")
    for status, kind in ((429, Exhausted), (503, Unavailable)):
        server.says(body, status, Retry_After="\u00b2")
        with pytest.raises(kind):
            vertex.persistent_resources()


def test_what_can_not_be_sent_was_not_sent() -> None:
    vertex = connection("http://" + "a" * 300 + "/").vertex("p", "us-central1")
    with pytest.raises(Unreachable) as error:
        vertex.create(CUSTOM_JOB, {})
    assert error.value.not_accepted


def test_an_object_that_breaks_off_or_begins_anew_is_not_taken_for_what_was_asked_for(server: Server) -> None:
    storage, one = connection(server.url).storage, StoredObject(Location("work", "model"), 12, "7", "", None)
    server.content, server.missing = b"abc", 9
    with pytest.raises(NoAnswer, match="could not read gs://work/model"):
        list(storage.chunks(one))
    server.missing = 0
    with pytest.raises(Garbled):
        next(storage.chunks(one, 3))


def test_an_answer_that_breaks_off_is_no_answer_and_never_damaged_content(server: Server) -> None:
    server.content, server.missing = b'{"schema": 1, "stack"', 9
    with pytest.raises(NoAnswer) as error:
        fetch(connection(server.url).storage, SelectedCatalog(Location("acme-catalog", "catalog.json"), "this test"))
    assert "its answer broke off" in error.value.why
    assert error.value.fix == "try again"
    assert len(server.sent) == 2, "it was tried again"
