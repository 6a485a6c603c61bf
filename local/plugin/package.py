"""The package's schema, by which programs in YAML and generators of other languages know the types."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from . import VERSION
from .provider import kinds
from .schema import Field, Schema

_TEXT: Mapping[str, Any] = {"type": "string"}
_PROVIDER = {
    "project": _TEXT,
    "region": _TEXT,
    "defaultLabels": {"type": "object", "additionalProperties": _TEXT},
    "addPulumiAttributionLabel": {"type": "boolean"},
}


@cache
def package() -> str:
    """Return the schema in Pulumi's JSON."""
    types: dict[str, Any] = {}
    resources = {token: _resource(kind.schema, types) for token, kind in kinds().items()}
    provider = {"inputProperties": _PROVIDER}
    pattern = {"moduleFormat": "(.*)(?:/[^/]*)"}
    written = {"name": "gcp", "version": VERSION, "meta": pattern, "provider": provider}
    return json.dumps({**written, "types": types, "resources": resources})


def _resource(schema: Schema, types: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _type(schema.token, name, field, types) for name, field in schema.fields.items()}
    inputs = {name: properties[name] for name, field in schema.fields.items() if field.settable}
    needed = [name for name, field in schema.fields.items() if field.required]
    return {"properties": properties, "inputProperties": inputs, "requiredInputs": needed}


def _type(token: str, name: str, field: Field, types: dict[str, Any]) -> dict[str, Any]:
    if field.kind == "object":
        own = f"{token}{name[0].upper()}{name[1:]}"
        types[own] = {
            "type": "object",
            "properties": {key: _type(own, key, each, types) for key, each in field.fields.items()},
            "required": [key for key, each in field.fields.items() if each.required],
        }
        return {"$ref": f"#/types/{own}"}
    if field.kind == "asset":
        return {"$ref": "pulumi.json#/Asset"}
    below = _type(token, name, field.item, types) if field.item else _TEXT
    if field.kind == "list":
        return {"type": "array", "items": below}
    if field.kind == "map":
        return {"type": "object", "additionalProperties": below}
    return {"type": field.kind}
