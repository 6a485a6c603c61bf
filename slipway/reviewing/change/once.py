"""Values of a change that several rules need: each is computed once, at its first reading."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

From = TypeVar("From")
Found = TypeVar("Found")


def once(compute: Callable[[From], Found]) -> Callable[[From], Found]:
    """Keep a function's value with the immutable object that it is of, as `cached_property` does for a method. What is
    made by `replace` begins anew."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def known(of: From) -> Found:
        values = vars(of)
        if key not in values:
            values[key] = compute(of)
        value: Found = values[key]
        return value

    return known
