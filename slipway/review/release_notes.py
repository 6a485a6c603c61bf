"""Notes of the releases between two versions, cut from a changelog that may be another version's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.formatting import short

FILE = "slipway/CHANGELOG.md"
"""The changelog's path in a wheel."""
_HEADING = re.compile(r"## \[?v?(\d+(?:\.\d+)*)\]?")
_LONGEST, _MOST = 300, 60


def between(text: str, older: str, newer: str) -> tuple[str, ...]:
    """Return the notes after `older`, up to `newer`, a line for each point of a list."""
    low, high = _number(older), _number(newer)
    found = list(_points(text, low, high)) if low and high else []
    more = len(found) - _MOST
    return (*found[:_MOST], f"and {more} more, in its CHANGELOG.md") if more > 0 else tuple(found)


def _points(text: str, low: tuple[int, ...], high: tuple[int, ...]) -> Iterator[str]:
    version, kind, point = "", "", ""

    def told() -> Iterator[str]:
        if point and version and low < _number(version) <= high:
            yield short(f"{version} {kind}: {point}", _LONGEST)

    for line in text.splitlines():
        if line.startswith("  ") and point:
            point += f" {line.strip()}"
            continue
        yield from told()
        point = line[2:].strip() if line.startswith("- ") else ""
        if line.startswith("## "):
            heading = _HEADING.match(line)
            version, kind = heading[1] if heading else "", ""
        elif line.startswith("### "):
            kind = line[4:].strip().lower()
    yield from told()


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) if re.fullmatch(r"\d{1,9}(\.\d{1,9})*", version) else ()
