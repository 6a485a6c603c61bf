"""Slipway's own errors in what a run of the engine printed, which say what to do already. Pure."""

from __future__ import annotations

import re

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_BEGINS = re.compile(r'^(?P<indent> *)error: (?:before hook "[^"]*" failed: )?(?P<what>\S.*)$')
_PART = re.compile(r"^  (?P<name>why|fix): (?P<text>.*)$")
_GOES_ON = " " * 7
"""As `SlipwayError` indents the lines of a part after its first; all of them stand where the engine has the error."""


def split(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return each error once as what happened, why and the fix, and the lines that are of none: the service's words
    within an error's reason have been dealt with. An error that says neither why nor what to do is not Slipway's."""
    lines = [_COLOR.sub("", line).rstrip("\r") for line in text.split("\n")]
    own, others, number = dict[tuple[str, str, str], None](), list[str](), 0
    while number < len(lines):
        begins, end = _BEGINS.match(lines[number]), number + 1
        parts: dict[str, list[str]] = {}
        said: list[str] = []
        while begins and end < len(lines) and lines[end].startswith(begins["indent"]):
            rest = lines[end].removeprefix(begins["indent"])
            if part := _PART.match(rest):
                said = parts.setdefault(part["name"], [])
                said.append(part["text"])
            elif parts and rest.startswith(_GOES_ON):
                said.append(rest.removeprefix(_GOES_ON))
            else:
                break
            end += 1
        if begins and parts:
            why, fix = ("\n".join(parts.get(name, [])).strip() for name in ("why", "fix"))
            own[begins["what"].strip(), why, fix] = None
            number = end
        else:
            others.append(lines[number])
            number += 1
    return list(own), others
