"""HTTP to the local cloud: the token, bounded retries, and errors with Google's own text."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any
from urllib.parse import urlencode, urlsplit

from .pace import Pace
from .settings import ENDPOINT_VARIABLES, Settings

_AGAIN = frozenset({429, 502, 503})
# Errors after which the official provider silently tries again until a change's time-out.
_AGAIN_UNTIL = _AGAIN | {500}
_READ_ONLY = frozenset({"GET", "HEAD"})
_ATTEMPTS = 6
_ATTEMPTS_UNANSWERED = 3
_LONGEST_PAUSE = 8.0
_PART = 1 << 16
_LONGEST = 2000
_DEADLINE = "context deadline exceeded (Client.Timeout {})"
_USER_AGENT = "slipway-local-gcp-plugin"


class CloudError(Exception):
    """A request that failed or took too long; the text is for the person, a page at most."""

    def __init__(self, what: str) -> None:
        super().__init__(what if len(what) <= _LONGEST else f"{what[:_LONGEST]}…")


class GoogleError(CloudError):
    """An error answer. `code` is the HTTP status, `status` Google's name for it (`NOT_FOUND`)."""

    def __init__(self, code: int, message: str, status: str = "") -> None:
        super().__init__(f"googleapi: Error {code}: {message}")
        self.code = code
        self.status = status


class NoAnswerError(CloudError):
    """A request that nobody answered."""


@dataclass(frozen=True)
class Body:
    """A request body that is not JSON."""

    data: bytes
    media: str


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    data: bytes


class Transport:
    """Sends requests to the configured endpoints. Safe to use from several threads."""

    def __init__(self, settings: Settings, pace: Pace) -> None:
        self._settings = settings
        self._pace = pace
        self._pool: Any = None
        self._lock = Lock()

    def send(
        self,
        service: str,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        until: float | None = None,
    ) -> Any:
        """Send one request and return the JSON of its answer ({} when there is none).

        `path` is relative to the service's endpoint; one that begins with a slash is relative to its host. A refusal
        that may pass is tried again a few times, or `until` a moment of the pace's clock.
        Raises GoogleError for an error answer, NoAnswerError when nothing answers.
        """
        url = self._url(service, path, params or {})
        data, sent = self._encoded(body)
        sent |= {"Authorization": f"Bearer {self._settings.token}", "User-Agent": _USER_AGENT, **(headers or {})}
        for attempt in count(1):
            answer, failure, unsent = self._try(method, url, data, sent)
            if answer is not None and answer.status not in (_AGAIN if until is None else _AGAIN_UNTIL):
                return _parsed(answer)
            pause = _pause(answer, attempt)
            if answer is None:
                last = attempt == _ATTEMPTS_UNANSWERED or (not unsent and method not in _READ_ONLY)
            else:
                last = attempt == _ATTEMPTS if until is None else self._pace.now() + pause > until
            if last:
                break
            self._pace.pause(pause)
        if answer is not None:
            return _parsed(answer)
        # These are the words of Go's client, without advice: that is for others to give.
        raise NoAnswerError(f'{method.capitalize()} "{url}": {failure}')

    def _try(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[_Answer | None, str, bool]:
        import urllib3

        with self._lock:
            if self._pool is None:
                timeout = urllib3.Timeout(connect=10.0, read=self._pace.silence)
                self._pool = urllib3.PoolManager(maxsize=64, retries=False, timeout=timeout)
        try:
            # A redirect is an answer like any other: following it could lead away from this machine.
            answer = self._pool.request(
                method, url, body=data, headers=dict(headers), redirect=False, preload_content=False
            )
            body, until = bytearray(), time.monotonic() + self._pace.silence
            # The official provider's limit is for the whole answer too; urllib3's is for each byte of it.
            while part := answer.read1(_PART):
                body += part
                if time.monotonic() > until:
                    answer.close()
                    return None, _DEADLINE.format("or context cancellation while reading body"), False
            return _Answer(answer.status, answer.headers, bytes(body)), "", False
        except urllib3.exceptions.NewConnectionError:
            return None, f"dial tcp {urlsplit(url).netloc}: connect: connection refused", True
        except urllib3.exceptions.TimeoutError:
            return None, _DEADLINE.format("exceeded while awaiting headers"), False
        except urllib3.exceptions.HTTPError:
            return None, "EOF", False

    def _url(self, service: str, path: str, params: Mapping[str, str]) -> str:
        base = self._settings.endpoints.get(service)
        if base is None:
            raise CloudError(
                f"no endpoint for this service: set {ENDPOINT_VARIABLES[service]} (`make shell` prints it); "
                "the local gcp plugin never asks Google Cloud itself"
            )
        if path.startswith("/"):
            scheme, rest = base.split("://", 1)
            base, path = f"{scheme}://{rest.split('/', 1)[0]}", path
        query = urlencode({"alt": "json", **params})
        return f"{base}{path}?{query}"

    @staticmethod
    def _encoded(body: Any) -> tuple[bytes | None, dict[str, str]]:
        if body is None:
            return None, {}
        if isinstance(body, Body):
            return body.data, {"Content-Type": body.media}
        return json.dumps(body).encode(), {"Content-Type": "application/json"}


def _pause(answer: _Answer | None, attempt: int) -> float:
    asked = answer.headers.get("Retry-After", "") if answer is not None else ""
    return min(float(asked) if asked.isdecimal() else 0.5 * 2.0 ** min(attempt - 1, 10), _LONGEST_PAUSE)


def _parsed(answer: _Answer) -> Any:
    try:
        body = json.loads(answer.data) if answer.data.strip() else {}
    except ValueError:
        body = None
    if answer.status < 300:
        if not isinstance(body, dict):
            raise CloudError(f"an answer that is not a JSON object: {answer.data[:200]!r}")
        return body
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not error.get("message"):
        raise GoogleError(answer.status, f"got HTTP response code {answer.status} with body: {answer.data[:500]!r}")
    raise GoogleError(int(error.get("code") or answer.status), _told(error), str(error.get("status") or ""))


def _told(error: Mapping[str, Any]) -> str:
    """Return an error as Go's client writes it: the message, the details, and the older APIs' word for the reason."""
    text = str(error["message"])
    if error.get("details"):
        text += "\nDetails:\n" + json.dumps(error["details"], indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    reasons = [str(item.get("reason")) for item in error.get("errors", ()) if item.get("message") == error["message"]]
    return f"{text}, {reasons[0]}" if len(reasons) == 1 else text.rstrip()
