"""Frozen dataclasses as JSON objects and back: one definition that writer and reader share.

A field's key is its name in camelCase. One without a default must be there, and null stands for a default. What is
None is not written; keys that are not known are passed over. What differs from that is said where the field is
defined, by `Annotated`: `KEY_OF_ENTRY`, `NOT_WRITTEN`, `At`, `Else`, `Form`, `Across`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial, reduce
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from slipway.recorded_parameters import unfit

T = TypeVar("T")


class MalformedError(ValueError):
    """A value that does not belong where it is. Each level that it passes on its way up adds to the place."""

    def __init__(self, said: str, place: str = "") -> None:
        super().__init__(said)
        self.said, self.place = said, place

    def under(self, part: str) -> MalformedError:
        """The same, `part` (a key, or an index in brackets) further up."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{part}{dot}{self.place}"
        return self

    def __str__(self) -> str:
        """`templates.x.offers[2].cluster is 'gpu', where a cluster of this catalog is expected`"""
        return f"{self.place} {self.said}".strip()


def malformed(value: Any, expected: str, place: str = "") -> MalformedError:
    """`value` is what is there, or MISSING."""
    found = "is missing" if value is MISSING else f"is {value!r}"
    return MalformedError(f"{found}, where {expected} is expected", place)


KEY_OF_ENTRY = object()
"""The field is the object's key in the mapping that holds it."""
NOT_WRITTEN = object()
"""The field is not part of the document; it has a default."""


@dataclass(frozen=True)
class At:
    """The key, where it is not the field's name; `disk.type` is the key `type` of the object under `disk`."""

    key: str


@dataclass(frozen=True)
class Else:
    """What a missing key or null means, for a field without a default."""

    value: Any


@dataclass(frozen=True)
class Form:
    """What a value of the right type must be besides."""

    fits: Callable[[Any], bool]
    expected: str


@dataclass(frozen=True)
class Across:
    """A value that several keys of the object give together."""

    read: Callable[[Mapping[str, Any]], Any]
    write: Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class _Codec:
    """How values of a type are read and written; `expected` says in words what is read."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    expected: str


@dataclass(frozen=True)
class _Field:
    name: str
    path: tuple[str, ...]
    default: Any
    codec: _Codec
    across: Across | None
    is_key: bool


def read(kind: type[T], body: Any, key: str = "") -> T:
    """A `kind` from JSON that is parsed already. `key` is its own in the object around it. Raises MalformedError."""
    if not isinstance(body, Mapping):
        raise malformed(body, "an object")
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if field.is_key:
            values[field.name] = field.codec.read(key)
        elif field.across:
            values[field.name] = field.across.read(body)
        elif (found := _find(body, field.path)) is not MISSING and (found is not None or field.default is MISSING):
            values[field.name] = _under(".".join(field.path), field.codec.read, found)
        elif field.default is not MISSING:
            values[field.name] = field.default
        else:
            raise malformed(MISSING, field.codec.expected, ".".join(field.path))
    return kind(**values)


def write(value: Any) -> dict[str, Any]:
    """The JSON of a dataclass that `read` reads."""
    body: dict[str, Any] = {}
    for field in _fields(type(value)):
        held = getattr(value, field.name)
        if field.across:
            body |= field.across.write(held)
        elif held is not None and not field.is_key:
            inner = body
            for key in field.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[field.path[-1]] = field.codec.write(held)
    return body


def _under(part: str, read: Callable[[Any], Any], value: Any) -> Any:
    """What `read` makes of a value that is at `part`, which is in the place of what is wrong with it."""
    try:
        return read(value)
    except MalformedError as error:
        raise error.under(part) from None


def _find(body: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = body
    for depth, key in enumerate(path):
        if not isinstance(found, Mapping):
            raise malformed(found, "an object", ".".join(path[:depth]))
        found = found.get(key, MISSING)
        if found is MISSING:
            break
    return found


def _resolved(kind: Any) -> tuple[_Field, ...]:
    hints, found = get_type_hints(kind, include_extras=True), []
    for field in fields(kind):
        hint = hints[field.name]
        told = hint.__metadata__ if get_origin(hint) is Annotated else ()
        if NOT_WRITTEN in told:
            continue
        key = next((one.key for one in told if isinstance(one, At)), _camel(field.name))
        across = next((one for one in told if isinstance(one, Across)), None)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        default = next((one.value for one in told if isinstance(one, Else)), default)
        codec = _ANYTHING if across else _codec(hint)
        found.append(_Field(field.name, tuple(key.split(".")), default, codec, across, KEY_OF_ENTRY in told))
    return tuple(found)


_fields: Callable[[Any], tuple[_Field, ...]] = cache(_resolved)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _codec(hint: Any) -> _Codec:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        forms = [one for one in arguments[1:] if isinstance(one, Form)]
        return reduce(_formed, forms, _codec(arguments[0]))
    if origin in (Union, UnionType):
        kinds = tuple(one for one in arguments if one is not NoneType)
        return _codec(kinds[0]) if len(kinds) == 1 else _plain(kinds, "a value")
    if origin is Literal:
        return _formed(_plain((str,), "a string"), Form(arguments.__contains__, one_of(arguments)))
    if origin is tuple:
        return _list(_codec(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(arguments[1])
    if hint is Any:
        return _ANYTHING
    if hint in _WORDS:
        return _plain((hint,), _WORDS[hint])
    return _Codec(lambda value: read(hint, value), write, "an object")


_ANYTHING = _Codec(lambda value: value, lambda value: value, "a value")
_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def one_of(names: Iterable[str]) -> str:
    """`one of a, b, c`"""
    return f"one of {', '.join(names)}"


def _plain(kinds: tuple[type, ...], expected: str) -> _Codec:
    """JSON's own types: a whole number is a number too, and true is neither."""
    allowed = (*kinds, int) if float in kinds else kinds

    def read_plain(value: Any) -> Any:
        if type(value) not in allowed or (isinstance(value, int) and unfit(value)):
            raise malformed(value, expected)
        return value

    return _Codec(read_plain, lambda value: value, expected)


def _formed(inner: _Codec, form: Form) -> _Codec:
    def read_formed(value: Any) -> Any:
        found = inner.read(value)
        if not form.fits(found):
            raise malformed(value, form.expected)
        return found

    return _Codec(read_formed, inner.write, form.expected)


def _list(inner: _Codec) -> _Codec:
    def read_list(value: Any) -> Any:
        if not isinstance(value, list):
            raise malformed(value, "a list")
        return tuple(_under(f"[{index}]", inner.read, one) for index, one in enumerate(value))

    return _Codec(read_list, lambda values: [inner.write(one) for one in values], "a list")


def _mapping(held: Any) -> _Codec:
    """Of anything, by text. An object that has a field for its key is told it."""
    inner, is_object = _codec(held), is_dataclass(held)

    def read_mapping(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise malformed(value, "an object")
        return {
            key: _under(key, partial(read, held, key=key) if is_object else inner.read, one)
            for key, one in value.items()
        }

    return _Codec(read_mapping, lambda values: {key: inner.write(one) for key, one in values.items()}, "an object")
