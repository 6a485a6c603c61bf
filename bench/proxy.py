"""A proxy that delays every answer and remembers when each request came and went: what waits for what shows itself."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.parse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


@dataclass(frozen=True)
class Exchange:
    """One request: `what` it was, when it began and ended (seconds, monotonic), and the answer's `status`."""

    what: str
    began: float
    ended: float
    status: int = 200


def in_sequence(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The longest chain of exchanges in which each began only after the one before had ended.

    Its length is the number of round trips a caller waits for; those sent side by side count once.
    """
    chain: list[Exchange] = []
    for exchange in sorted(exchanges, key=lambda each: each.ended):
        if not chain or exchange.began >= chain[-1].ended:
            chain.append(exchange)
    return chain


@dataclass
class Recorder:
    """A running proxy: its `url`, and the exchanges so far."""

    url: str
    exchanges: list[Exchange] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> list[Exchange]:
        """What was recorded since the last call."""
        with self.lock:
            taken, self.exchanges = self.exchanges, []
        return taken


@contextmanager
def recording(target: str, delay_s: float) -> Iterator[Recorder]:
    """A proxy on a free port of this machine before `target`, which adds `delay_s` to every answer."""
    host = urllib.parse.urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            began = time.monotonic()
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            behind = http.client.HTTPConnection(host)
            try:
                behind.request(self.command, self.path, body or None, headers)
                answer = behind.getresponse()
                content = answer.read()
            finally:
                behind.close()
            time.sleep(delay_s)
            # Ended before the answer leaves: the caller's next request can't be here sooner.
            exchange = Exchange(f"{self.command} {self.path}", began, time.monotonic(), answer.status)
            with recorder.lock:
                recorder.exchanges.append(exchange)
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP_BY_HOP | {"date", "server"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Silent: the benchmark says what it found."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
