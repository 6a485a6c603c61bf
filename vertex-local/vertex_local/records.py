"""Records as JSON and back: frozen dataclasses, and bodies as an API has them."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

R = TypeVar("R")
Read = Callable[[Any], Any]


def document(record: Any) -> dict[str, Any]:
    """Return a record as JSON takes it."""
    return record if isinstance(record, dict) else asdict(record)


def read(record: type[R], body: Mapping[str, Any]) -> R:
    """Return a record from its document, with the records inside of it."""
    of: Any = record
    inside = _inside(of)
    return record(**{name: inside[name](value) if name in inside else value for name, value in body.items()})


@cache
def _inside(record: type[Any]) -> Mapping[str, Read]:
    """Return how fields are read whose values JSON keeps as something else."""
    readers = {name: _reader(hint) for name, hint in get_type_hints(record).items()}
    return {name: reader for name, reader in readers.items() if reader is not None}


def _reader(hint: Any) -> Read | None:
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(read, hint)
    options = get_args(hint)
    if get_origin(hint) is tuple:
        each = _reader(options[0])
        return tuple if each is None else lambda items: tuple(map(each, items))
    if get_origin(hint) is Mapping:
        value_of = _reader(options[1])
        return value_of and (lambda items: {name: value_of(value) for name, value in items.items()})
    if NoneType in options:
        one = next((reader for option in options if (reader := _reader(option))), None)
        return None if one is None else lambda value: None if value is None else one(value)
    return None
