"""The forms of single values in Google's discovery documents: whether a JSON value, or a query's text, has one."""

import base64
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from .clock import moment_of

_INTEGERS = ("int32", "uint32", "int64", "uint64")
_DIGITS = re.compile(r"-?[0-9]{1,20}")
_PATH = re.compile(r"\*|[A-Za-z_][A-Za-z0-9_]*(\.([A-Za-z_][A-Za-z0-9_-]*|\*|`[^`]+`))*")

Schema = Mapping[str, Any]
"""Form of a value in a discovery document: `type`, `format`, `enum`, `minimum`, `maximum`."""


def fits(schema: Schema, value: Any) -> bool:
    """Return whether a JSON value that is neither a list nor an object has the form that a schema asks for."""
    kind, form = schema.get("type", "any"), schema.get("format", "")
    if kind == "any":
        return True
    if form in _INTEGERS or kind == "integer":
        return not isinstance(value, bool) and _is_integer(schema, form or "int32", str(value))
    if kind == "string":
        return isinstance(value, str) and _is_text(schema, form, value)
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_fits(schema: Schema, text: str, *, numbered: bool) -> bool:
    """Return whether a query's text has that form. `numbered`: an enum may come as its number."""
    kind, form = schema.get("type", "any"), schema.get("format", "")
    if form in _INTEGERS or kind == "integer":
        return _is_integer(schema, form or "int32", text)
    if kind == "boolean":
        return text.lower() in ("true", "false")
    return _is_text(schema, form, text) or (numbered and "enum" in schema and text.isascii() and text.isdigit())


def name_of(schema: Schema) -> str:
    """Return the form's name in errors: TYPE_INT32, TYPE_STRING."""
    return f"TYPE_{str(schema.get('format', schema.get('type', 'any'))).upper()}"


def _is_integer(schema: Schema, form: str, text: str) -> bool:
    if not _DIGITS.fullmatch(text):
        return False
    bits = int(form.removeprefix("u").removeprefix("int"))
    low, high = (0, 1 << bits) if form.startswith("u") else (-1 << bits - 1, 1 << bits - 1)
    low, high = max(low, int(schema.get("minimum", low))), min(high, int(schema.get("maximum", high - 1)) + 1)
    return low <= int(text) < high


def _is_text(schema: Schema, form: str, text: str) -> bool:
    return (form not in _FORMS or _FORMS[form](text)) and ("enum" not in schema or text in schema["enum"])


def _readable(read: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a test of whether a text can be read so."""

    def found(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return found


def _decode(text: str) -> None:
    """Decode both alphabets, with padding or without, as the services take them. Raises ValueError."""
    plain = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


_FORMS: Mapping[str, Callable[[str], bool]] = {
    "google-datetime": _readable(moment_of),
    "date-time": _readable(moment_of),
    "date": _readable(date.fromisoformat),
    "google-duration": lambda text: re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,9})?s", text) is not None,
    "google-fieldmask": lambda text: all(_PATH.fullmatch(part.strip()) for part in text.split(",") if part.strip()),
    "byte": _readable(_decode),
}
