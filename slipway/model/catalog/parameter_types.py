"""The types of templates' parameters: a row for each, with its values as people type them and as a template has them.

A version that lacks a row leaves out the templates that need it, and says so; it reads the rest of the catalog.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from slipway.base.formatting import unfit

Scalar = int | float | str | bool
Value = Scalar | tuple[Scalar, ...]
Typed = str | tuple[str, ...]
"""A value as somebody gave it: a text, or from Python and from a sweep's file the texts of a list."""
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class ParameterType:
    """A parameter's type."""

    python: type
    words: str
    #: Returns the value of a text as it was typed, of a list the texts of its items; None for a text of another type.
    read: Callable[[str], Value | None]
    #: A parameter of this type may have bounds.
    number: bool = False
    values: tuple[Scalar, ...] = ()
    #: The type of a list's items; None for a single value.
    item: ParameterType | None = None

    @property
    def name(self) -> str:
        return f"list[{self.item.name}]" if self.item else self.python.__name__


def _number(kind: type[int] | type[float]) -> Callable[[str], Scalar | None]:
    def read(text: str) -> Scalar | None:
        try:
            number = kind(text.strip())
        except ValueError:
            return None
        return None if unfit(number) else number

    return read


def _bool(text: str) -> bool | None:
    plain = text.strip().lower()
    return True if plain in _TRUE else False if plain in _FALSE else None


def _items(text: str) -> tuple[str, ...] | None:
    """Split `64,32`, or a JSON list. None for an empty item that is not in quotes: it is most often a slip."""
    if not text.lstrip().startswith("["):
        items = [item.strip() for item in text.split(",")]
        return tuple(items) if all(items) else None
    try:
        items = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return tuple(items) if all(isinstance(item, str) for item in items) else None


def listed(items: Sequence[str]) -> str:
    """Return the text that `_items` splits into these items: JSON where commas alone do not tell."""
    text = ",".join(items)
    return text if _items(text) == tuple(items) else json.dumps(items, ensure_ascii=False)


INT = ParameterType(int, "a whole number", _number(int), number=True)
FLOAT = ParameterType(float, "a number", _number(float), number=True)
STR = ParameterType(str, "a string", lambda text: None if unfit(text) or "\0" in text else text)
ROWS = (
    INT,
    FLOAT,
    STR,
    ParameterType(bool, "true or false", _bool, values=(False, True)),
    ParameterType(list[int], "a list of whole numbers, as 64,32", _items, number=True, item=INT),
    ParameterType(list[float], "a list of numbers, as 0.1,0.5", _items, number=True, item=FLOAT),
    ParameterType(list[str], "a list of strings, as a,b", _items, item=STR),
)
BY_NAME: Mapping[str, ParameterType] = {row.name: row for row in ROWS}
BY_PYTHON: Mapping[type, ParameterType] = {row.python: row for row in ROWS}
