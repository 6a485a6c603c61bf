"""Files of jobs that lists of patterns keep out of the packages, as the packing does with git's patterns. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from slipway.authoring.packages.working_tree import IGNORES

_PART = re.compile(r"(\*\*/|/\*\*$|\*|\?|\[[^]]+\]|\\.)")
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True)
class _Pattern:
    """A line of a list."""

    #: The list's own folder, `jobs/lora/`.
    folder: str
    path: re.Pattern[str]
    is_kept: bool

    def names(self, path: str) -> bool:
        """Return whether it names a file, or a folder that has the file."""
        return path.startswith(self.folder) and self.path.match(path[len(self.folder) :]) is not None


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
    found = set()
    for path in paths if patterns else ():
        deciding = [pattern for pattern in patterns if pattern.names(path)]
        if deciding and not deciding[-1].is_kept:
            found.add(path)
    return frozenset(found)


def _is_list(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[0] == "jobs" and parts[-1] == IGNORES and len(parts) > 2


def _patterns(folder: str, text: str) -> Iterator[_Pattern]:
    for line in map(str.rstrip, text.splitlines()):
        if line and not line.startswith("#"):
            bare = line.removeprefix("!")
            yield _Pattern(folder, _compiled(bare), is_kept=bare != line)


@cache
def _compiled(line: str) -> re.Pattern[str]:
    """Return the expression for a pattern of git, without a leading `!`."""
    body = line.rstrip("/")
    start = "" if "/" in body else "(?:.*/)?"
    end = "/" if line.endswith("/") else "(?:/|$)"
    parts = [_meaning(part) for part in _PART.split(body.removeprefix("/"))]
    try:
        return re.compile(f"{start}{''.join(parts)}{end}")
    except re.error:
        return re.compile("(?!)")


def _meaning(part: str) -> str:
    if part.startswith("[") and part.endswith("]"):
        return part.replace("[!", "[^", 1)
    if part.startswith("\\"):
        return re.escape(part[1:])
    return _MEANING.get(part, re.escape(part))
