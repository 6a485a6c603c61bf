"""Request ids, and the names of the jobs that are sent for them. Pure, but for the random id."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets

from slipway.errors import ConfigError

_REQUEST_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def new_request_id() -> str:
    """Eighty random bits: enough that nobody's ids ever meet."""
    return _base32(secrets.token_bytes(10))


def derived_request_id(*parts: str | int) -> str:
    """The same parts always give the same id; others give another one."""
    return _base32(hashlib.sha256("\0".join(str(part) for part in parts).encode()).digest()[:10])


def checked_request_id(text: str) -> str:
    """Raises ConfigError for an id that could not be a label's value."""
    if not _REQUEST_ID.fullmatch(text):
        raise ConfigError(
            f"invalid request id {text!r}",
            why="it becomes a label: lower-case letters, digits, - and _, at most 63, beginning with a letter or digit",
            fix="--request-id nightly-2026-11-20, for example, or leave it out",
        )
    return text


def job_name(template: str, request_id: str) -> str:
    """`dask-digits-7k2p3f9a`. The same request always gives the same name, so a repetition can't hide as another."""
    return f"{template}-{_base32(hashlib.sha256(request_id.encode()).digest())[:8]}"


def _base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode().rstrip("=").lower()
