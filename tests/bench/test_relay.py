"""What stands before a cloud in the benches passes whole requests on, and no halves. # N2"""

from __future__ import annotations

import json
import queue
import socket
import urllib.parse
import urllib.request

import pytest

from bench.relay import Answer, Relay, running

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
