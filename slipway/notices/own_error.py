"""Slipway's own errors in what a run of the engine printed, which say what to do already. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_BEGINS = re.compile(r'^(?P<indent> *)error: (?:before hook "[^"]*" failed: )?(?P<what>\S.*)$')
_PART = re.compile(r"^  (?P<name>why|fix): (?P<text>.*)$")
_GOES_ON = " " * 7
"""As `SlipwayError` indents the lines of a part after its first; all of them stand where the engine has the error."""


@dataclass(frozen=True)
class OwnError:
    """As it was raised: of `why` and `fix` one may be empty, and both may have lines."""

    what: str
    why: str
    fix: str


def own_errors(text: str) -> tuple[OwnError, ...]:
    """Each once, in the order in which they stand. An error that says neither why nor what to do is not Slipway's."""
    return tuple(dict.fromkeys(error for error, _ in _read(text)))


def without_own_errors(text: str) -> tuple[str, ...]:
    """The other lines: what a reason quotes of the service has been dealt with by the error that it stands in."""
    lines = _plain_lines(text)
    own = {number for _, numbers in _read(text) for number in numbers}
    return tuple(line for number, line in enumerate(lines) if number not in own)


def _plain_lines(text: str) -> list[str]:
    return [_COLOR.sub("", line).rstrip("\r") for line in text.split("\n")]


def _read(text: str) -> Iterator[tuple[OwnError, range]]:
    """With the numbers of its lines."""
    lines = _plain_lines(text)
    for number, line in enumerate(lines):
        begins = _BEGINS.match(line)
        if begins is None:
            continue
        parts: dict[str, list[str]] = {}
        said: list[str] = []
        end = number + 1
        while end < len(lines) and lines[end].startswith(begins["indent"]):
            rest = lines[end].removeprefix(begins["indent"])
            if part := _PART.match(rest):
                said = parts.setdefault(part["name"], [])
                said.append(part["text"])
            elif parts and rest.startswith(_GOES_ON):
                said.append(rest.removeprefix(_GOES_ON))
            else:
                break
            end += 1
        if parts:
            why, fix = ("\n".join(parts.get(name, [])).strip() for name in ("why", "fix"))
            yield OwnError(begins["what"].strip(), why, fix), range(number, end)
