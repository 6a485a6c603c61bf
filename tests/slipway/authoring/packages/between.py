"""Servers between a replica and the local cloud: its metadata server, and a storage that may fail first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

from tests import loopback


class Handler(loopback.Handler):
    """A handler that serves a replica's token and hands everything else on to the cloud, unless it is told to fail
    first."""

    token: str
    cloud: str
    faults: list[
        int | str
    ]  # an HTTP status to answer, "lost" (done, not answered), "half" (of an answer) or "silent" (not done)

    def do_GET(self) -> None:
        if self.path.startswith("/computeMetadata/"):
            assert self.headers["Metadata-Flavor"] == "Google"
            self.answer(200, json.dumps({"access_token": self.token, "expires_in": 3600}).encode())
        else:
            self.hand_on()

    def hand_on(self) -> None:
        body = self.body()
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            self.answer(fault, b'{"error": {"message": "made up"}}')
        if fault == "silent":
            self.connection.close()
        if isinstance(fault, int) or fault == "silent":
            return
        headers = {"Authorization": self.headers["Authorization"]}
        headers["Content-Type"] = self.headers.get("Content-Type", "text/plain")
        data = body if self.command == "POST" else None
        try:
            with urlopen(Request(self.cloud + self.path, data=data, headers=headers, method=self.command)) as done:
                status, content = done.status, done.read()
        except OSError as error:
            status, content = error.code, error.read()  # type: ignore[attr-defined]
        if fault == "lost":
            self.connection.close()
        else:
            self.answer(status, content, {"Content-Length": str(len(content) + 1)} if fault == "half" else None)

    do_POST = do_DELETE = hand_on


@dataclass(frozen=True)
class Between:
    """A server at `host`; `handler` has its token and faults, which tests set."""

    host: str
    handler: Any

    @property
    def environ(self) -> dict[str, str]:
        """The variables that lead a replica to it."""
        return {"GCE_METADATA_HOST": self.host, "STORAGE_EMULATOR_HOST": f"http://{self.host}"}


@contextmanager
def between(cloud: str, token: str) -> Iterator[Between]:
    handler = type("OfOneTest", (Handler,), {"token": token, "cloud": cloud, "faults": []})
    with loopback.served(handler) as url:
        yield Between(url.removeprefix("http://"), handler)
