"""The board served on loopback: fresh, only to whoever has its address, and only by that. # Z5"""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from slipway.base.errors import ResourceError, SlipwayError
from slipway.operating.board.server import FRESH_S, BoardServer, FreshPages


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
            raise ResourceError("no answer", fix="try again")
        self.made.append(job)
        return f"page {len(self.made)} of {job or 'all'}"


def test_a_page_is_read_anew_when_it_is_old_and_not_endlessly_many_are_kept() -> None:
    stack = Stack()
    assert [stack.pages.get(""), stack.pages.get("")] == ["page 1 of all"] * 2
    stack.now = FRESH_S
    assert stack.pages.get("") == "page 2 of all"
    for number in range(40):
        stack.pages.get(str(number))
    assert stack.pages.get("39") == "page 42 of 39"
    assert stack.pages.get("0") == "page 43 of 0"


def test_what_can_not_be_read_anew_is_shown_as_it_was_and_said() -> None:
    stack = Stack()
    stack.pages.get("")
    stack.broken, stack.now = True, FRESH_S
    assert stack.pages.get("") == "page 1 of all"
    assert [str(trouble.what) for trouble in stack.told] == ["no answer"]
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
    assert (status, text) == (503, "error: no answer\n  fix: try again\n")


def raw(server: BoardServer, request: bytes, *, reads: bool) -> bytes:
    """Send bytes as they are; who does not read all of the answer hangs up when it begins."""
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(request)
        if reads:
            return connection.makefile("rb").read()
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return b""


@pytest.mark.parametrize("path", ["http://[", "\xff", "/?" + "&" * 5000])
def test_odd_addresses_are_not_found(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    with served(Stack()) as server:
        host = f"Host: 127.0.0.1:{server.server_port}"
        answer = raw(server, f"GET {path} HTTP/1.1\r\n{host}\r\n\r\n".encode("latin-1"), reads=True)
    assert b" 404 " in answer.splitlines()[0] and capfd.readouterr().err == ""


def test_whoever_goes_away_before_the_end_leaves_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    stack = Stack()
    stack.pages = FreshPages(lambda _: "page" * 10_000_000, lambda: 0.0, stack.told.append)
    with served(stack) as server:
        server.daemon_threads = False  # So that its end waits for theirs.
        address = urlsplit(server.address)
        raw(server, f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode(), reads=False)
    assert capfd.readouterr().err == ""
