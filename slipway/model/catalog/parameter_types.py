"""The types of templates' parameters: a row for each, with its values as people type them and as a template has them.

A version that lacks a row leaves out the templates that need it, and says so; it reads the rest of the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slipway.base.formatting import unfit

Scalar = int | float | str | bool
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class ParameterType:
    """A parameter's type."""

    python: type
    words: str
    #: Returns the value of a text as it was typed; None for a text of another type.
    read: Callable[[str], Scalar | None]
    #: A parameter of this type may have bounds.
    number: bool = False
    values: tuple[Scalar, ...] = ()

    @property
    def name(self) -> str:
        return self.python.__name__


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


STR = ParameterType(str, "a string", lambda text: None if unfit(text) or "\0" in text else text)
ROWS = (
    ParameterType(int, "a whole number", _number(int), number=True),
    ParameterType(float, "a number", _number(float), number=True),
    STR,
    ParameterType(bool, "true or false", _bool, values=(False, True)),
)
BY_NAME: Mapping[str, ParameterType] = {row.name: row for row in ROWS}
BY_PYTHON: Mapping[type, ParameterType] = {row.python: row for row in ROWS}
