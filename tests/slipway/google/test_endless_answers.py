"""Servers that never come to an end: pages in a circle or without number, bodies a byte now and then, or of any length.
Each ends in an error that says so, whoever asks. # N2, N9
"""

import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from slipway.google import transport
from slipway.google.connection import Connection
from slipway.google.endpoints import OVERRIDES, Endpoints
from slipway.google.failures import CloudError, Conflict, Garbled, Refused
from slipway.google.session import HttpPolicy, Session
from slipway.google.storage import Location, StoredObject
from slipway.google.transport import Transport
from slipway.model.kinds import CUSTOM_JOB
from tests.loopback import Handler, served
from tests.slipway.google.server import Server, connection

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
    one = StoredObject(Location("work", "model"), 100, "7", "", None)
    with dripping(HEAD + b"Content-Length: 100\r\n\r\n") as url:
        assert b"".join(impatient(url).storage.chunks(one)) == b" " * 100


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
