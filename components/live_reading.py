"""Reads of the live state for resources of the program, which Pulumi may be sent before any component starts."""

from __future__ import annotations

import os

import pulumi

from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.google.live_reader import LiveScope, Reader
from slipway.model.state import BUCKET

from .engine import act_as_provider


def reader_of(project: str = "", region: str = "", *, where: str = "") -> Reader:
    """Return a reader with the provider's identity. Without a project or region, those of the configuration; `where`
    names another region in a failure."""
    act_as_provider()
    gcp = pulumi.Config("gcp")
    scope = LiveScope(project or gcp.get("project") or "", region or gcp.get("region") or "")
    return Reader(connect(os.environ), scope, where=where)


def exists(type_: str, name: str, project: str) -> bool | Unknown:
    """Return whether a bucket or an account exists. `name`: the bucket's name, or the account's address."""
    reader = reader_of(project)
    found = reader.bucket(name) if type_ == BUCKET else reader.service_account(name)
    return found if isinstance(found, Unknown) else bool(found)
