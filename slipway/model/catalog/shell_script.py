"""A text that a command hands to a shell, and the values of parameters in it: each stays one word for the shell, too,
wherever it stands, in quotes or not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from slipway.model.catalog.parameter_types import Typed
from slipway.model.catalog.placeholders import joined

# `${name}` within single quotes is for a shell that the command itself starts.
NAME = r"[A-Za-z_]\w*(?:[.-]\w+)*"
FREE = re.compile(rf"\{{\{{({NAME})\}}\}}|(?<!\$)\{{({NAME})\}}")
_SHELLS = frozenset({"bash", "dash", "ksh", "sh", "zsh"})
_ENDS = {"'": "'", '"': '"', "`": "`", "(": ")"}
"""The end of each part of a script that has quotes of its own, or none."""
_QUOTES = ("'", '"')
_APART = (" ", "\t", "\n", ";", "&", "|", "(", ")", "")


class _Place(NamedTuple):
    """A place in a shell's script."""

    #: The first characters of the parts that are open there, the innermost last: each is one of `_ENDS`.
    opened: tuple[str, ...]
    #: Where the part begins that has the place and is in no quotes.
    start: int
    #: Where the word begins that has the place.
    word: int

    @property
    def quote(self) -> str:
        """The quote in which it stands; empty for none."""
        return self.opened[-1] if self.opened and self.opened[-1] in _QUOTES else ""


def script_follows(words: Sequence[str]) -> bool:
    """Tell whether the next word of a command is a shell's script: `timeout 9 bash -ec`."""
    before = [*words]
    if not before or not re.fullmatch(r"-[A-Za-z]*c", before.pop()):
        return False
    while before and re.fullmatch(r"[-+][\w-]+|pipefail", before[-1]):
        before.pop()
    return bool(before) and before[-1].rpartition("/")[2] in _SHELLS


def filled_script(script: str, values: Mapping[str, Typed]) -> str:
    """Return a shell's script with values in place of the parameters that it names. Raises KeyError for a name without
    a value."""

    def value_at(match: re.Match[str]) -> str:
        if match[1]:
            return f"{{{match[1]}}}"
        value = values[match[2]]
        before = script[: match.start()]
        is_word = before[-1:] in _APART and script[match.end() : match.end() + 1] in _APART
        if isinstance(value, tuple) and is_word and not _place_behind(before).opened:
            return shlex.join(value)
        return _quoted(joined(value), before)

    return FREE.sub(value_at, script)


def _quoted(value: str, before: str) -> str:
    """Return a value that is one piece of text to a shell, behind this beginning of its script."""
    place = _place_behind(before)
    if _is_script(before[place.start : place.word]):
        value = _quoted(value, _unquoted(before[place.word :] + place.quote))
    if place.quote == "'":
        text = value.replace("'", "'\"'\"'")
    elif place.quote:
        text = re.sub(r'(["$`\\])', r"\\\1", value)
    else:
        text = shlex.quote(value)
    if "`" in place.opened:  # A shell takes one backslash away before it reads what is in backquotes.
        text = re.sub(r"([`$\\])", r"\\\1", text)
    return text


def _is_script(before: str) -> bool:
    """Return whether the next word after this beginning of a command is a shell's script."""
    try:
        return script_follows(shlex.split(before))
    except ValueError:
        return False


def _unquoted(word: str) -> str:
    try:
        return " ".join(shlex.split(word))
    except ValueError:
        return word


def _place_behind(text: str) -> _Place:
    """Return the place behind a script's beginning."""
    opened: list[str] = []
    starts, words = [0], [0]
    place = 0
    while place < len(text):
        character = text[place]
        place += 1
        kind = opened[-1] if opened else ""
        if character == "\\" and kind != "'":
            place += 1
        elif character == _ENDS.get(kind):
            opened.pop()
            if kind not in _QUOTES:
                starts.pop()
                words.pop()
        elif _opens(character, kind, text[: place - 1]):
            opened.append(character)
            if character not in _QUOTES:
                starts.append(place)
                words.append(place)
        elif kind not in _QUOTES and character in _APART:
            words[-1] = place
    return _Place(tuple(opened), starts[-1], words[-1])


def _opens(character: str, kind: str, before: str) -> bool:
    if kind == "'":
        return False
    if kind == '"':
        return character == "`" or (character == "(" and before.endswith("$"))
    return character in _ENDS
