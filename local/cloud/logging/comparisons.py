"""One comparison of Cloud Logging's query language against an entry."""

import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from local.cloud.clock import timestamp
from local.cloud.wire import invalid_argument

_SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MISSING = object()

Test = Callable[[dict[str, Any]], bool]


def compare(path: tuple[str, ...], sign: str, value: str) -> Test:
    """The test of `field SIGN value`. Raises 400 INVALID_ARGUMENT for a severity, time or pattern that is none."""
    if path == ("severity",):
        if value.upper() not in _SEVERITIES:
            raise invalid_argument(f"Unparseable filter: unrecognized severity '{value}'.")
        return lambda entry: _ordered(
            _SEVERITIES.index(entry.get("severity", "DEFAULT")), sign, _SEVERITIES.index(value.upper())
        )
    if path == ("timestamp",):
        when = moment(value)
        return lambda entry: _ordered(str(entry["timestamp"]), sign, when)
    if sign in ("=~", "!~"):
        try:
            expression = re.compile(value)
        except re.error as error:
            raise invalid_argument(f"Unparseable filter: invalid regular expression '{value}': {error}") from error
        return lambda entry: (expression.search(_text(_field(entry, path))) is not None) == (sign == "=~")
    if sign == ":":
        if value == "*":
            return lambda entry: _field(entry, path) is not _MISSING
        return lambda entry: value.lower() in _text(_field(entry, path)).lower()
    return lambda entry: _by_type(_field(entry, path), sign, value)


def _by_type(actual: Any, sign: str, value: str) -> bool:
    if actual is _MISSING:
        return False
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        try:
            return _ordered(float(actual), sign, float(value))
        except ValueError:
            return sign == "!="
    return _ordered(_text(actual).lower(), sign, value.lower())


def _ordered(actual: Any, sign: str, value: Any) -> bool:
    holds = _OPERATORS.get(sign)
    if holds is None:
        raise invalid_argument(f"Unparseable filter: the operator '{sign}' does not fit this field.")
    return bool(holds(actual, value))


def _field(entry: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(entry, dict) or name not in entry:
            return _MISSING
        entry = entry[name]
    return entry


def _text(value: Any) -> str:
    if value is _MISSING:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def search(word: str) -> Test:
    """The test for a word anywhere in an entry."""
    lowered = word.lower()

    def found(value: Any) -> bool:
        if isinstance(value, dict):
            return any(found(item) for item in value.values())
        return lowered in str(value).lower()

    return found


def moment(value: str) -> str:
    """A time of a filter in the form that entries keep. Raises 400 INVALID_ARGUMENT."""
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError as error:
        raise invalid_argument(f"Unparseable filter: '{value}' is not a timestamp.") from error
    return timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
