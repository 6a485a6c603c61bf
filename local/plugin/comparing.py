"""The difference between a state and a planned one, property by property, as the engine shows it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .checking import DEFAULTS
from .schema import Field, Schema
from .values import COMPUTED, Asset, Properties, is_empty, is_later

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True)
class Change:
    """A difference: property path, what happens there, and whether it needs a new resource."""

    path: str
    kind: Literal["add", "delete", "update"]
    replace: bool

    @property
    def top(self) -> str:
        """The top-level property that the path begins with."""
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


def compare(schema: Schema, old: Properties, planned: Properties) -> tuple[Change, ...]:
    """Return all differences, in the schema's order; none means that nothing needs to be done."""
    return tuple(_record(schema.fields, old, planned, ""))


def changed(schema: Schema, old: Properties, planned: Properties) -> frozenset[str]:
    """Return the top-level properties that differ."""
    return frozenset(change.top for change in compare(schema, old, planned))


def deletes_first(schema: Schema, inputs: Properties, changes: tuple[Change, ...]) -> bool:
    """Return whether a replacement deletes the old resource before it creates the new: of a type that always does, and
    where the program has given the name. Inputs that don't say which are defaults count as named by the provider."""
    if not any(change.replace for change in changes):
        return False
    named = schema.auto_name
    given = named is not None and named.field in inputs and named.field not in inputs.get(DEFAULTS, (named.field,))
    return schema.delete_first or given


def _record(fields: Mapping[str, Field], old: Properties, new: Properties, path: str) -> Iterator[Change]:
    for name, declared in fields.items():
        yield from _value(declared, old.get(name), new.get(name), _join(path, name))


def _value(declared: Field, old: Any, new: Any, path: str) -> Iterator[Change]:
    if new is COMPUTED or _same(declared, old, new):
        return
    if is_empty(new) and not is_later(new):
        yield Change(path, "delete", _replaces(declared, old))
    elif is_empty(old):
        # An empty scalar that the state holds is a value like another; a null, or nothing, is not a value.
        absent = old is None or isinstance(old, Mapping | list)
        yield Change(path, "add" if absent else "update", _replaces(declared, new))
    elif is_later(new) or is_later(old):
        yield Change(path, "update", _replaces(declared, old))
    elif declared.kind == "object":
        yield from _record(declared.fields, old, new, path)
    elif declared.kind == "list" and declared.item is not None:
        yield from _list(declared, declared.item, old, new, path)
    elif declared.kind == "map":
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                kind = "update" if key in old and key in new else "add" if key in new else "delete"
                yield Change(_join(path, key), kind, declared.replace)  # type: ignore[arg-type]
    else:
        yield Change(path, "update", declared.replace)


def _list(declared: Field, item: Field, old: list[Any], new: list[Any], path: str) -> Iterator[Change]:
    for index in range(max(len(old), len(new))):
        where = f"{path}[{index}]"
        if index >= len(old):
            yield Change(where, "add", declared.replace or _replaces(item, new[index]))
        elif index >= len(new):
            yield Change(where, "delete", declared.replace or _replaces(item, old[index]))
        elif item.fields:
            yield from _record(item.fields, old[index], new[index], where)
        elif old[index] != new[index]:
            yield Change(where, "update", declared.replace)


def _same(declared: Field, old: Any, new: Any) -> bool:
    if is_empty(old) and is_empty(new) and not is_later(new):
        return True
    if declared.same is not None and old is not None and new is not None and not is_later(new):
        return declared.same(old, new)
    if declared.normal is not None and isinstance(old, str) and isinstance(new, str):
        return declared.normal(old) == declared.normal(new)
    if isinstance(old, Asset) and type(old) is type(new) and old.hash:
        return bool(old.hash == new.hash)
    return bool(old == new)


def _replaces(declared: Field, value: Any) -> bool:
    if declared.replace:
        return True
    if isinstance(value, Mapping):
        return any(
            _replaces(field, value[name]) for name, field in declared.fields.items() if not is_empty(value.get(name))
        )
    if isinstance(value, list) and declared.item is not None:
        return any(_replaces(declared.item, item) for item in value)
    return False


def _join(path: str, name: str) -> str:
    if not _PLAIN_KEY.fullmatch(name):
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name
