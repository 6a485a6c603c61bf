"""Names of a submission: request id, job name, labels. Pure, but for the random id."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping

from slipway.errors import ConfigError
from slipway.revision import Revision, labelled

REQUEST_LABEL = "slipway-request"
TEMPLATE_LABEL = "slipway-template"
STACK_LABEL = "slipway-stack"
USER_LABEL = "slipway-user"
WAY_LABEL = "slipway-way"
COMMIT_LABEL = "slipway-commit"
DIRTY_LABEL = "slipway-commit-dirty"
ROLES_LABEL = "slipway-roles"
SWEEP_LABEL = "slipway-sweep"
RUN_LABEL = "slipway-run"
CODE_LABEL = "slipway-code"
CODE_COMMIT_LABEL = "slipway-code-commit"
CODE_DIRTY_LABEL = "slipway-dirty"

_REQUEST_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_NOT_IN_LABELS = re.compile(r"[^a-z0-9_-]+")


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
            f"{text!r} is no request id",
            why="it becomes a label: lower-case letters, digits, - and _, at most 63, beginning with a letter or digit",
            fix="--request-id nightly-2026-11-20, for example, or leave it out",
        )
    return text


def job_name(template: str, request_id: str) -> str:
    """``dask-digits-7k2p3f9a``. The same request always gives the same name, so a repetition can't hide as another."""
    return f"{template}-{_base32(hashlib.sha256(request_id.encode()).digest())[:8]}"


def label_value(text: str) -> str:
    """``text`` made fit for a label's value; empty stays empty."""
    return _NOT_IN_LABELS.sub("-", text.lower()).strip("-_")[:63].strip("-_")


def roles_value(roles: tuple[str, ...]) -> str:
    """The roles of the worker pools in order, joined by ``_``, or empty when they don't fit a label."""
    value = "_".join(label_value(role).replace("_", "-") for role in roles)
    return value if len(value) <= 63 else ""


def roles_of(value: str) -> tuple[str, ...]:
    """What :func:`roles_value` wrote."""
    return tuple(value.split("_")) if value else ()


def revision_of(labels: Mapping[str, str]) -> Revision:
    """The reviewed commit that defined a job's template; older jobs do not tell whether there was more."""
    return labelled(labels, COMMIT_LABEL, DIRTY_LABEL)


def code_revision_of(labels: Mapping[str, str]) -> Revision:
    """What --code packed: no commit for a tree that was never committed, and for a job of the reviewed code."""
    return labelled(labels, CODE_COMMIT_LABEL, CODE_DIRTY_LABEL)


def _base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode().rstrip("=").lower()
