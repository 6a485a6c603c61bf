"""Reads of the live state for resources of the program, which Pulumi may be sent before any component starts."""

from __future__ import annotations

import os

import pulumi

from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.google.live_reader import LiveScope, Reader
from slipway.google.snapshot import made_by_us
from slipway.model.state import BUCKET

from .engine import act_as_provider


def reader_of(project: str = "", region: str = "", *, where: str = "") -> Reader:
    """Return a reader with the provider's identity. Without a project or region, those of the configuration; `where`
    names another region in a failure."""
    act_as_provider()
    gcp = pulumi.Config("gcp")
    scope = LiveScope(project or gcp.get("project") or "", region or gcp.get("region") or "")
    return Reader(connect(os.environ), scope, where=where)


def found_resource(type_: str, name: str, project: str) -> tuple[str, bool] | None:
    """Return the display name of an account, and whether a bucket has the lifecycle rules of Slipway's buckets; None if
    the resource does not exist or can't be read."""
    reader = reader_of(project)
    if type_ == BUCKET:
        bucket = reader.bucket(name)
        if isinstance(bucket, Unknown) or name not in bucket:
            return None
        return "", any(made_by_us(bucket[name], catalog=catalog) for catalog in (True, False))
    account = reader.service_account(name)
    if isinstance(account, Unknown) or name not in account:
        return None
    return account[name], False


def exists(type_: str, name: str, project: str) -> bool | Unknown:
    """Return whether a bucket or an account exists. `name`: the bucket's name, or the account's address."""
    reader = reader_of(project)
    found = reader.bucket(name) if type_ == BUCKET else reader.service_account(name)
    return found if isinstance(found, Unknown) else bool(found)
