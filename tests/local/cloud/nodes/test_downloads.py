"""A replica reads its package while the local cloud is killed and started again. # N2"""

from __future__ import annotations

import socket
import threading
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
    def do_GET(self) -> None:
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"content")

    def log_message(self, format: str, *args: object) -> None: ...


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
