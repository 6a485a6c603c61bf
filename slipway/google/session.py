"""An authorised REST session: timeouts, careful retries, and answers turned into typed errors."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from traceback import walk_tb
from typing import Any

import urllib3.exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection

from slipway.base.formatting import size, span
from slipway.google.answers import Json, garbled, http_date, json_object, page, read_answer
from slipway.google.failures import Call, CloudError, NoAnswer, Unauthenticated, Unreachable, failure
from slipway.google.reasons import reason_of
from slipway.google.transport import STEP, EndlessAnswer, InvalidHeader, Response, Transport

Params = Mapping[str, str | int]

_MOST_PAGES = 10_000
_RETRIED = frozenset({429, 500, 502, 503, 504})
_NO_REQUEST = (urllib3.exceptions.LocationValueError, InvalidHeader)
"""The errors of a request that can't be sent at all."""
_CONNECTS = frozenset({HTTPConnection.connect.__code__, HTTPSConnection.connect.__code__})
"""The code that makes a connection, with its TLS and a proxy's tunnel: no request is sent before it has returned."""


_LONG_WAIT_S = 2.0


@dataclass(frozen=True)
class HttpPolicy:
    """The limits of a call. Times are seconds."""

    connect: float = 10.0
    #: For each part of an answer.
    read: float = 60.0
    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 20.0
    #: After this time no further request is sent: no page, and no retry.
    whole: float = 600.0
    #: After these bytes of a list no further page is asked for.
    most: int = 1_000_000_000
    #: Is told the seconds of each long wait for a service that is busy.
    told: Callable[[float], None] | None = None


class Session:
    """A sender of the typed clients' requests. May be shared by threads.

    `sleep`, `clock` (seconds) and `chance` (0 ≤ x < 1, for jitter) are the only sources of time and randomness.
    """

    def __init__(
        self,
        http: Transport,
        policy: HttpPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = http
        self._policy = policy or HttpPolicy()
        self._sleep = sleep
        self._chance = chance
        self._clock = clock
        self._date, self._dated_at = "", 0.0

    def with_policy(self, policy: HttpPolicy) -> Session:
        return Session(self._http, policy, self._sleep, self._chance, self._clock)

    @property
    def time(self) -> datetime | None:
        """The time of the last answer, by the service's own clock; None where none told it."""
        return http_date(self._date)

    def _note_time(self, date: str) -> None:
        if date:
            self._date, self._dated_at = date, self._clock()

    @property
    def time_now(self) -> datetime | None:
        """Return the present time by the service's clock, as its last answer had it; None where none told it."""
        then = self.time
        return then + timedelta(seconds=self._clock() - self._dated_at) if then else None

    def widen(self, threads: int) -> None:
        self._http.widen(threads)

    def get(self, url: str, call: Call, params: Params | None = None) -> Json:
        """GET a JSON object, with retries while the service is busy."""
        return json_object(self._send("GET", url, call, params=params, again=True), call)

    def download(self, url: str, call: Call, params: Params | None = None) -> Response:
        return self._send("GET", url, call, params=params, again=True)

    def stream(self, url: str, call: Call, params: Params, headers: Mapping[str, str]) -> Generator[bytes, None, None]:
        """GET bytes as they are stored, a part at a time, with retries until the first comes.

        Raises NoAnswer when they break off, Garbled for a whole answer to a request for a range.
        """
        response = self._send("GET", url, call, params=params, headers=headers, again=True, stream=True)
        with response:
            if "Range" in headers and response.status != 206:
                raise garbled(call, "a part was asked for, and the whole was given")
            try:
                yield from response.stream(STEP, decode_content=False)
            except (OSError, urllib3.exceptions.HTTPError) as problem:
                raise _no_answer(call, url, problem) from problem

    def post(
        self,
        url: str,
        call: Call,
        body: Json | bytes,
        params: Params | None = None,
        *,
        media: str = "application/json",
        idempotent: bool = False,
    ) -> Json:
        """POST JSON, or bytes of another `media` type. Sent exactly once unless `idempotent`."""
        sent = self._send("POST", url, call, params=params, body=body, media=media, again=idempotent)
        return json_object(sent, call)

    def write(self, method: str, url: str, call: Call, body: Json, params: Params | None = None) -> Json:
        """Send JSON by this method, once."""
        return json_object(self._send(method, url, call, params=params, body=body, again=False), call)

    def delete(self, url: str, call: Call, params: Params | None = None) -> None:
        """DELETE, with retries while the service is busy. Raises NotFound for a resource that is gone already."""
        self._send("DELETE", url, call, params=params, again=True)

    def pages(
        self, url: str, call: Call, key: str, params: Params | None = None, *, body: Json | None = None
    ) -> Iterator[Json]:
        """Yield the items under `key` of every page, read on demand. With a `body` they are asked for by POST. Raises
        Garbled for a list without an end."""
        token, seen = "", {""}
        spent, length = 0.0, 0
        while True:
            began = self._clock()
            page_token = {"pageToken": token} if token else {}
            if body is None:
                answer = self._send("GET", url, call, params={**(params or {}), **page_token}, again=True)
            else:
                answer = self._send("POST", url, call, params=params, body={**body, **page_token}, again=True)
            spent += self._clock() - began
            length += len(answer.data)
            items, token = page(json_object(answer, call), key, call)
            yield from items
            if not token:
                return
            if token in seen:
                raise garbled(call, "its pages go in a circle")
            seen.add(token)
            if spent > self._policy.whole or len(seen) > _MOST_PAGES or length > self._policy.most:
                extent = f"{len(seen) - 1:,} pages, {size(length)}, {span(spent)}"
                raise garbled(call, f"its list has no end: there is another page after {extent}")

    def _send(
        self,
        method: str,
        url: str,
        call: Call,
        *,
        params: Params | None = None,
        body: Json | bytes | None = None,
        media: str = "application/json",
        headers: Mapping[str, str] | None = None,
        again: bool,
        stream: bool = False,
    ) -> Response:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {**(headers or {}), **({} if body is None else {"Content-Type": media})}
        attempts = self._policy.attempts if again else 1
        end = self._clock() + self._policy.whole
        lost: NoAnswer | None = None
        for attempt in range(1, attempts + 1):
            try:
                response = self._once(
                    method, url, call, params=dict(params or {}), data=data, headers=headers, stream=stream
                )
            except NoAnswer as problem:
                if attempt == attempts or self._clock() >= end:
                    raise
                lost = problem
                self._sleep(self._wait(attempt, None))
                continue
            except Unreachable as problem:
                if lost and method != "GET":  # The one request that was sent may have done it.
                    raise lost from problem
                raise
            self._note_time(response.headers.get("Date", ""))
            if response.status < 400:
                return response
            answer = read_answer(response)
            # GitHub says 403 to a caller that asks too often, and when to come back.
            passes = answer.status in _RETRIED or (answer.status == 403 and answer.retry_after is not None)
            if not passes or attempt == attempts or self._clock() >= end:
                raise failure(call, answer)
            wait = self._wait(attempt, answer.retry_after)
            if self._policy.told and wait > _LONG_WAIT_S:
                self._policy.told(wait)
            self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _wait(self, attempt: int, asked: float | None) -> float:
        backoff = self._policy.first_wait * 2.0 ** (attempt - 1) * (0.5 + self._chance())
        return min(self._policy.longest_wait, backoff if asked is None else max(asked, backoff))

    def _once(self, method: str, url: str, call: Call, **sent: Any) -> Response:
        timeout = (self._policy.connect, self._policy.read)
        try:
            return self._http.request(method, url, timeout=timeout, **sent)
        except urllib3.exceptions.HTTPError as problem:
            raise _no_answer(call, url, problem) from problem
        except Exception as problem:
            # google-auth's own errors; imported only on use, because a plain token works without the library.
            from google.auth.exceptions import GoogleAuthError, TransportError

            if isinstance(problem, TransportError):
                raise _no_answer(call, url, problem, never_sent=True) from problem
            if isinstance(problem, GoogleAuthError):
                why = f"the credentials give no access token: {str(problem) or type(problem).__name__}"
                if reason := reason_of(why):
                    raise Unauthenticated(call, f"{reason.what}: {why}", reason.way_out(), reason=reason) from problem
                raise Unauthenticated(call, why) from problem
            raise


def _no_answer(call: Call, url: str, problem: Exception, *, never_sent: bool = False) -> CloudError:
    host = "/".join(url.split("/")[:3])
    causes = list(_causes(problem))
    if endless := next((cause for cause in causes if isinstance(cause, EndlessAnswer)), None):
        return garbled(call, f"{host}: {endless}")
    if never_sent or any(isinstance(cause, _NO_REQUEST) or _while_connecting(cause) for cause in causes):
        return Unreachable(call, f"nothing answers at {host} ({_brief(causes)})")
    return NoAnswer(call, f"{host} took the request and gave no answer ({_brief(causes)})")


def _while_connecting(problem: BaseException) -> bool:
    """Tell whether the error rose before anything could be sent."""
    # Only the traceback proves that: urllib3 uses ProxyError for an answer lost behind a proxy as well as for a missing
    # proxy.
    return any(frame.f_code in _CONNECTS for frame, _ in walk_tb(problem.__traceback__))


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield the exception and all it wraps, outermost first.

    An exception's context is left out: it may be an earlier request's failure, which is being handled while this one is
    sent.
    """
    seen: set[int] = set()
    waiting = [problem]
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        # urllib3 hides causes in `reason` and in its arguments.
        wrapped = [getattr(cause, "reason", None), cause.__cause__, *cause.args]
        waiting.extend(inner for inner in wrapped if isinstance(inner, BaseException))


def _brief(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, OSError) and (reason := cause.strerror or str(cause)):
            return reason.lower()
    if any(isinstance(cause, urllib3.exceptions.TimeoutError) for cause in causes):
        return "timed out"
    if any(isinstance(cause, http.client.IncompleteRead) for cause in causes):
        return "its answer broke off"
    return type(causes[0]).__name__
