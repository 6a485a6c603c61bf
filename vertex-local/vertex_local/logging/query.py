"""The subset of Cloud Logging's query language that job logs need.

Filters (see `filters.py`) with `=~` and `!~`; a bare word or string is searched for in the whole entry; `log_id("…")`,
no other function; `--` begins a comment.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from .. import filter_fields, filters
from ..clock import bound_of, timestamp
from ..document_filters import MISSING, Test, found_at, holds, shown
from ..log_store import Window
from ..wire import ApiError, invalid_argument, unimplemented

_FIELDS = filter_fields.of_schema("logging.v2", "LogEntry")
_FUNCTIONS = ("SEARCH", "cast", "ip_in_net", "regexp_extract", "sample", "source")
"""The language's, beside `log_id`."""
_SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")


@dataclass(frozen=True)
class Query:
    """A query."""

    matches: Test
    #: The part of it that an index can answer; `matches` decides.
    window: Window = field(default_factory=Window)


def parse(text: str) -> Query:
    """Return a parsed query. Raises 400 INVALID_ARGUMENT for a text outside the subset."""
    return filters.parsed(re.sub(r"(?m)^\s*--.*$", "", text), _Queries())


class _Queries(filters.Meaning[Query]):
    everything = Query(lambda entry: True)
    searches = True
    plain = ",'"

    def __init__(self) -> None:
        self.functions = {"log_id": self._log_id}

    def comparison(self, field: str, sign: str, value: str) -> Query:
        known = _FIELDS(filters.path(field))
        if known is None:
            raise self.refusal(f"a log entry has no field '{field}'")
        path = known.path
        if path == ("severity",):
            return self._severity(sign, value)
        if path == ("timestamp",):
            return self._timestamp(sign, value)
        if sign in ("=~", "!~"):
            return self._expression(path, sign, value)
        if sign == ":":
            if value == "*":
                return Query(lambda entry: found_at(entry, path) is not MISSING)
            return Query(lambda entry: value.lower() in shown(found_at(entry, path)).lower())
        label = path[2] if path[:2] == ("resource", "labels") and len(path) == 3 and sign == "=" else ""
        window = Window(job=value) if label == "job_id" else Window(task=value) if label == "task_name" else Window()
        return Query(lambda entry: _compared(found_at(entry, path), sign, value), window)

    def search(self, word: str) -> Query:
        lowered = word.lower()

        def found(value: Any) -> bool:
            if isinstance(value, dict):
                return any(found(item) for item in value.values())
            return lowered in str(value).lower()

        return Query(found)

    def joined(self, parts: Sequence[Query], word: str) -> Query:
        if word == "OR":
            return Query(lambda entry: any(part.matches(entry) for part in parts))
        window = reduce(Window.within, (part.window for part in parts))
        return Query(lambda entry: all(part.matches(entry) for part in parts), window)

    def inverted(self, part: Query) -> Query:
        return Query(lambda entry: not part.matches(entry))

    def no_function(self, name: str) -> ApiError:
        if name not in _FUNCTIONS:
            return super().no_function(name)
        return unimplemented(f"The local cloud does not implement {name}() in a filter of log entries.")

    def refusal(self, why: str) -> ApiError:
        return invalid_argument(f"Unparseable filter: {why}.")

    def _log_id(self, values: filters.Values) -> Query:
        suffix = "/logs/" + values[0]
        return Query(lambda entry: str(entry.get("logName", "")).endswith(suffix))

    def _severity(self, sign: str, value: str) -> Query:
        if value.upper() not in _SEVERITIES:
            raise self.refusal(f"unrecognized severity '{value}'")
        self._check_order(sign)
        bound = _SEVERITIES.index(value.upper())
        # An entry from before severities were checked may have any text; it then counts as the least.
        known = {name: at for at, name in enumerate(_SEVERITIES)}
        return Query(lambda entry: holds(known.get(entry.get("severity", ""), 0), sign, bound))

    def _timestamp(self, sign: str, value: str) -> Query:
        try:
            moment = timestamp(bound_of(value))
        except ValueError as error:
            raise self.refusal(f"'{value}' is not a timestamp") from error
        self._check_order(sign)
        since, until = sign in (">", ">="), sign in ("<", "<=")
        window = Window(since=moment) if since else Window(until=moment) if until else Window()
        return Query(lambda entry: holds(str(entry["timestamp"]), sign, moment), window)

    def _expression(self, path: tuple[str, ...], sign: str, value: str) -> Query:
        try:
            expression = re.compile(value)
        except re.error as error:
            raise self.refusal(f"invalid regular expression '{value}': {error}") from error
        return Query(lambda entry: (expression.search(shown(found_at(entry, path))) is not None) == (sign == "=~"))

    def _check_order(self, sign: str) -> None:
        if sign in ("=~", "!~", ":"):
            raise self.refusal(f"the operator '{sign}' does not fit this field")


def _compared(actual: Any, sign: str, value: str) -> bool:
    if actual is MISSING:
        return False
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return holds(actual, sign, value)
    return holds(shown(actual).lower(), sign, value.lower())
