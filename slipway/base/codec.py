"""Frozen dataclasses as JSON objects and back: one definition that writer and reader share.

A field's key is its name in camelCase. A field without a default is required; null stands for the default. `write`
leaves None out, `document` writes it as null; `read` passes over unknown keys. `Annotated` marks a field's differences:
`KEY_OF_ENTRY`, `NOT_WRITTEN`, `MaybeText`, `At`, `Else`, `Form`, `Across`, `As`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, partial, reduce
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from slipway.base.formatting import unfit

T = TypeVar("T")
_SNAKE = re.compile(r"_([a-z0-9])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class MalformedError(ValueError):
    """A value of a wrong form. Each level that it passes on its way up adds to the place."""

    def __init__(self, description: str, place: str = "") -> None:
        super().__init__(description)
        self.description, self.place = description, place

    def under(self, part: str) -> MalformedError:
        """Return this error with `part`, a key or an index in brackets, in front of its place."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{part}{dot}{self.place}"
        return self

    def __str__(self) -> str:
        """Return `templates.x.offers[2].cluster is 'gpu', where a cluster of this catalog is expected`."""
        return f"{self.place} {self.description}".strip()


def malformed(value: Any, expected: str, place: str = "") -> MalformedError:
    """Return the error of `value`, or MISSING."""
    description = "is missing" if value is MISSING else f"is {value!r}"
    return MalformedError(f"{description}, where {expected} is expected", place)


KEY_OF_ENTRY = object()
"""The mark of a field that is the object's key in the mapping that holds it."""
NOT_WRITTEN = object()
"""The mark of a field outside the document; it has a default."""
_MAYBE = object()
MaybeText = Annotated[str, _MAYBE]
"""Text that may be empty, which in JSON is null, or a missing key."""
MaybeNumber = Annotated[int, _MAYBE]
"""A number that may be 0, which in JSON is null, or a missing key."""


def or_null(text: str) -> str | None:
    """Return a text as JSON has it: null for an empty one."""
    return text or None


def camel(name: str) -> str:
    """Return `worker_pool_specs` in JSON's spelling: `workerPoolSpecs`."""
    return _SNAKE.sub(lambda match: match[1].upper(), name)


@dataclass(frozen=True)
class At:
    """The key, where it is not the field's name; `disk.type` is the key `type` of the object under `disk`."""

    key: str


@dataclass(frozen=True)
class Else:
    """The value of a missing key or null, for a field without a default."""

    value: Any


@dataclass(frozen=True)
class Form:
    """A further condition on a value of the right type."""

    fits: Callable[[Any], bool]
    expected: str


@dataclass(frozen=True)
class Across:
    """A value from several keys of the object together."""

    read: Callable[[Mapping[str, Any]], Any]
    write: Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class As:
    """A value with a JSON form of its own. `read` raises LookupError, TypeError, ValueError or ArithmeticError for a
    value that is not `expected`."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    expected: str


@dataclass(frozen=True)
class _Reader:
    """A reader of a type's values; `expected` describes them."""

    read: Callable[[Any], Any]
    expected: str


@dataclass(frozen=True)
class _Field:
    """A dataclass's field with its marks resolved."""

    name: str
    #: The keys from the object down to the value.
    path: tuple[str, ...]
    #: MISSING for a required field.
    default: Any
    reader: _Reader
    across: Across | None
    own: As | None
    is_key: bool
    #: An empty value is null in JSON.
    maybe: bool


def from_json(content: str | bytes) -> Any:
    """Return foreign JSON as values. Half of a surrogate pair, which JSON can spell and nothing can write, becomes a
    question mark. Raises ValueError and RecursionError."""
    if isinstance(content, bytes):
        content = content.decode(json.detect_encoding(content), "surrogatepass")
    value = json.loads(content)
    # Each is looked for alone, since a text is searched several times as fast for a pattern that begins with a letter.
    if not _ESCAPED_SURROGATE.search(content) and (content.isascii() or not _SURROGATE.search(content)):
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def read(kind: type[T], body: Any, key: str = "") -> T:
    """Read a `kind` from parsed JSON. `key` is its own in the object around it. Raises MalformedError."""
    if not isinstance(body, Mapping):
        raise malformed(body, "an object")
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if field.is_key:
            values[field.name] = field.reader.read(key)
        elif field.across:
            values[field.name] = field.across.read(body)
        # Null stands for the default; a field without one has its reader refuse null.
        elif (value := _find(body, field.path)) is not MISSING and (value is not None or field.default is MISSING):
            values[field.name] = _under(".".join(field.path), field.reader.read, value)
        elif field.default is not MISSING:
            values[field.name] = field.default
        else:
            raise malformed(MISSING, field.reader.expected, ".".join(field.path))
    return kind(**values)


def write(value: Any) -> dict[str, Any]:
    """Return the JSON of a dataclass that `read` reads."""
    return _object(value, document=False)


def given(**body: Any) -> dict[str, Any]:
    """Return the keys that have a value, as bodies of requests and facts leave out the others."""
    return {key: value for key, value in body.items() if value}


def document(value: Any) -> Any:
    """Return the JSON of a value for other programs. Objects have every key: null for unknown values."""
    return _json(value, document=True)


def _object(value: Any, *, document: bool) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for field in _fields(type(value)):
        held = getattr(value, field.name)
        if field.maybe and not held:
            held = None
        if field.across:
            body |= field.across.write(held)
        elif document or not (held is None or field.is_key):
            inner = body
            for key in field.path[:-1]:
                inner = inner.setdefault(key, {})
            own = field.own if held is not None else None
            inner[field.path[-1]] = own.write(held) if own else _json(held, document=document)
    return body


def _json(value: Any, *, document: bool) -> Any:
    kind = type(value)
    if kind in _PLAIN:  # Nearly all are: each of the tests below takes longer than the rest.
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: _json(item, document=document) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_json(item, document=document) for item in value]
    if is_dataclass(value):
        return _object(value, document=document)
    if isinstance(value, Enum):
        return _word(value)
    return value.isoformat() if isinstance(value, datetime) else value


_PLAIN = frozenset({str, int, float, bool, NoneType})


def _word(value: Enum) -> str:
    return value.value if isinstance(value.value, str) else value.name.lower()


def _under(part: str, read: Callable[[Any], Any], value: Any) -> Any:
    """Read a value at `part`, which becomes part of an error's place."""
    try:
        return read(value)
    except MalformedError as error:
        raise error.under(part) from None


def _find(body: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = body
    for depth, key in enumerate(path):
        if not isinstance(value, Mapping):
            raise malformed(value, "an object", ".".join(path[:depth]))
        value = value.get(key, MISSING)
        if value is MISSING:
            break
    return value


def _resolved(kind: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(kind, include_extras=True)
    resolved = []
    for field in fields(kind):
        hint = hints[field.name]
        marks = hint.__metadata__ if get_origin(hint) is Annotated else ()
        if NOT_WRITTEN in marks:
            continue
        of = {type(mark): mark for mark in marks}
        key = of[At].key if At in of else camel(field.name)
        across, own = of.get(Across), of.get(As)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        reader = _ANYTHING if across else _own(own) if own else _reader(hint)
        resolved.append(
            _Field(
                name=field.name,
                path=tuple(key.split(".")),
                default=of[Else].value if Else in of else default,
                reader=reader,
                across=across,
                own=own,
                is_key=KEY_OF_ENTRY in marks,
                maybe=_MAYBE in marks,
            )
        )
    return tuple(resolved)


_fields: Callable[[Any], tuple[_Field, ...]] = cache(_resolved)


def _reader(hint: Any) -> _Reader:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        forms = [argument for argument in arguments[1:] if isinstance(argument, Form)]
        return reduce(_formed, forms, _reader(arguments[0]))
    if origin in (Union, UnionType):
        return _reader_of_union(arguments)
    if origin is Literal:
        return _formed(_plain((str,), "a string"), Form(arguments.__contains__, one_of(arguments)))
    if origin is tuple:
        return _list(_reader(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments[1])
    if hint is Any:
        return _ANYTHING
    if hint in _WORDS:
        return _plain((hint,), _WORDS[hint])
    return _reader_of_class(hint)


def _reader_of_union(hints: tuple[Any, ...]) -> _Reader:
    kinds = tuple(hint for hint in hints if hint is not NoneType)
    if len(kinds) < len(hints):
        return _or_null(_reader(kinds[0]) if len(kinds) == 1 else _reader_of_union(kinds))
    lists = [_reader(hint) for hint in kinds if get_origin(hint) is tuple]
    single = _plain(tuple(hint for hint in kinds if get_origin(hint) is None), "a value")
    return _Reader(lambda value: (lists[0] if lists and isinstance(value, list) else single).read(value), "a value")


def _reader_of_class(kind: type) -> _Reader:
    if issubclass(kind, Enum):
        words = {_word(member): member for member in kind}
        return _own(As(words.__getitem__, _word, one_of(words)))
    if issubclass(kind, str):
        return _own(As(getattr(kind, "read", kind), str, "a string"))
    return _Reader(lambda value: read(kind, value), "an object")  # The only other hints are dataclasses.


_ANYTHING = _Reader(lambda value: value, "a value")
_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def one_of(names: Iterable[str]) -> str:
    """Return `one of a, b, c`."""
    return f"one of {', '.join(names)}"


def _plain(kinds: tuple[type, ...], expected: str) -> _Reader:
    """Return the reader of JSON's own types: a whole number is a number too, and true is neither."""
    allowed = (*kinds, int) if float in kinds else kinds

    def read_plain(value: Any) -> Any:
        if type(value) not in allowed or (isinstance(value, int) and unfit(value)):
            raise malformed(value, expected)
        return value

    return _Reader(read_plain, expected)


def _or_null(inner: _Reader) -> _Reader:
    """Return the reader of a value that null may stand for."""
    return _Reader(lambda value: None if value is None else inner.read(value), inner.expected)


def _own(form: As) -> _Reader:
    def read_own(value: Any) -> Any:
        try:
            return form.read(value)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise malformed(value, form.expected) from None

    return _Reader(read_own, form.expected)


def _formed(inner: _Reader, form: Form) -> _Reader:
    def read_formed(value: Any) -> Any:
        content = inner.read(value)
        if not form.fits(content):
            raise malformed(value, form.expected)
        return content

    return _Reader(read_formed, inner.expected)


def _list(inner: _Reader) -> _Reader:
    def read_list(value: Any) -> Any:
        if not isinstance(value, list):
            raise malformed(value, "a list")
        return tuple(_under(f"[{index}]", inner.read, item) for index, item in enumerate(value))

    return _Reader(read_list, "a list")


def _mapping(held: Any) -> _Reader:
    """Return the reader of a mapping by text. An object that has a field for its key is given it."""
    inner, is_object = _reader(held), is_dataclass(held)

    def read_mapping(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise malformed(value, "an object")
        return {
            key: _under(key, partial(read, held, key=key) if is_object else inner.read, item)
            for key, item in value.items()
        }

    return _Reader(read_mapping, "an object")
