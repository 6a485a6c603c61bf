"""Filters of lists as tests on documents."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import filters
from .clock import bound_of, moment_of, timestamp
from .filter_fields import FilterFields
from .filters import Values
from .wire import camel

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_STRUCT_VALUES = ("string_value", "number_value", "bool_value")
MISSING = object()

Document = Mapping[str, Any]
Test = Callable[[Document], bool]
Function = Callable[[Values], Test]
"""A function's arguments, as in `in_context("…")`, or the values after a `field:`, to a test."""


def parsed(text: str, fields: FilterFields, functions: Mapping[str, Function] | None = None) -> Test:
    """Return the test that a filter means; the empty filter's holds for all. Raises 400 INVALID_ARGUMENT. `fields` are
    those that the documents can have; `functions` are the service's own."""
    return filters.parsed(text, _Tests(fields, functions or {}))


class _Tests(filters.Meaning[Test]):
    def __init__(self, fields: FilterFields, functions: Mapping[str, Function]) -> None:
        self.everything = lambda document: True
        self.functions = functions
        self._fields = fields

    def comparison(self, field: str, sign: str, value: str) -> Test:
        known = self._fields(filters.path(field))
        if known is None:
            raise self.refusal(f"field '{field}' is not supported")
        if sign != ":" and sign not in _OPERATORS:
            raise self.refusal(f"operator '{sign}' is not supported on '{field}'")
        objection = known.objection(sign, value)
        if objection:
            raise self.refusal(objection)
        names = known.path
        if known.kind == "time" and value != "*":
            value = timestamp(bound_of(value))
        if sign == ":" and (value == "*" or "*" not in value):
            return lambda document: _has(found_at(document, names), value)
        if "*" in value and sign in ("=", "!=", ":"):
            pattern = re.compile(".*".join(map(re.escape, value.split("*"))), re.DOTALL)
            return lambda document: (pattern.fullmatch(shown(found_at(document, names))) is not None) == (sign != "!=")
        moment = _moment(value)
        return lambda document: _compared(found_at(document, names), sign, value, moment)

    def joined(self, parts: Sequence[Test], word: str) -> Test:
        holds = all if word == "AND" else any
        return lambda document: holds(part(document) for part in parts)

    def inverted(self, part: Test) -> Test:
        return lambda document: not part(document)


def value_at(document: Any, field: str) -> Any:
    """Return the value at a field's path in a document, None when there is none."""
    value = found_at(document, filters.path(field))
    return None if value is MISSING else value


def holds(actual: Any, sign: str, value: Any) -> bool:
    """Return whether the comparison of two values of one type holds; a number compares with a text that is one."""
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        try:
            return _OPERATORS[sign](float(actual), float(value))
        except ValueError:
            return sign == "!="
    return _OPERATORS[sign](actual, value)


def shown(value: Any) -> str:
    """Return a value as filters write it."""
    if value is MISSING:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compared(actual: Any, sign: str, value: str, moment: str) -> bool:
    if actual is MISSING:
        # A field that a message leaves out has its type's zero.
        return (value.lower() in ("", "false", "0")) == (sign == "=") if sign in ("=", "!=") else False
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return holds(actual, sign, value)
    if moment and isinstance(actual, str) and (own := _moment(actual)):
        return holds(own, sign, moment)
    return holds(shown(actual), sign, value)


def _has(actual: Any, value: str) -> bool:
    if value == "*":
        return actual is not MISSING
    if isinstance(actual, (list, tuple)):
        return any(shown(item) == value for item in actual)
    if isinstance(actual, Mapping):
        return value in actual
    return actual is not MISSING and value.lower() in shown(actual).lower()


def found_at(document: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if not isinstance(document, Mapping):
            # `metadata.epochs.number_value`: the last word names the value's type in a Struct.
            return document if name in _STRUCT_VALUES else MISSING
        if name not in document:
            name = camel(name)
        if name not in document:
            return MISSING
        document = document[name]
    return document


def _moment(text: str) -> str:
    """Return a time in the form that documents keep, "" for another text."""
    try:
        moment = moment_of(text)
    except ValueError:
        return ""
    return timestamp(moment) if "T" in text and moment.tzinfo else ""
