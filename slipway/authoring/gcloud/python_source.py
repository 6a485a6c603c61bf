"""A template as the Python of its file: the same template gives the same text, in the repository's format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from slipway.authoring.template.job_template import JobTemplate

_WIDTH = 120


def python_source(template: JobTemplate) -> str:
    """Return the file `templates/NAME.py`. Fields at their default are left out."""
    body = _text(template, 0, "TEMPLATE = ", explode=True)
    used = sorted(_classes(template))
    imports = f"from slipway.template import {', '.join(used)}"
    if len(imports) > _WIDTH:
        imports = "\n".join(("from slipway.template import (", *(f"    {name}," for name in used), ")"))
    doc = " ".join(f"{template.name}: {template.summary}".split()).replace("\\", "/").replace('"', "'")
    return f'"""{doc}"""\n\n{imports}\n\nTEMPLATE = {body}\n'


def _classes(value: Any) -> set[str]:
    if is_dataclass(value):
        return {type(value).__name__}.union(*(_classes(item) for _, item in _given(value)))
    if isinstance(value, Mapping):
        return set().union(*map(_classes, value.values()))
    return set().union(*map(_classes, value)) if isinstance(value, tuple) else set()


def _given(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, given) for field in fields(value) if (given := getattr(value, field.name)) != _default(field)]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _text(value: Any, indent: int, before: str, *, explode: bool = False) -> str:
    """Return `value` behind `before` on its line where it fits, else one part a line; of a text, a line a line."""
    if isinstance(value, str):
        return _lines(value, indent, before)
    if not isinstance(value, tuple | Mapping) and not is_dataclass(value):
        return repr(value)
    opening, parts, closing = _parts(value)
    joined = ", ".join(f"{key}{_text(part, 0, '')}" for key, part in parts)
    line = f"{opening}{joined}{',' if isinstance(value, tuple) and len(parts) == 1 else ''}{closing}"
    # A comma may follow on the line.
    if not explode and "\n" not in line and indent + len(before) + len(line) + 1 <= _WIDTH:
        return line
    if not parts:
        return line
    inner = " " * (indent + 4)
    lines = [f"{inner}{key}{_text(part, indent + 4, key)}," for key, part in parts]
    return "\n".join((opening, *lines, f"{' ' * indent}{closing}"))


def _lines(text: str, indent: int, before: str) -> str:
    quoted, lines = _string(text), text.splitlines(keepends=True)
    if len(lines) < 2 or indent + len(before) + len(quoted) + 1 <= _WIDTH:
        return quoted
    inner = " " * (indent + 4)
    return "\n".join(("(", *(f"{inner}{_string(line)}" for line in lines), f"{' ' * indent})"))


def _parts(value: Any) -> tuple[str, list[tuple[str, Any]], str]:
    if isinstance(value, Mapping):
        return "{", [(f"{_string(key)}: ", item) for key, item in value.items()], "}"
    if isinstance(value, tuple):
        return "(", [("", item) for item in value], ")"
    return f"{type(value).__name__}(", [(f"{name}=", item) for name, item in _given(value)], ")"


def _string(text: str) -> str:
    """Quote as the formatter does: in double quotes, unless that needs more backslashes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    shown = "".join(each if each.isprintable() and each != "\\" else repr(each)[1:-1] for each in text)
    return quote + shown.replace(quote, f"\\{quote}") + quote
