"""Requests to the local cloud as its owner, by a process on the same machine."""

import contextlib
import json
import time
import urllib.error
import urllib.request
from typing import Any

from .cloud_file import Record


class CloudError(Exception):
    """The local cloud can't be started, reached or stopped; the text says what, why and what to do."""


def call(record: Record, method: str, path: str, body: Any = None) -> Any:
    """Send a request to the cloud as its owner and return its answer. Raises CloudError."""
    request = urllib.request.Request(
        record.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {record.tokens['owner']}"},
    )
    try:
        with _opener().open(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise CloudError(_refused(error.read(), f"{method} {path}")) from error
    except (OSError, ValueError) as error:
        raise CloudError(f"error: {method} {record.url}{path} failed\nwhy: {error}\nfix: see cloud.log") from error


def _refused(body: bytes, what: str) -> str:
    """Return the cloud's reason against a request."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = body.decode(errors="replace")
    return f"error: {message}\nwhy: the local cloud refused {what}\nfix: see the README of vertex-local"


def answers(record: Record, seconds: float) -> bool:
    """Return whether the record's own process answers within some seconds."""
    until = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError, ValueError), _opener().open(record.url + "/healthz", timeout=2) as answer:
            return bool(json.load(answer)["pid"] == record.pid)
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))
