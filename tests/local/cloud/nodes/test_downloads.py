"""A replica reads its package while the local cloud is killed and started again. # N2"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from local.cloud.nodes import downloads
from local.cloud.nodes.spec import ReplicaSpec, UnreadyError


class Spec:
    """As much of a replica's specification as a download needs."""

    class identity:  # noqa: N801 - a field of the specification
        token, email = "t", "a@b"

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"


class Storage(BaseHTTPRequestHandler):
    """Has every object but those called missing. The first that is called cut ends before its end."""

    cut_before = False

    def do_GET(self) -> None:
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        cut, Storage.cut_before = "cut" in self.path and not Storage.cut_before, True
        self.wfile.write(b"con" if cut else b"content")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def storage() -> Iterator[int]:
    """The port of one that runs."""
    Storage.cut_before = False
    with HTTPServer(("127.0.0.1", 0), Storage) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield server.server_port
        server.shutdown()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_it_is_asked_for_again_until_somebody_answers(tmp_path: Path) -> None:
    """A job failed, which nobody sends again, when the cloud was down for the seconds of its start."""
    port, servers, slept = free_port(), list[HTTPServer](), list[float]()
    spec: Any = Spec(port)

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            servers.append(HTTPServer(("127.0.0.1", port), Storage))
            threading.Thread(target=servers[0].serve_forever, args=(0.01,)).start()

    try:
        got = downloads.download(spec, "gs://b/p.tar.gz", tmp_path / "d", lambda _: None, sleep)
        assert got.read_bytes() == b"content"
        assert len(slept) == 3
        with pytest.raises(UnreadyError, match="can't be read by a@b: HTTP 404"):
            downloads.download(spec, "gs://b/missing", tmp_path / "d", lambda _: None, sleep)
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def test_it_is_given_up_where_nobody_ever_answers(tmp_path: Path) -> None:
    slept: list[float] = []
    with socket.socket() as held, pytest.raises(UnreadyError, match="gs://b/p can't be read: "):
        held.bind(("127.0.0.1", 0))  # and nobody listens
        spec = cast(ReplicaSpec, Spec(held.getsockname()[1]))
        downloads.download(spec, "gs://b/p", tmp_path / "d", lambda _: None, slept.append)
    assert sum(slept) == 300


def test_one_that_is_cut_off_is_asked_for_again_and_never_used(storage: int, tmp_path: Path) -> None:
    """What a killed cloud had sent of a package used to count as all of it."""
    slept: list[float] = []
    spec: Any = Spec(storage)
    got = downloads.download(spec, "gs://b/cut", tmp_path / "d", lambda _: None, slept.append)
    assert got.read_bytes() == b"content"
    assert len(slept) == 1


def test_a_disk_that_takes_nothing_is_told_at_once(storage: int, tmp_path: Path) -> None:
    (tmp_path / "d" / "p").mkdir(parents=True)  # no file can be written there
    slept: list[float] = []
    spec: Any = Spec(storage)
    with pytest.raises(UnreadyError, match=r"gs://b/p can't be read: .*Is a directory"):
        downloads.download(spec, "gs://b/p", tmp_path / "d", lambda _: None, slept.append)
    assert not slept
