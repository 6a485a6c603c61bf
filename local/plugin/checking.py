"""The program's inputs, checked against a type's schema and completed with names and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .naming import made_up
from .schema import Field, Schema
from .values import Asset, Properties, is_later

DEFAULTS = "__defaults"
"""The input in which each object lists those of its properties that the program did not give."""


@dataclass(frozen=True)
class Failure:
    """A wrong input: its path, and why it is wrong."""

    property: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """The completed inputs; `failures` says whether they may be used."""

    inputs: dict[str, Any]
    failures: tuple[Failure, ...]


def check(schema: Schema, given: Properties, old: Properties, logical: str, seed: bytes) -> Checked:
    """Return the inputs, completed and checked; `old` are the former ones, `logical` and `seed` make up a name."""
    failures: list[Failure] = []
    named = schema.auto_name
    given = {name: value for name, value in given.items() if not name.startswith("__")}
    made = named is not None and given.get(named.field) is None
    if named is not None and made:
        kept = old.get(named.field) if named.field in old.get(DEFAULTS, ()) else None
        given[named.field] = kept or made_up(logical, seed, named.longest)
    inputs = _record(schema.fields, given, "", failures)
    if named is not None and made:
        inputs[DEFAULTS] = sorted([*inputs[DEFAULTS], named.field])
    return Checked(inputs, tuple(failures))


def _record(fields: Mapping[str, Field], given: Properties, path: str, failures: list[Failure]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    defaulted: list[str] = []
    for name, value in given.items():
        if name == DEFAULTS:
            continue
        where = f"{path}.{name}" if path else name
        declared = fields.get(name)
        if declared is None:
            known = ", ".join(sorted(key for key, field in fields.items() if field.settable))
            failures.append(Failure(where, f"Invalid or unknown key. Known here: {known}"))
        elif declared.settable and value is not None:
            result[name] = _value(declared, value, where, failures)
    for name, declared in fields.items():
        if name in result:
            continue
        if declared.required:
            where = f"{path}.{name}" if path else name
            reason = f'Missing required argument. The argument "{where}" is required, but no definition was found.'
            failures.append(Failure(where, reason))
        elif declared.default is not None:
            result[name] = declared.default
            defaulted.append(name)
    result[DEFAULTS] = sorted(defaulted)
    return result


def _value(declared: Field, value: Any, path: str, failures: list[Failure]) -> Any:
    if is_later(value):
        return value
    if declared.kind == "object" and isinstance(value, Mapping):
        return _record(declared.fields, value, path, failures)
    if declared.kind == "list" and isinstance(value, list) and declared.item is not None:
        return [_value(declared.item, item, f"{path}[{index}]", failures) for index, item in enumerate(value)]
    if declared.kind == "map" and isinstance(value, Mapping) and declared.item is not None:
        named = {name: item for name, item in value.items() if name != DEFAULTS}
        result = {name: _value(declared.item, item, f"{path}.{name}", failures) for name, item in named.items()}
        return result | ({DEFAULTS: value[DEFAULTS]} if DEFAULTS in value else {})
    if declared.kind == "asset" and isinstance(value, Asset):
        return value
    fitted = _scalar(declared.kind, value)
    if fitted is None:
        failures.append(Failure(path, f"expected {_article(declared.kind)}, got {_shown(value)}"))
        return value
    if declared.choices and fitted not in declared.choices:
        failures.append(Failure(path, f"expected {path} to be one of {list(declared.choices)}, got {fitted!r}"))
    if declared.refusal and (reason := declared.refusal(fitted)):
        failures.append(Failure(path, reason))
    return fitted


def _scalar(kind: str, value: Any) -> Any:
    if kind == "string":
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, str | int | float) else None
    if kind == "boolean":
        return {"true": True, "false": False}.get(value) if isinstance(value, str) else _if(value, bool)
    if kind == "integer" and not isinstance(value, bool):
        if isinstance(value, str):
            return int(value) if value.removeprefix("-").isdecimal() else None
        return _if(value, int)
    return None


def _if(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else None


def _article(kind: str) -> str:
    return {"integer": "a whole number", "object": "an object", "asset": "an asset"}.get(kind, f"a {kind}")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"
