"""A proxy that delays every answer and records each request's beginning and end, which show the dependencies of
calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench.relay import Relay, running


@dataclass(frozen=True)
class Exchange:
    """A request: `what` it was, when it began and ended (seconds, monotonic), and the answer's `status`."""

    what: str
    began: float
    ended: float
    status: int = 200


def in_sequence(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return the longest chain of exchanges in which each began only after the one before had ended.

    Its length is the number of round trips a caller waits for; concurrent ones count once.
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
        """Return the exchanges since the last call."""
        with self.lock:
            taken, self.exchanges = self.exchanges, []
        return taken


@contextmanager
def recording(target: str, delay_s: float) -> Iterator[Recorder]:
    """Yield a proxy on a free port of this machine before `target`, which adds `delay_s` to every answer."""
    recorder = Recorder("")

    class Handler(Relay):
        def serve(self, body: bytes) -> None:
            began = time.monotonic()
            answer = self.passed_on(target, body, by_its_name=True)
            time.sleep(delay_s)
            # Ended before the answer leaves: the caller's next request can't be here sooner.
            exchange = Exchange(f"{self.command} {self.path}", began, time.monotonic(), answer.status)
            with recorder.lock:
                recorder.exchanges.append(exchange)
            self.answer(answer)

    with running(Handler) as url:
        recorder.url = url
        yield recorder
