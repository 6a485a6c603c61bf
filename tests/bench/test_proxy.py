"""The proxy between a bench and its cloud: round trips in sequence, and whole requests alone. # N2"""

import http.client
import json
import queue
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.proxy import Exchange, in_sequence, recording
from bench.relay import Answer, Relay, running
from tests import loopback


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0.01, 9)), max_size=8))
def test_it_is_the_longest_chain_there_is(times: list[tuple[float, float]]) -> None:
    exchanges = [Exchange(str(index), began, began + lasts) for index, (began, lasts) in enumerate(times)]
    ordered = sorted(exchanges, key=lambda each: each.began)
    depth: list[int] = []
    for index, each in enumerate(ordered):
        before = [depth[other] for other in range(index) if ordered[other].ended <= each.began]
        depth.append(1 + max(before, default=0))
    assert len(in_sequence(exchanges)) == max(depth, default=0)


class Echo(loopback.Handler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        heard = {"X-Host": self.headers["Host"], "X-Token": self.headers["Authorization"]}
        self.answer(403 if self.path == "/no" else 200, self.body(), heard)


@pytest.fixture
def echo() -> Iterator[str]:
    with loopback.served(Echo) as url:
        yield url


def test_passes_requests_and_answers_on_unchanged(echo: str) -> None:
    with recording(echo, delay_s=0.01) as proxy:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(proxy.url).netloc)
        for path, status in (("/yes?a=1", 200), ("/no", 403)):
            connection.request("POST", path, b"body", {"Authorization": "Bearer x"})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (status, b"body")
            # The local cloud refuses foreign Host headers: it must see its own.
            assert answer.headers["X-Host"] == urllib.parse.urlsplit(echo).netloc
            assert answer.headers["X-Token"] == "Bearer x"
        connection.close()
        taken = proxy.take()
        assert [each.what for each in taken] == ["POST /yes?a=1", "POST /no"]
        assert len(in_sequence(taken)) == 2
        assert proxy.take() == []


WHOLE = b'{"policy": {}}'


@pytest.mark.parametrize(
    "half",
    [
        b"Content-Length: 14\r\n\r\n",
        b'Content-Length: 14\r\n\r\n{"poli',
        b'Transfer-Encoding: chunked\r\n\r\ne\r\n{"poli',
        b'Transfer-Encoding: chunked\r\n\r\ne\r\n{"policy": {}}\r\n',
    ],
    ids=["no body", "half of one", "half a chunk", "no last chunk"],
)
def test_what_a_killed_caller_has_sent_half_is_not_passed_on(half: bytes) -> None:
    """A policy that was to be set came as an empty one, and nobody might do anything any more."""
    served = queue.SimpleQueue[bytes]()

    class Handler(Relay):
        def serve(self, body: bytes) -> None:
            served.put(body)
            self.answer(Answer(200, json.dumps({}).encode()))

    with running(Handler) as url:
        with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(url).port or 0)) as killed:
            killed.sendall(b"POST /v1/p:setIamPolicy HTTP/1.1\r\nHost: a\r\n" + half)
            killed.shutdown(socket.SHUT_WR)
            assert killed.recv(1) == b"", "hung up on, without an answer"
        with urllib.request.urlopen(urllib.request.Request(url, WHOLE), timeout=60) as answer:
            assert answer.status == 200
    assert served.get() == WHOLE and served.empty()
