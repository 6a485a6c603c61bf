"""A server that records its requests and gives the test's answers, and a provider that talks to it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pulumi  # noqa: F401 - whole, before the plugin puts its own beginning of it in place
import pytest

from local.plugin.pace import Pace
from local.plugin.provider import Provider
from local.plugin.settings import ENDPOINT_VARIABLES, TOKEN_VARIABLE, load
from tests.loopback import Handler, served

BASES = {
    "vertexAi": "/v1beta1/",
    "cloudQuotas": "/v1beta/",
    "storage": "/storage/v1/",
    "iamBeta": "/v1/",
    "resourceManager": "/v1/",
}


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Recorder:
    url: str
    asked: list[Asked] = field(default_factory=list)
    replies: dict[str, list[tuple[int, Any, dict[str, str]]]] = field(default_factory=dict)

    def answer(self, line: str, body: Any = None, status: int = 200, **headers: str) -> None:
        """Set the answer to the next `METHOD /path`; the last answer of a line is used again and again."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies.setdefault(line, []).append((status, {} if body is None else body, named))

    def refuse(self, line: str, code: int, message: str, status: str = "", **headers: str) -> None:
        self.answer(line, {"error": {"code": code, "message": message, "status": status}}, code, **headers)

    def take(self, line: str) -> tuple[int, Any, dict[str, str]]:
        waiting = self.replies.get(line)
        if not waiting:
            return 500, {"error": {"code": 500, "message": f"the test expects no {line}"}}, {}
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    @property
    def lines(self) -> list[str]:
        return [request.line for request in self.asked]

    def only(self, line: str) -> Asked:
        matching = [request for request in self.asked if request.line == line]
        assert len(matching) == 1, f"{line} was asked {len(matching)} times; asked: {self.lines}"
        return matching[0]

    def environment(self) -> dict[str, str]:
        endpoints = {variable: self.url + BASES[service] for service, variable in ENDPOINT_VARIABLES.items()}
        return endpoints | {TOKEN_VARIABLE: "the-token", "GOOGLE_CLOUD_PROJECT": "p1"}


LOST = 0
"""The status of an answer that never comes: the connection is closed."""


class Waits:
    """A clock that stands still but for the waits, which it records and does not spend."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def now(self) -> float:
        return sum(self.waited)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    class Records(Handler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write an answer: several small ones wait for each other's acknowledgement

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            made.asked.append(Asked(self.command, parts.path, dict(parse_qsl(parts.query)), headers, self.body()))
            status, body, named = made.take(f"{self.command} {parts.path}")
            if status == LOST:
                self.close_connection = True
                return
            data = body if isinstance(body, bytes) else b"" if status == 204 else json.dumps(body).encode()
            self.answer(status, data, named)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    with served(Records) as url:
        made = Recorder(url)
        yield made


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def pace(waits: Waits) -> Pace:
    return Pace(now=waits.now, wait=waits.wait)


@pytest.fixture
def provider(recorder: Recorder, pace: Pace) -> Provider:
    """Return a provider without the attribution label, as all stacks of Slipway have it."""
    return Provider(load({"addPulumiAttributionLabel": "false"}, recorder.environment()), pace)
