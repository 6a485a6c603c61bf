"""The board served on loopback: fresh, only to whoever has its address, and only by that. # Z5"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from slipway.board.server import FRESH_S, BoardServer, FreshPages
from slipway.errors import ResourceError, SlipwayError


class Stack:
    """Makes pages that tell how often they were made; `broken` makes none."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.broken = False
        self.now = 0.0
        self.told: list[SlipwayError] = []
        self.pages = FreshPages(self.make, lambda: self.now, self.told.append)

    def make(self, job: str) -> str:
        if self.broken:
            raise ResourceError("no answer")
        self.made.append(job)
        return f"page {len(self.made)} of {job or 'all'}"


def test_a_page_is_read_anew_when_it_is_old() -> None:
    stack = Stack()
    assert [stack.pages.get(""), stack.pages.get("")] == ["page 1 of all"] * 2
    stack.now = FRESH_S
    assert stack.pages.get("") == "page 2 of all"


def test_each_job_has_its_own_and_not_endlessly_many_are_kept() -> None:
    stack = Stack()
    for number in range(40):
        stack.pages.get(str(number))
    assert stack.pages.get("39") == "page 40 of 39"
    assert stack.pages.get("0") == "page 41 of 0"


def test_what_can_not_be_read_anew_is_shown_as_it_was_and_said() -> None:
    stack = Stack()
    stack.pages.get("")
    stack.broken, stack.now = True, FRESH_S
    assert stack.pages.get("") == "page 1 of all"
    assert [str(one.what) for one in stack.told] == ["no answer"]
    with pytest.raises(ResourceError):
        stack.pages.get("1")


@contextmanager
def served(stack: Stack) -> Iterator[BoardServer]:
    with BoardServer(stack.pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server: BoardServer, path: str, host: str = "") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers.get("Cache-Control", "")


def test_only_the_address_that_was_told_has_the_page() -> None:
    with served(Stack()) as server:
        path = urlsplit(server.address).path
        assert server.server_address[0] == "127.0.0.1"
        assert get(server, path) == (200, "page 1 of all", "no-store")
        assert get(server, f"{path}?job=4711")[1] == "page 2 of 4711"
        assert get(server, f"{path}?job=<script>")[1] == "page 1 of all"
        for other in ("/", "/favicon.ico", path[:-2] + "x/", f"{path}../"):
            assert get(server, other)[0] == 404, other
        assert get(server, path, host="evil.example")[0] == 404
        assert get(server, path, host=f"localhost:{server.server_port}")[0] == 200


def test_a_stack_that_can_not_be_read_is_said_in_words() -> None:
    stack = Stack()
    stack.broken = True
    with served(stack) as server:
        status, text, _ = get(server, urlsplit(server.address).path)
    assert (status, text) == (503, "error: no answer\n")
