"""A server that stands before another: it reads a request, may send it on, and answers. Both proxies are made of it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_OWN_HEADERS = {"connection", "keep-alive", "transfer-encoding", "content-length"}
_LONGEST_S = 120
_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True)
class Answer:
    """An answer. `length` is the size in the head of an answer to HEAD, which has no body."""

    status: int
    content: bytes
    headers: Sequence[tuple[str, str]] = _JSON
    length: str | None = None


class Relay(BaseHTTPRequestHandler):
    """A request handler; `serve` decides the fate of a request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self, body: bytes) -> None:
        raise NotImplementedError

    def _serve(self) -> None:
        self.serve(self._body())

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def passed_on(self, target: str, body: bytes, *, by_its_name: bool = False) -> Answer:
        """Return the answer of `http://HOST:PORT`. `by_its_name`: the request names that host; else this server's own,
        so that links in the answer lead back here. Raises OSError, HTTPException."""
        own = _OWN_HEADERS | ({"host"} if by_its_name else set())
        headers = {name: value for name, value in self.headers.items() if name.lower() not in own}
        behind = http.client.HTTPConnection(urllib.parse.urlsplit(target).netloc, timeout=_LONGEST_S)
        try:
            sent = body if body or self.command not in ("GET", "HEAD", "DELETE") else None
            behind.request(self.command, self.path, sent, headers)
            answer = behind.getresponse()
            content = answer.read()
        finally:
            behind.close()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN_HEADERS]
        return Answer(answer.status, content, kept, answer.headers.get("Content-Length"))

    def answer(self, answer: Answer, pause_s: float = 0.0) -> None:
        """Send an answer. `pause_s`: between one byte of the body and the next."""
        with suppress(OSError):
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            told = answer.length if self.command == "HEAD" and answer.length else str(len(answer.content))
            if answer.status not in (204, 304):
                self.send_header("Content-Length", told)
            self.end_headers()
            for part in [bytes([byte]) for byte in answer.content] if pause_s else [answer.content]:
                self.wfile.write(part)
                if pause_s:
                    time.sleep(pause_s)

    def hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _body(self) -> bytes:
        """Return the body. Raises ConnectionAbortedError, ValueError where the caller is killed as it sends: half a
        request is none."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self._read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self._read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _read(self, size: int) -> bytes:
        found = self.rfile.read(size)
        if len(found) < size:
            raise ConnectionAbortedError(f"{size} bytes of a body were announced, and {len(found)} came")
        return found

    def log_message(self, format: str, *args: object) -> None:
        """Write no log: a bench reports its own results."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the errors of killed callers, which end in the middle of a request."""


@contextmanager
def running(handler: Callable[..., Relay]) -> Iterator[str]:
    """Yield the URL of a server on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
