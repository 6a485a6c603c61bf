"""Which failures prove that a request was never sent: only those that came before it. # N7"""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
import urllib3.exceptions

from slipway.google.failures import CloudError, NoAnswer, Unreachable
from slipway.model.kinds import CUSTOM_JOB
from tests.slipway.google.server import certificate, connection, starting

Cut = Callable[[socket.socket], None]


def closed(line: socket.socket) -> None:
    line.close()


def reset(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


class Proxy:
    """Takes each request wholly and then cuts the line, as `cut` does; `taken` are the requests' first lines.

    To CONNECT it answers `tunnel`, and then plays the service behind itself, over TLS. Without an answer it cuts the
    line there, and with `early` right after it.
    """

    def __init__(self, own: Path, cut: Cut, tunnel: bytes = b"200 OK", *, early: bool = False) -> None:
        self.cut, self.tunnel, self.early = cut, tunnel, early
        self.taken: list[str] = []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(own)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            try:
                self._answer(line)
            except OSError:
                line.close()

    def _answer(self, line: socket.socket) -> None:
        if self._take(line).startswith("CONNECT"):
            if self.tunnel:
                line.sendall(b"HTTP/1.1 %s\r\n\r\n" % self.tunnel)
            if not self.tunnel or self.early:
                self.cut(line)
                return
            line = self.context.wrap_socket(line, server_side=True)
            self._take(line)
        # Not TLS's own farewell: what is cut just ends.
        self.cut(socket.socket(fileno=line.detach()))

    def _take(self, line: socket.socket) -> str:
        head, body, length = b"", b"", 0
        while b"\r\n\r\n" not in head:
            head += line.recv(65536) or self._gone()
        head, _, body = head.partition(b"\r\n\r\n")
        for field in head.split(b"\r\n"):
            if field.lower().startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        while len(body) < length:
            body += line.recv(65536) or self._gone()
        self.taken.append(head.split(b"\r\n")[0].decode())
        return self.taken[-1]

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # Wakes who waits for the next one.
        self.listener.close()

    def _gone(self) -> bytes:
        raise ConnectionError("nobody is there any more")


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    yield from starting(partial(Proxy, certificate(tmp_path)))


def submitted(url: str, proxy: str, folder: Path) -> CloudError:
    """The error of a submission to `url`, with which nothing but a proxy can be reached."""
    environ = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "REQUESTS_CA_BUNDLE": str(folder / "server.pem")}
    with pytest.raises(CloudError) as error:
        connection(url, environ).vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    return error.value


@pytest.mark.parametrize("cut", [closed, reset])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_answer_that_a_proxy_loses_leaves_open_whether_the_request_was_carried_out(
    proxy: Callable[..., Proxy], tmp_path: Path, scheme: str, cut: Cut
) -> None:  # N7
    between = proxy(cut)
    error = submitted(f"{scheme}://127.0.0.1:9/", between.url, tmp_path)
    assert isinstance(error, NoAnswer) and not error.not_accepted and not error.worth_again
    assert len([line for line in between.taken if line.startswith("POST")]) == 1


@pytest.mark.parametrize(
    ("tunnel", "early", "cut"),
    [
        pytest.param(b"", False, closed, id="closed"),
        pytest.param(b"", False, reset, id="reset"),
        pytest.param(b"200 OK", True, closed, id="closed in TLS"),
        pytest.param(b"200 OK", True, reset, id="reset in TLS"),
        pytest.param(b"403 Forbidden", True, closed, id="refused"),
    ],
)
def test_without_a_tunnel_nothing_was_sent(
    proxy: Callable[..., Proxy], tmp_path: Path, tunnel: bytes, early: bool, cut: Cut
) -> None:  # N7
    between = proxy(cut, tunnel, early=early)
    error = submitted("https://127.0.0.1:9/", between.url, tmp_path)
    assert isinstance(error, Unreachable) and error.not_accepted and error.worth_again
    assert [line.rpartition(" ")[0] for line in between.taken] == ["CONNECT 127.0.0.1:9"]
    assert ("403 forbidden" in error.why) == (tunnel == b"403 Forbidden")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there_has_sent_nothing(tmp_path: Path, scheme: str) -> None:  # N7
    certificate(tmp_path)
    error = submitted(f"{scheme}://127.0.0.1:9/", "http://127.0.0.1:9", tmp_path)
    assert isinstance(error, Unreachable) and error.not_accepted and "(connection refused)" in error.why


def test_an_earlier_failure_says_nothing_of_this_request(proxy: Callable[..., Proxy], tmp_path: Path) -> None:  # N7
    """What is being handled while something else is sent is the context of whatever fails then."""
    between = proxy(closed)
    try:
        raise urllib3.exceptions.LocationValueError("an earlier one")
    except urllib3.exceptions.LocationValueError:
        error = submitted("http://127.0.0.1:9/", between.url, tmp_path)
    assert isinstance(error, NoAnswer)


def test_what_was_sent_once_may_be_done_though_nothing_answers_any_more(proxy: Callable[..., Proxy]) -> None:  # N7
    """A deletion is sent again; `up` says that nothing was changed only where that is certain."""

    def gone(line: socket.socket) -> None:
        between.listener.shutdown(socket.SHUT_RDWR)
        line.close()

    between = proxy(gone)
    vertex = connection("http://127.0.0.1:9/", {"HTTP_PROXY": between.url}).vertex("p", "us-central1")
    with pytest.raises(NoAnswer) as error:
        vertex.delete_persistent_resource("projects/p/locations/us-central1/persistentResources/cpu")
    assert not error.value.not_accepted and isinstance(error.value.__cause__, Unreachable)
    assert len(between.taken) == 1
