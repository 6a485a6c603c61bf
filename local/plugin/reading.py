"""The inputs that describe a state that was read: after a refresh, and for an import."""

from collections.abc import Mapping
from typing import Any

from .checking import DEFAULTS
from .schema import Field, Schema
from .values import Properties, is_empty


def refreshed(schema: Schema, inputs: Properties, state: Properties) -> dict[str, Any]:
    """Return the former inputs with the values that the whole state now has. Inputs that were not given are not added,
    and an input whose value has changed is no default any more."""
    return _refreshed(schema.fields, inputs, state)[0]


def imported(schema: Schema, state: Properties) -> dict[str, Any]:
    """Return inputs for a state that no program has described yet: all that a program could set and that is neither
    empty nor the default; what an object requires stays, whatever it holds."""
    return _imported(schema.fields, state)


def _refreshed(fields: Mapping[str, Field], inputs: Properties, state: Properties) -> tuple[dict[str, Any], bool]:
    """Return the inputs, and whether they may still be a default as a whole."""
    result: dict[str, Any] = {}
    changed = set()
    for name, value in inputs.items():
        if name == DEFAULTS:
            continue
        now, same = state.get(name), False
        if now is not None:
            result[name], same = _value(fields.get(name), value, now)
        if not same:
            changed.add(name)
    if DEFAULTS not in inputs:
        return result, True
    result[DEFAULTS] = sorted(set(inputs[DEFAULTS]) - changed)
    return result, not changed


def _value(declared: Field | None, before: Any, now: Any) -> tuple[Any, bool]:
    if declared is not None and declared.kind == "object" and isinstance(before, Mapping):
        return _refreshed(declared.fields, before, now)
    if declared is not None and declared.item is not None and isinstance(before, list):
        values = [_value(declared.item, *pair) for pair in zip(before, now, strict=False)]
        return [value for value, _ in values], len(now) >= len(before) and all(same for _, same in values)
    if isinstance(before, Mapping):
        return {name: now[name] for name in before if name in now}, all(
            now.get(name) == before[name] for name in before
        )
    if declared is not None and declared.normal is not None:
        return before, declared.normal(before) == now
    return now, before == now


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
    if declared.kind == "map":
        return {**value, DEFAULTS: []}
    if declared.kind == "list" and declared.item is not None:
        return [_fresh(declared.item, item) for item in value]
    return value
