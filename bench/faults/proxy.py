"""A proxy before the local cloud that remembers each call and, at one of them, lets the world stop."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

from bench.faults.points import Point, signature

Action = Literal["pass", "cut", "lose", "hold", "429", "503", "token"]
_OWN_HEADERS = {"connection", "keep-alive", "transfer-encoding", "content-length"}
# Slipway's own calls give up after a minute; whoever has more patience finds the connection closed.
_HELD_S = 75.0
_REFUSALS = {
    "429": (429, "RESOURCE_EXHAUSTED", "Quota exceeded for requests per minute."),
    "503": (503, "UNAVAILABLE", "The service is currently unavailable."),
    "token": (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
}


@dataclass(frozen=True)
class Strike:
    """What happens at a point; `at_once` is what is done to processes or to the cloud when its call comes."""

    point: Point
    at_once: Callable[[], None] = lambda: None


@dataclass
class Proxy:
    """A running proxy: its `url`, the calls since the last `begin`, and whether the strike has come."""

    url: str
    calls: list[str] = field(default_factory=list)
    struck: bool = False
    _strike: Strike | None = None
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, strike: Strike | None = None) -> None:
        """Forget what came, and let this happen when its call comes; None lets every call through."""
        with self._lock:
            self.calls, self._seen = [], Counter()
            self.struck, self._strike = False, strike

    def action(self, call: str) -> Action:
        """What is done with a call that comes now. Strikes when it is the one."""
        with self._lock:
            self.calls.append(call)
            self._seen[call] += 1
            strike = self._strike
            if strike is None:
                return "pass"
            point = strike.point
            here = not self.struck and call == point.call and self._seen[call] == point.nth
            self.struck = self.struck or here
            if not self.struck:
                return "pass"
        if here:
            strike.at_once()
        return _action(point.fault, here, call == point.call)


def _action(fault: str, here: bool, same: bool) -> Action:
    match fault:
        case "before":
            return "cut"
        case "lost":
            return "lose" if here else "cut"
        case "cut":
            return "cut" if here else "pass"
        case "timeout":
            return "hold" if here else "pass"
        case "429" | "503":
            return fault if same else "pass"
        case "token":
            return "token"
    return "pass"


@contextmanager
def standing_before(target: Callable[[], str]) -> Iterator[Proxy]:
    """A proxy on a free port of this machine; `target` tells where the cloud is now, as `http://HOST:PORT`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            body = self._body()
            action = proxy.action(signature(self.command, self.path))
            if action == "cut":
                self._hang_up()
            elif action == "hold":
                self._hold()
            elif action in _REFUSALS:
                code, status, message = _REFUSALS[action]
                said = {"error": {"code": code, "status": status, "message": message}}
                self._answer(code, [("Content-Type", "application/json")], json.dumps(said).encode())
            else:
                self._pass_on(body, answered=action == "pass")

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

        def _pass_on(self, body: bytes, answered: bool) -> None:
            # The name by which it was called stays, so that links in the answer lead back here.
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN_HEADERS}
            behind = http.client.HTTPConnection(urllib.parse.urlsplit(target()).netloc, timeout=120)
            try:
                sent = body if body or self.command not in ("GET", "HEAD", "DELETE") else None
                behind.request(self.command, self.path, sent, headers)
                answer = behind.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException):
                self._hang_up()
                return
            finally:
                behind.close()
            if answered:
                kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN_HEADERS]
                self._answer(answer.status, kept, content, answer.headers.get("Content-Length"))
            else:
                self._hang_up()

        def _answer(self, code: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None) -> None:
            with suppress(OSError):
                self.send_response_only(code)
                for name, value in headers:
                    self.send_header(name, value)
                told = length if self.command == "HEAD" and length else str(len(content))
                if code not in (204, 304):
                    self.send_header("Content-Length", told)
                self.end_headers()
                self.wfile.write(content)

        def _hang_up(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        def _hold(self) -> None:
            # Readable means that the caller has hung up: it sends nothing more before an answer.
            select.select([self.connection], [], [], _HELD_S)
            self._hang_up()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, format: str, *args: object) -> None:
            """Silent: the bench says what it found."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            """Callers that are killed end in the middle of a request; nobody needs to read of it."""

    server = Server(("127.0.0.1", 0), Handler)
    proxy = Proxy(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
