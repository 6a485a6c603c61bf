"""A proxy before the local cloud that records each call and, at one of them, lets the world stop."""

from __future__ import annotations

import http.client
import json
import select
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from bench.faults.points import Point, signature
from bench.relay import Answer, Relay, running

Action = Literal["pass", "cut", "lose", "hold", "429", "503", "slow", "token", "circle"]
# Slipway's own calls give up after a minute; a more patient caller finds the connection closed.
_HELD_S = 75.0
_SLOW_S = 0.5
_CIRCLE = ("circle-a", "circle-b")
_REFUSALS = {
    "429": (429, "RESOURCE_EXHAUSTED", "Quota exceeded for requests per minute."),
    "503": (503, "UNAVAILABLE", "The service is currently unavailable."),
    "token": (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
}


@dataclass(frozen=True)
class Strike:
    """The fault at a point; `at_once` is done to processes or to the cloud when its call comes."""

    point: Point
    at_once: Callable[[], None] = lambda: None


@dataclass
class Proxy:
    """A running proxy: its `url`, the calls since the last `begin`, and whether the strike came."""

    url: str
    calls: list[str] = field(default_factory=list)
    struck: bool = False
    _strike: Strike | None = None
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, strike: Strike | None = None) -> None:
        """Forget the calls, and set the next strike; None lets every call through."""
        with self._lock:
            self.calls, self._seen = [], Counter()
            self.struck, self._strike = False, strike

    def action(self, call: str) -> Action:
        """Return what to do with a call that comes now. Strikes at the chosen one."""
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
        case "slow":
            return "slow" if here else "pass"
        case "429" | "503" | "circle":
            return fault if same else "pass"
        case "token":
            return "token"
    return "pass"


def _with_next(content: bytes, token: str) -> bytes:
    """Return a page of a list that says another one follows it."""
    return json.dumps({**json.loads(content), "nextPageToken": token}).encode()


@contextmanager
def standing_before(target: Callable[[], str]) -> Iterator[Proxy]:
    """Yield a proxy on a free port of this machine; `target` tells where the cloud is now, as `http://HOST:PORT`."""
    proxy = Proxy("")

    class Handler(Relay):
        def serve(self, body: bytes) -> None:
            action = proxy.action(signature(self.command, self.path))
            if action == "cut":
                self.hang_up()
            elif action == "hold":
                # Readable means that the caller has hung up: it sends nothing more before an answer.
                select.select([self.connection], [], [], _HELD_S)
                self.hang_up()
            elif action in _REFUSALS:
                code, status, message = _REFUSALS[action]
                said = {"error": {"code": code, "status": status, "message": message}}
                self.answer(Answer(code, json.dumps(said).encode()))
            else:
                self._passed(body, action)

        def _passed(self, body: bytes, action: Action) -> None:
            path, _, query = self.path.partition("?")
            asked = parse_qsl(query, keep_blank_values=True)
            turn = int(("pageToken", _CIRCLE[0]) in asked)
            if action == "circle":
                self.path = f"{path}?{urlencode([pair for pair in asked if pair[1] not in _CIRCLE])}"
            try:
                answer = self.passed_on(target(), body)
            except (OSError, http.client.HTTPException):
                self.hang_up()
                return
            if action == "circle":
                answer = replace(answer, content=_with_next(answer.content, _CIRCLE[turn]))
            if action == "lose":
                self.hang_up()
            else:
                self.answer(answer, pause_s=_SLOW_S if action == "slow" else 0.0)

    with running(Handler) as url:
        proxy.url = url
        yield proxy
