"""Files of jobs that lists of patterns keep out of the packages, as the packing does with git's patterns. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from slipway.authoring.packages.working_tree import IGNORES

_PART = re.compile(r"(\*\*/|/\*\*$|\*|\?|\[[^]]+\]|\[|\\.)")
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True)
class _Pattern:
    """A line of a list."""

    path: re.Pattern[str]
    is_kept: bool

    def names(self, path: str) -> bool:
        """Return whether it names a file, or a folder that has the file."""
        return self.path.match(path) is not None


def left_out(texts: Mapping[str, str], paths: Iterable[str]) -> frozenset[str]:
    """Return the files that lists leave out.

    Args:
        texts: The texts of the lists by path, with any other files. A list outside of a job's folder is not read.
        paths: Paths of files, such as `jobs/lora/space.json`.
    """
    patterns: list[_Pattern] = []
    # A list of an inner folder is read later: the last pattern that names a file decides.
    for path in sorted(filter(_is_list, texts), key=len):
        patterns += _patterns(path.removesuffix(IGNORES), texts[path])
    found = set(paths)
    kept = set(found)
    for pattern in patterns:
        named = set(filter(pattern.names, found))
        kept -= named
        if pattern.is_kept:
            kept |= named
    return frozenset(found - kept)


def _is_list(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[0] == "jobs" and parts[-1] == IGNORES and len(parts) > 2


def _patterns(folder: str, text: str) -> Iterator[_Pattern]:
    for line in map(str.rstrip, text.splitlines()):
        if line and not line.startswith("#"):
            bare = line.removeprefix("!")
            yield _Pattern(_compiled(folder, bare), is_kept=bare != line)


@cache
def _compiled(folder: str, line: str) -> re.Pattern[str]:
    """Return the expression for a pattern of git in a folder's list, without a leading `!`."""
    body = line.rstrip("/")
    start = "" if "/" in body else "(?:.*/)?"
    end = "/" if line.endswith("/") else "(?:/|$)"
    parts = map(_meaning, _PART.split(body.removeprefix("/")))
    try:
        return re.compile(f"{re.escape(folder)}{start}{''.join(parts)}{end}")
    except re.error:
        return re.compile("(?!)")


def _meaning(part: str) -> str:
    if part.startswith("["):
        return part.replace("[!", "[^", 1)
    if part.startswith("\\"):
        return re.escape(part[1:])
    return _MEANING.get(part, re.escape(part))
