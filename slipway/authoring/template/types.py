"""Type checks of a template file's values, which nothing else checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from slipway.base.formatting import join, unfit

_VALUES = {str: "a string", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}
_WORDS = {**_VALUES, tuple: "a tuple", Mapping: "a dict"}
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def mistyped(value: Any, hint: Any, place: str = "", owner: str = "") -> Iterator[str]:
    """Yield values of another type than declared, with their places: `parameters.help of trees: 5 is no string`."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    fitting = next((choice for choice in choices if _is(value, choice)), None)
    where = f"{place} of {owner}" if owner else place
    if fitting is None:
        yield f"{where}: {value!r} is not {join((word for choice in choices for word in _words(choice)), 'or')}"
    elif isinstance(value, str):
        if wrong := unfit(value) or "has a null character, which no argument can" * ("\0" in value):
            yield f"{where}: {value!r} {wrong}"
    elif isinstance(value, tuple):
        for item in value:
            yield from mistyped(item, get_args(fitting)[0], place, owner)
    elif isinstance(value, Mapping):
        key_hint, value_hint = get_args(fitting)
        for key, item in value.items():
            yield from mistyped(key, key_hint, place, owner)
            yield from mistyped(item, value_hint, place, owner)
    elif is_dataclass(fitting):
        name = getattr(value, "name", getattr(value, "role", owner)) if place else ""
        for field in fields(value):
            inner_place = f"{place}.{field.name}" if place else field.name
            yield from mistyped(getattr(value, field.name), _hints(type(value))[field.name], inner_place, str(name))


def _is(value: Any, hint: Any) -> bool:
    """Tell whether the value itself is of the type; its contents are checked later."""
    if hint in _VALUES:
        return type(value) is hint or (hint is float and type(value) is int)
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint)
    # `type[int]` is a parameter's own type, which the parameter checks itself.
    return origin is type or isinstance(value, origin or hint)


def _words(hint: Any) -> tuple[str, ...]:
    origin = get_origin(hint)
    if origin is Literal:
        return tuple(map(repr, get_args(hint)))
    return (_WORDS.get(origin or hint) or hint.__name__,)
