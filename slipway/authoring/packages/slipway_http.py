"""Requests of a replica of a job, with its own identity, tried again while the trouble may pass."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import random
import urllib.error
import urllib.request
from typing import IO, Any, Callable, Mapping  # noqa: UP035 (Python 3.8)

METADATA = "/computeMetadata/v1/instance/service-accounts/default/"
TRIES = 8
TIMEOUT_S = 20
PASSING = {408, 429, 500, 502, 503, 504}
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class StorageError(Exception):
    """Something could be neither fetched nor kept. `code` is the answer's, 0 where there was none."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


def account(item: str, environ: Mapping[str, str]) -> str:
    """An item of the replica's service account, as its `email`, from the metadata server."""
    host = environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    request = urllib.request.Request("http://" + host + METADATA + item, headers={"Metadata-Flavor": "Google"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=TIMEOUT_S) as answer:
        return str(answer.read().decode())


def token(environ: Mapping[str, str]) -> str:
    """The access token of the replica's service account."""
    return str(json.loads(account("token", environ))["access_token"])


def storage_base(environ: Mapping[str, str]) -> str:
    """The base URL of Cloud Storage, without a slash at its end."""
    host = environ.get("STORAGE_EMULATOR_HOST", "https://storage.googleapis.com").rstrip("/")
    return host if "://" in host else "http://" + host


def call(
    method: str,
    url: str,
    bearer: str,
    take: Callable[[Any], Any],
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT_S,
    send: Callable[..., Any] = urllib.request.urlopen,
) -> Any:
    """Return the outcome of `take` on the answer to one request. Raises OSError for trouble that may pass,
    StorageError for a refusal."""
    identity = {"Authorization": "Bearer " + bearer} if bearer else {}
    sent = {**identity, "Content-Type": "text/plain", **(headers or {})}
    try:
        request = urllib.request.Request(url, data=body, headers=sent, method=method)
        with send(request, timeout=timeout) as answer:
            return take(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            said = refusal.read().decode("utf-8", "replace")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            said = str(json.loads(said)["error"]["message"])
        problem = f"HTTP {refusal.code}: {' '.join(said.split())[:300]}"
        if refusal.code in PASSING:
            raise OSError(problem) from None
        raise StorageError(problem, refusal.code) from None


def text(answer: IO[bytes]) -> str:
    return answer.read().decode("utf-8", "replace")


def patiently(ask: Callable[[], Any], sleep: Callable[[float], None]) -> Any:
    """Return what `ask` gives, tried again while the trouble may pass. Raises StorageError when it does not, and
    OSError at once when the disk is full."""
    last: Exception = OSError("not tried")
    for attempt in range(TRIES):
        try:
            return ask()
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            if getattr(error, "errno", 0) in NO_ROOM:
                raise
            last = error  # no answer, half an answer, an answer without a token
        if attempt < TRIES - 1:
            sleep(min(2**attempt, 20) * (0.5 + random.random() / 2))
    raise StorageError(f"no good answer in {TRIES} tries; the last: {last}") from last
