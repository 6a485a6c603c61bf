"""A state as the official provider hands it to the engine: every empty property, and its own notes."""

import json
from collections.abc import Mapping
from typing import Any

from .schema import Field, Schema
from .values import Asset, Properties

META = "__meta"
DELTA = "__pulumi_raw_state_delta"
# The key under which Terraform's SDK keeps a resource's time-outs (terraform-plugin-sdk, TimeoutKey).
_TIMEOUTS = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0"
_NANOSECONDS = 1_000_000_000
_EMPTY: Mapping[str, Any] = {"string": "", "integer": 0, "boolean": False}


def written(
    schema: Schema, id: str, state: Properties, before: Properties, *, read: bool = False, create_timeout: float = 0
) -> dict[str, Any]:
    """Return the state to hand to the engine.

    `before` is the state it had, empty for a create and an import. `read`: whether it was read just now, for a refresh
    or an import. `create_timeout`: seconds that the program asked for, 0 for the type's own.
    """
    full = _record(schema.fields, state, before, read=read, top=True)
    meta = _meta(schema, before, read, create_timeout)
    return {**full, "id": id, **({META: meta} if meta else {}), DELTA: {"obj": _object_delta(schema.fields, full)}}


def _record(
    fields: Mapping[str, Field], value: Properties, before: Any, *, read: bool, top: bool = False
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, declared in fields.items():
        was = before.get(name) if isinstance(before, Mapping) else None
        if name in value:
            result[name] = _value(declared, value[name], was, read=read)
        else:
            result[name] = _empty(declared, known=read or was is not None, top=top)
    return result


def _value(declared: Field, value: Any, was: Any, *, read: bool) -> Any:
    if declared.kind == "object" and isinstance(value, Mapping):
        return _record(declared.fields, value, was, read=read)
    if declared.kind == "list" and declared.item is not None and isinstance(value, list):
        return [_value(declared.item, item, None, read=read) for item in value]
    return value


def _empty(declared: Field, *, known: bool, top: bool) -> Any:
    """Return a property's empty value. A list of objects, or in one, is never null, other collections at first."""
    if declared.null:
        return None
    if declared.kind == "list":
        listed = known or not top or not declared.settable or (declared.item and declared.item.fields)
        return [] if listed else None
    if declared.kind == "map":
        return {} if known else None
    return _EMPTY.get(declared.kind)


def _meta(schema: Schema, before: Properties, read: bool, create_timeout: float) -> str:
    if kept := before.get(META):
        # An import notes version 0 as well, which the first update drops.
        meta = {name: value for name, value in json.loads(kept).items() if read or value != "0"}
        return json.dumps(meta, separators=(",", ":"))
    meta = {}
    if schema.timeouts:
        seconds = {**schema.timeouts, **({"create": create_timeout} if create_timeout and not read else {})}
        meta[_TIMEOUTS] = {verb: int(each * _NANOSECONDS) for verb, each in sorted(seconds.items())}
    if schema.version or (read and not before):
        meta["schema_version"] = str(schema.version)
    return json.dumps(meta, separators=(",", ":")) if meta else ""


def _object_delta(fields: Mapping[str, Field], value: Properties) -> dict[str, Any]:
    """Return how Terraform's state has the properties, where that does not follow from their values."""
    parts = {name: delta for name, field in fields.items() if (delta := _delta(field, value.get(name))) is not None}
    renamed = {
        name: field.terraform for name, field in fields.items() if field.terraform and value.get(name) is not None
    }
    return {**({"ps": parts} if parts else {}), **({"renamed": renamed} if renamed else {})}


def _delta(declared: Field, value: Any) -> dict[str, Any] | None:
    if declared.kind == "object":  # in Terraform a list of at most one
        return {"plu": {"i": {} if value is None else {"obj": _object_delta(declared.fields, value)}}}
    if isinstance(value, Asset):
        return {"asset": {"kind": 0, "archiveFormat": 3}}
    if value is None:
        return None
    if declared.kind == "map":
        return {"map": {}}
    if declared.kind == "list":
        item = declared.item
        if item is None or not item.fields or not value:
            return {"arr": {}}
        return {"arr": {"el": {str(at): {"obj": _object_delta(item.fields, inner)} for at, inner in enumerate(value)}}}
    return None
