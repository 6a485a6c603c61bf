"""The inputs that describe a state that was read: after a refresh, and for an import."""

from collections.abc import Mapping
from typing import Any

from local.plugin.checking import DEFAULTS
from local.plugin.schema import Field, Schema
from local.plugin.values import Properties, is_empty


def refreshed(schema: Schema, inputs: Properties, state: Properties) -> dict[str, Any]:
    """The inputs of before with the values that the state now has; what was not given before is not added."""
    return _refreshed(schema.fields, inputs, state)


def imported(schema: Schema, state: Properties) -> dict[str, Any]:
    """Inputs for a state that no program has described yet: all that a program could set and that is
    neither empty nor the default; what an object requires stays, whatever it holds."""
    return _imported(schema.fields, state)


def _refreshed(fields: Mapping[str, Field], inputs: Properties, state: Properties) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in inputs.items():
        declared = fields.get(name)
        if declared is None:
            result[name] = value
            continue
        now = state.get(name)
        if declared.same is not None and now is not None and declared.same(now, value):
            result[name] = value
        elif now is not None:
            result[name] = _value(declared, value, now)
        elif is_empty(value):
            result[name] = value
    return result


def _value(declared: Field, before: Any, now: Any) -> Any:
    if declared.kind == "object" and isinstance(before, Mapping):
        return _refreshed(declared.fields, before, now)
    if declared.kind == "list" and declared.item is not None and isinstance(before, list):
        item = declared.item
        return [
            _value(item, before[index], one) if index < len(before) else _fresh(item, one)
            for index, one in enumerate(now)
        ]
    return now


def _imported(fields: Mapping[str, Field], state: Properties) -> dict[str, Any]:
    result: dict[str, Any] = {DEFAULTS: []}
    for name, declared in fields.items():
        value = state.get(name)
        if not declared.settable or value is None:
            continue
        if declared.kind == "object":
            inside = _imported(declared.fields, value)
            if len(inside) > 1:
                result[name] = inside
        elif declared.required or not (is_empty(value) or value == declared.default):
            result[name] = _fresh(declared, value)
    return result


def _fresh(declared: Field, value: Any) -> Any:
    if declared.kind == "object":
        return _imported(declared.fields, value)
    if declared.kind == "list" and declared.item is not None:
        return [_fresh(declared.item, item) for item in value]
    return value
