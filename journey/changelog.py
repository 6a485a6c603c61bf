"""The changelog, in the form of keepachangelog.com: its entries, and the notes of a version. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from slipway.base.errors import ConfigError

FILE = "CHANGELOG.md"
UNRELEASED = "Unreleased"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
_HEADING = re.compile(rf"## \[({UNRELEASED}|\d+\.\d+\.\d+)\](?: - (\S+))?")

_OF_THE_SOURCES = re.compile(r"\[([^\]]+)\]\((?!\w+:)([^)#]+)[^)]*\)")
"""A link to a file beside the changelog."""


@dataclass(frozen=True)
class Entry:
    """A version, or "Unreleased", which has no date; `text` is everything below its heading."""

    version: str
    released: date | None
    text: str

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))


def read(text: str) -> tuple[Entry, ...]:
    """Return the entries, "Unreleased" and then the newest first. Raises ConfigError with the number of a malformed
    line."""
    title, *lines = text.splitlines() or [""]
    if title != "# Changelog":
        raise _wrong(1, title, "`# Changelog`")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    entries = [_entry(lines, start, end) for start, end in pairwise([*starts, len(lines)])]
    if not entries or entries[0].version != UNRELEASED:
        raise _wrong((starts or [0])[0] + 2, entries[0].version if entries else "", f"`## [{UNRELEASED}]` at the top")
    for start, (newer, older) in zip(starts[2:], pairwise(entries[1:]), strict=True):
        if not (newer.released and older.released and newer.number > older.number and newer.released >= older.released):
            raise _wrong(start + 2, older.version, f"a version and date before those of {newer.version}")
    return tuple(entries)


def notes(entries: Sequence[Entry], version: str) -> str:
    """Return the notes of a version, which must be the newest, with nothing left under "Unreleased"; files of the
    sources are named, not linked."""
    unreleased, *numbered = entries
    newest = numbered[0].version if numbered else "nothing"
    if newest != version:
        what, fix = f"{FILE} has {newest} as its newest version, not {version}", f"rename `[{UNRELEASED}]`"
        raise ConfigError(what, fix=f"{fix} to `[{version}] - {'YYYY-MM-DD'}`, put an empty one above, and commit")
    if unreleased.text:
        raise ConfigError(f"{FILE} has changes that are in no version", fix=f"move what is below `[{UNRELEASED}]`")
    # The page of a release is elsewhere than its files, so a link to one would lead nowhere.
    return _OF_THE_SOURCES.sub(lambda one: one[1] if one[1] == one[2] else f"{one[1]} ({one[2]})", numbered[0].text)


def _entry(lines: Sequence[str], start: int, end: int) -> Entry:
    heading = _HEADING.fullmatch(lines[start])
    if not heading or (heading[1] == UNRELEASED) is not (heading[2] is None):
        raise _wrong(start + 2, lines[start], "`## [1.2.3] - YYYY-MM-DD`")
    try:
        released = date.fromisoformat(heading[2]) if heading[2] else None
    except ValueError:
        raise _wrong(start + 2, lines[start], "a date, YYYY-MM-DD") from None
    kind = ""
    for number, line in enumerate(lines[start + 1 : end], start + 1):
        if line.startswith("#"):
            kind = line.removeprefix("### ")
            if kind not in KINDS:
                raise _wrong(number + 2, line, "one of " + ", ".join(f"`### {one}`" for one in KINDS))
        elif line and not (kind and line.startswith(("- ", "  "))):
            raise _wrong(number + 2, line, "a line of a list below its kind of change: `- …`")
    return Entry(heading[1], released, "\n".join(lines[start + 1 : end]).strip())


def _wrong(line: int, found: str, wanted: str) -> ConfigError:
    return ConfigError(f"{FILE}:{line} is {found!r}", why=f"expected {wanted}", fix="see https://keepachangelog.com")
