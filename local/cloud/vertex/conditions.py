"""Filters of lists as conditions in SQL, for resources that have a table of their own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.cloud import filters
from local.cloud.clock import moment_of, timestamp

_EQUAL, _ORDERED = ("=", "!="), ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Field:
    """What a filter may say of a field: its column (or SQL expression) and the operators that it takes."""

    column: str
    operators: tuple[str, ...] = _EQUAL


_NAME, _STATE, _CREATED = Field("display_name", (*_EQUAL, ":")), Field("state"), Field("create_time", _ORDERED)
_CLUSTER = Field("cluster")
FIELDS: Mapping[str, Field] = {
    "display_name": _NAME,
    "displayname": _NAME,
    "state": _STATE,
    "create_time": _CREATED,
    "createtime": _CREATED,
    "job_spec.persistent_resource_id": _CLUSTER,
    "jobspec.persistentresourceid": _CLUSTER,
    "persistent_resource_id": _CLUSTER,
}
"""The fields of custom jobs, in lower case."""


@dataclass(frozen=True)
class Condition:
    """Text for a WHERE clause with `?` marks, and the values for them."""

    sql: str
    values: tuple[object, ...] = ()

    def older_than(self, moment: str) -> "Condition":
        """The condition for resources that were made before a moment, as they have it."""
        return Condition(f"({self.sql}) AND create_time < ?", (*self.values, moment))


def condition(text: str, fields: Mapping[str, Field] = FIELDS) -> Condition:
    """The condition of a filter; that of the empty filter holds for all. Raises 400 INVALID_ARGUMENT.

    Of the `fields`, text takes `=`, `!=` and (with `*`) `:`; labels.KEY takes `=`, `!=` and `:*`.
    """
    return filters.parsed(text, _Conditions(fields))


class _Conditions(filters.Meaning[Condition]):
    everything = Condition("1")
    plain = ","

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields

    def comparison(self, field: str, sign: str, value: str) -> Condition:
        if field.startswith("labels."):
            return self._label(field.removeprefix("labels."), sign, value)
        known = self._fields.get(field.lower())
        if known is None:
            raise self.refusal(f"field '{field}' is not supported")
        if sign not in known.operators:
            raise self.refusal(f"operator '{sign}' is not supported on '{field}'")
        if known.column == "create_time":
            value = self._time(value)
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

    def _time(self, value: str) -> str:
        try:
            moment = moment_of(value)
        except ValueError as error:
            raise self.refusal(f"'{value}' is not a time") from error
        if moment.tzinfo is None:
            raise self.refusal(f"'{value}' has no time zone")
        return timestamp(moment)


def _pattern(value: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", value)
    return escaped.replace("*", "%") if "*" in escaped else f"%{escaped}%"
