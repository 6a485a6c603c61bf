"""A template's parameter: one value that a submission may set."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

Value = int | float | str | bool

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class Parameter:
    """One value that a submission may set. Without `default` it is required.

    `type`: int, float, str or bool. `min` and `max` are inclusive and for numbers. `choices`, if any, are all it may
    be.
    """

    name: str
    type: type[int] | type[float] | type[str] | type[bool]
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Value, ...] = ()
    help: str = ""

    def problems(self) -> Iterable[str]:
        if not _NAME.fullmatch(self.name):
            yield "the name must be lowercase letters, digits and _, beginning with a letter"
        if self.type not in (int, float, str, bool):
            yield f"type must be int, float, str or bool, not {self.type!r}"
            return
        if self.type in (str, bool) and (self.min is not None or self.max is not None):
            yield f"min and max are for numbers, not for {self.type.__name__}"
        if self.min is not None and self.max is not None and self.min > self.max:
            yield f"min {self.min:g} is above max {self.max:g}"
        values = [("default", self.default)] if self.default is not None else []
        for where, value in [*values, *(("choice", choice) for choice in self.choices)]:
            wrong = self.refusal(value)
            if wrong:
                yield f"{where} {value!r} {wrong}"

    def refusal(self, value: object) -> str:
        """Why `value` is not allowed, or an empty string."""
        if not (type(value) is self.type or (self.type is float and type(value) is int)):
            return f"is not of type {self.type.__name__}"
        if isinstance(value, float) and not math.isfinite(value):
            return "is not finite"
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.min is not None and value < self.min:
                return f"is below min {self.min:g}"
            if self.max is not None and value > self.max:
                return f"is above max {self.max:g}"
        if self.choices and value not in self.choices:
            return "is none of the choices " + ", ".join(map(str, self.choices))
        return ""

    @property
    def finite(self) -> tuple[Value, ...]:
        """All values it may have, when they can be listed."""
        return (False, True) if self.type is bool else self.choices

    @property
    def usual(self) -> Value:
        """The default, else something allowed."""
        if self.default is not None:
            return self.default
        if self.choices:
            return self.choices[0]
        if self.type in (int, float):
            return self.type(next((bound for bound in (self.min, self.max) if bound is not None), 1))
        return self.type()
