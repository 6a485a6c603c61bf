"""The board on this machine's loopback: a page that is read anew when somebody looks and it is old.

The address has an unguessable word, as others may be on the machine; a request for another host name is refused, so
that no site reaches it through a name of its own.
"""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from slipway.base.errors import SlipwayError

FRESH_S = 60.0
_KEPT = 8
"""The number of pages kept: one for each job that was opened."""


@dataclass
class FreshPages:
    """Pages by the job that each has in full, empty for none. Only one is made at a time, so that a second caller gets
    the first one's page."""

    #: Reads the stack, and returns the page of a job.
    make: Callable[[str], str]
    #: A clock in seconds.
    now: Callable[[], float]
    #: Is told of an error where the page before is shown in its place.
    tell: Callable[[SlipwayError], None]
    _kept: dict[str, tuple[float, str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(self, job: str) -> str:
        """Return the page; the one before, where a new one can't be had. Raises SlipwayError where there is none."""
        with self._lock:
            at, page = self._kept.get(job, (float("-inf"), ""))
            if page and self.now() - at < FRESH_S:
                return page
            try:
                page = self.make(job)
            except SlipwayError as problem:
                if not page:
                    raise
                self.tell(problem)
            self._kept.pop(job, None)
            self._kept[job] = (self.now(), page)
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
            return page


class BoardServer(ThreadingHTTPServer):
    """A server of pages until its shutdown. `address` is the URL to open."""

    daemon_threads = True

    def __init__(self, pages: FreshPages, port: int = 0) -> None:
        self._word = secrets.token_urlsafe(16)
        super().__init__(("127.0.0.1", port), partial(_Handler, pages, self._word))
        self.address = f"http://127.0.0.1:{self.server_port}/{self._word}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the error of a browser that closed its connection early."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer

    def __init__(self, pages: FreshPages, word: str, *connection: object) -> None:
        self._pages, self._word = pages, word
        super().__init__(*connection)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        port = self.server.server_port
        ours = self.headers.get("Host", "") in (f"127.0.0.1:{port}", f"localhost:{port}")
        if not ours or not secrets.compare_digest(path.encode(), f"/{self._word}/".encode()):
            self._answer(HTTPStatus.NOT_FOUND, "there is nothing here\n", "text/plain")
            return
        job = parse_qs(query).get("job", [""])[0]
        try:
            self._answer(HTTPStatus.OK, self._pages.get(job if job.isdecimal() else ""), "text/html")
        except SlipwayError as problem:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, f"{problem.render()}\n", "text/plain")

    def log_message(self, format: str, *arguments: object) -> None:
        """Write no log: the address is in each request's line."""

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)
