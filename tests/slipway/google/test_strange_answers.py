"""Servers that answer what no API would, or never come to an end: pages in a circle, bodies a byte now and then.

Each ends in an error in words, and none is taken for an empty list or for success. # N2, N9
"""

import contextlib
import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slipway.deploying.deployment.deletion_guard import use_of_cluster
from slipway.google import transport
from slipway.google.answers import http_date
from slipway.google.catalog.lookup import SelectedCatalog, fetch
from slipway.google.connection import Connection
from slipway.google.endpoints import OVERRIDES, Endpoints
from slipway.google.failures import (
    CloudError,
    Conflict,
    Exhausted,
    Garbled,
    NoAnswer,
    Refused,
    Unavailable,
    Unreachable,
)
from slipway.google.live import Unknown
from slipway.google.session import HttpPolicy, Session
from slipway.google.storage import Location, StoredObject
from slipway.google.transport import Transport
from slipway.model.kinds import CUSTOM_JOB
from tests.loopback import Handler, served
from tests.slipway.google.server import Server, connection

pytestmark = pytest.mark.usefixtures("no_garbage")
Read = Callable[[Connection], Any]
LISTS: dict[str, Read] = {
    "jobs": lambda to: list(to.vertex("p", "us-central1").jobs(CUSTOM_JOB)),
    "clusters": lambda to: to.vertex("p", "us-central1").persistent_resources(),
    "quotas": lambda to: list(to.quotas("p").infos(("custom_model_training_cpus",))),
    "objects": lambda to: list(to.storage.objects(Location("work"))),
    "log": lambda to: list(to.logging("p").entries("")),
}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def pages(server: Server, tokens: Iterable[str]) -> None:
    """An empty page after the other, each with the next of these tokens."""
    bodies = (json.dumps({"nextPageToken": token}).encode() for token in tokens)
    server.next_content = lambda: next(bodies)


@contextmanager
def dripping(begin: bytes) -> Iterator[str]:
    """Answer with `begin`, then a byte at a time, faster than any part of an answer times out."""
    gone = threading.Event()

    class Drip(Handler):
        def do_GET(self) -> None:
            with suppress(OSError):
                self.wfile.write(begin)
                while not gone.wait(0.01):
                    self.wfile.write(b" ")

        do_POST = do_GET

    with served(Drip) as url:
        yield f"{url}/"
        gone.set()


def impatient(url: str, **more: Any) -> Connection:
    policy = HttpPolicy(read=60.0, attempts=2, whole=0.1)
    session = Session(Transport({}), policy, sleep=lambda seconds: None, **more)
    return Connection(session, Endpoints(overrides=dict.fromkeys(OVERRIDES, url)))


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock finds it half a minute later: all of an answer is to be there within three."""
    seconds = itertools.count(0.0, 30.0)
    monkeypatch.setattr(transport, "monotonic", lambda: next(seconds))


@pytest.mark.parametrize("what", LISTS)
def test_a_page_token_seen_before_ends_the_list(server: Server, what: str) -> None:
    pages(server, itertools.cycle("AB"))
    with pytest.raises(Garbled, match="go in a circle"):
        LISTS[what](connection(server.url))
    assert len(server.sent) == 3


@pytest.mark.parametrize("what", LISTS)
def test_a_list_without_an_end_ends_when_its_time_is_over(server: Server, what: str) -> None:
    pages(server, map(str, itertools.count(1)))
    ticks = itertools.count()
    with pytest.raises(Garbled, match="no end: there is another page after"):
        LISTS[what](impatient(server.url, clock=lambda: float(next(ticks))))


def test_a_list_has_a_budget_of_pages_and_of_bytes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.google.session._MOST_PAGES", 7)
    pages(server, map(str, itertools.count(1)))
    with pytest.raises(Garbled, match="another page after 7 pages"):
        LISTS["jobs"](connection(server.url))
    pages(server, (f"{number:01000}" for number in itertools.count(1)))
    with pytest.raises(Garbled, match=r"another page after 3 pages, 3\.1 kB"):
        LISTS["jobs"](connection(server.url).with_policy(HttpPolicy(most=2500)))


@pytest.mark.parametrize(
    "begin",
    [
        pytest.param(HEAD + b"Content-Length: 99999999\r\n\r\n{", id="body"),
        pytest.param(HEAD + b"\r\n{", id="body of no length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n{", id="chunk"),
        pytest.param(b"HTTP/1.1 403 No\r\nContent-Length: 99999999\r\n\r\n{", id="refusal"),
    ],
)
@pytest.mark.parametrize("what", ["jobs", "log"])
@pytest.mark.usefixtures("hours")
def test_an_answer_that_comes_a_byte_at_a_time_is_given_up(begin: bytes, what: str) -> None:
    with dripping(begin) as url, pytest.raises(Garbled, match=r"had not ended after \d+ bytes, in at most 3 min"):
        LISTS[what](impatient(url))


@pytest.mark.usefixtures("hours")
def test_a_submission_whose_answer_never_ends_may_have_been_carried_out() -> None:  # N7
    with dripping(HEAD + b"Content-Length: 99999999\r\n\r\n{") as url, pytest.raises(Garbled) as error:
        impatient(url).vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    assert not error.value.not_accepted


@pytest.mark.usefixtures("hours")
def test_what_is_fetched_may_take_long_while_it_comes() -> None:
    """An object of a hundred gigabytes takes hours."""
    stored = StoredObject(Location("work", "model"), 100, "7", "", None)
    with dripping(HEAD + b"Content-Length: 100\r\n\r\n") as url:
        assert b"".join(impatient(url).storage.chunks(stored)) == b" " * 100


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_an_answer_is_not_read_into_memory_beyond_a_bound(
    server: Server, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(transport, "LARGEST", 1000)
    body = json.dumps({"customJobs": [], "other": "x" * 5000}).encode()
    if packed:
        server.says(gzip.compress(body), Content_Encoding="gzip")
    else:
        server.says(body)
    with pytest.raises(Garbled, match=r"had not ended after 5\.0 kB"):
        LISTS["jobs"](connection(server.url))
    assert len(server.sent) == 1, "a second one would be as long"


@pytest.mark.parametrize(("status", "kind"), [(400, Refused), (409, Conflict)])
def test_a_refusal_of_ten_megabytes_is_told_on_a_page_and_does_nothing_to_a_terminal(
    server: Server, status: int, kind: type[CloudError]
) -> None:
    text = "\x1b]0;evil\a\u202e line\n" * 600_000
    server.says({"error": {"message": text, "status": text}}, status)
    with pytest.raises(kind) as error:
        LISTS["clusters"](connection(server.url))
    for told in (
        error.value.message,
        error.value.why,
        str(error.value),
        error.value.answer and error.value.answer.reason,
    ):
        assert told and len(told) < 20_000 and not set("\x1b\a\u202e") & set(told)


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


NOON = "Sat, 21 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize("header", [NOON, f"{NOON}, {NOON}", f"{NOON},{NOON}", f"{NOON}, yesterday"])
def test_of_several_dates_the_first_counts(header: str) -> None:  # a proxy adds its own
    assert http_date(header) == datetime(2026, 11, 21, 12, tzinfo=UTC)


ALMOST = r"\A[A-Z][a-z]{2}, \d{1,25} (Jan|Xyz) \d{1,5} \d{1,3}:\d{1,3}:\d{1,3} (GMT|[+-]\d{1,12})?(, .*)?\Z"


@given(st.text() | st.from_regex(ALMOST))
@example("Sat, 99999999999999999999 Nov 2026 00:00:00 GMT")
@example("Fri, 31 Dec 9999 23:59:59 -1400")
def test_what_is_no_date_tells_no_time(header: str) -> None:
    time = http_date(header)
    assert time is None or time.tzinfo is UTC


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
    use = use_of_cluster(connection(server.url), CLUSTER)
    assert isinstance(use, Unknown)
    assert "customJobs.list" in use.api


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
    storage, stored = connection(server.url).storage, StoredObject(Location("work", "model"), 12, "7", "", None)
    server.content, server.missing = b"abc", 9
    with pytest.raises(NoAnswer, match="could not read gs://work/model"):
        list(storage.chunks(stored))
    server.missing = 0
    with pytest.raises(Garbled):
        next(storage.chunks(stored, 3))


def test_an_answer_that_breaks_off_is_no_answer_and_never_damaged_content(server: Server) -> None:
    server.content, server.missing = b'{"schema": 1, "stack"', 9
    with pytest.raises(NoAnswer) as error:
        fetch(connection(server.url).storage, SelectedCatalog(Location("acme-catalog", "catalog.json"), "this test"))
    assert "its answer broke off" in error.value.why
    assert error.value.fix == "try again"
    assert len(server.sent) == 2, "it was tried again"
