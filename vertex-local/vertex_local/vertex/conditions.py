"""Filters of lists of custom jobs as conditions in SQL, as these have a table of their own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import filters
from ..clock import bound_of, timestamp
from ..filter_fields import FilterFields

_EQUAL, _ORDERED = ("=", "!="), ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Field:
    """A field in filters: its column (or SQL expression) and the operators that it takes."""

    column: str
    operators: tuple[str, ...] = _EQUAL


FIELDS: Mapping[str, Field] = {
    "displayName": Field("display_name", (*_EQUAL, ":")),
    "state": Field("state"),
    "createTime": Field("create_time", _ORDERED),
    "jobSpec.persistentResourceId": Field("cluster"),
}
"""The fields of custom jobs, by their path in JSON."""


@dataclass(frozen=True)
class Condition:
    """A condition: text for a WHERE clause with `?` marks, and the values for them."""

    sql: str
    values: tuple[object, ...] = ()


def condition(text: str, fields: FilterFields) -> Condition:
    """Return the condition of a filter; the empty filter's holds for all. Raises 400 INVALID_ARGUMENT.

    Of FIELDS, text takes `=`, `!=` and (with `*`) `:`; labels.KEY takes `=`, `!=` and `:*`. `fields` says which
    values each can have.
    """
    return filters.parsed(text, _Conditions(fields))


class _Conditions(filters.Meaning[Condition]):
    everything = Condition("1")
    plain = ","

    def __init__(self, fields: FilterFields) -> None:
        self._fields = fields

    def comparison(self, field: str, sign: str, value: str) -> Condition:
        named = self._fields(filters.path(field))
        path = named.path if named else (field,)
        if path[0] == "labels" and len(path) == 2:
            return self._label(path[1], sign, value)
        known = FIELDS.get(".".join(path))
        if known is None:
            raise self.refusal(f"field '{field}' is not supported")
        if sign not in known.operators:
            raise self.refusal(f"operator '{sign}' is not supported on '{field}'")
        objection = named.objection(sign, value) if named else ""
        if objection:
            raise self.refusal(objection)
        if known.column == "create_time":
            value = timestamp(bound_of(value))
        if sign == ":":
            return Condition(f"{known.column} LIKE ? ESCAPE '\\'", (_pattern(value),))
        return Condition(f"{known.column} {'IS NOT' if sign == '!=' else sign} ?", (value,))

    def joined(self, parts: Sequence[Condition], word: str) -> Condition:
        values = tuple(value for part in parts for value in part.values)
        return Condition(f" {word} ".join(f"({part.sql})" for part in parts), values)

    def inverted(self, part: Condition) -> Condition:
        return Condition(f"NOT ({part.sql})", part.values)

    def _label(self, key: str, sign: str, value: str) -> Condition:
        path = '$.labels."' + key.replace('"', "") + '"'
        if sign == ":" and value == "*":
            return Condition("json_extract(body, ?) IS NOT NULL", (path,))
        if sign not in ("=", "!=", ":"):
            raise self.refusal(f"operator '{sign}' is not supported on labels")
        return Condition(f"json_extract(body, ?) {'IS NOT' if sign == '!=' else '='} ?", (path, value))


def _pattern(value: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", value)
    return escaped.replace("*", "%") if "*" in escaped else f"%{escaped}%"
