"""The right place of a key that stands in a wrong one, found among all places that a file's types have."""

from __future__ import annotations

from collections.abc import Iterable

from slipway.authoring.stack.yaml_file import KeyPath, dotted
from slipway.base.codec import camel
from slipway.base.formatting import join, nearest

ITEM, ENTRY = 0, "NAME"
"""Any item of a list, and any key of a mapping by name, in a place."""


def right_place(path: KeyPath, places: Iterable[KeyPath], known: Iterable[str] = ()) -> str | None:
    """Return the places that are nearest to the key at `path`, as people read them: those that leave the fewest
    mappings, and enter the fewest. None where no place has that key, too many have it, or it is more likely
    a misspelling of one of the keys `known` beside it."""
    name = camel(str(path[-1]))
    found: dict[tuple[int, int], list[str]] = {}
    for place in places:
        if place[-1] == name:
            around, below = _around(path[:-1], place)
            left = len(path) - 1 - len(around)
            if left and ENTRY in below:
                continue  # Another thing than the one around the key.
            found.setdefault((left, len(below)), []).append(dotted((*around, *below)))
    if not found or (min(found)[0] and nearest(name, known, cutoff=0.8)):
        return None
    texts = list(dict.fromkeys(found[min(found)]))
    return join(texts, "or") if len(texts) <= 2 else None


def _around(path: KeyPath, place: KeyPath) -> tuple[KeyPath, KeyPath]:
    """Return the beginning of a path that leads to a place, and the rest of the place."""
    taken = entered = 0
    for part in place[:-1]:
        here = path[taken] if taken < len(path) else None
        # A list's only item needs no list.
        if part != ITEM or isinstance(here, int):
            if here is None or (part not in (ITEM, ENTRY) and camel(str(here)) != part):
                break
            taken += 1
        entered += 1
    return path[:taken], place[entered:]
