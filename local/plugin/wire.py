"""A state as the JSON that Google's APIs take and give, where the two differ in names alone."""

from collections.abc import Mapping
from typing import Any

from .schema import Field
from .transport import CloudError
from .values import Properties, is_empty, is_later


def to_api(fields: Mapping[str, Field], state: Properties) -> dict[str, Any]:
    """Return the JSON body for the properties that a program can set; empty values are left out."""
    body: dict[str, Any] = {}
    for name, declared in fields.items():
        value = state.get(name)
        if declared.settable and not is_later(value) and not is_empty(value):
            sent = _sent(declared, value)
            if not is_empty(sent):
                body[declared.api or name] = sent
    return body


def _sent(declared: Field, value: Any) -> Any:
    if declared.kind == "object":
        return to_api(declared.fields, value)
    if declared.kind == "list" and declared.item is not None:
        return [_sent(declared.item, item) for item in value]
    return value


def from_api(fields: Mapping[str, Field], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties in a JSON body; an empty object counts as none."""
    state: dict[str, Any] = {}
    for name, declared in fields.items():
        value = body.get(declared.api or name)
        if value is not None and value != {}:
            state[name] = _received(name, declared, value)
    return state


def _received(name: str, declared: Field, value: Any) -> Any:
    if declared.kind == "object":
        return from_api(declared.fields, value)
    if declared.kind == "list" and declared.item is not None:
        items = value if isinstance(value, list) else [value]
        return [_received(name, declared.item, item) for item in items]
    if declared.kind == "integer":
        try:
            return int(value)
        except (TypeError, ValueError) as error:
            raise CloudError(f"an answer whose {name} is not a whole number: {str(value)[:200]!r}") from error
    if declared.kind == "string":
        return str(value)
    return value
