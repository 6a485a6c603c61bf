"""Documents of JSON, with any one of their values exchanged."""

import copy
from collections.abc import Iterator
from typing import Any


def places(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of everything in a document, that of the whole, (), first."""
    yield at
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield from places(value, (*at, key))


def with_value(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value at a path, with what leads there."""
    if not at:
        return value
    changed = copy.copy(document)
    inner = document.get(at[0], {}) if isinstance(document, dict) else document[at[0]]
    changed[at[0]] = with_value(inner, at[1:], value)
    return changed
