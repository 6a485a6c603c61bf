"""Edits of fields, and those of a stack file, from its text. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from slipway.authoring.stack.secrets import has_secret
from slipway.base.formatting import short
from slipway.deploying.engine.touched import InputDifference
from slipway.reviewing.change.secret_values import HIDDEN


@dataclass(frozen=True)
class Edit:
    """A field of the stack file from one value to another. An empty side did not exist, or exists no more."""

    #: Below its cluster or template.
    key: str
    before: str
    after: str

    def __post_init__(self) -> None:
        name = re.split(r"[.:]", self.key)[-1]
        for side, text in (("before", self.before), ("after", self.after)):
            # The engine has encrypted what is below `secure`.
            if has_secret(text, name) or (text and name == "secure"):
                object.__setattr__(self, side, HIDDEN)

    def __str__(self) -> str:
        """Return `pools.workers.machine` `n1-standard-8` → `n1-standard-16`."""
        return f"`{self.key}` {_side(self.before)} → {_side(self.after)}"


PLACE, OWN, SAVING = "place", "own place", "saving"
"""Needs of a job that goes on from a checkpoint: a place that it finds again, or its own output; a line that saves."""


@dataclass(frozen=True)
class Argument:
    """An argument that code declares."""

    names: tuple[str, ...]
    required: bool
    #: Where they are literals; none where it takes any value, or numbers that have several spellings.
    choices: tuple[str, ...]
    #: It ends where its value is no whole number.
    whole: bool = False

    def refuses(self, value: str) -> bool:
        return bool(self.choices and value not in self.choices) or (self.whole and not _is_whole(value))


@dataclass(frozen=True)
class JobFile:
    """A file of a job's code, as far as its text tells."""

    #: What its lines have of what checkpoints need.
    keeps: frozenset[str] = frozenset()
    #: The arguments that it knows; none where it reads none by itself, or takes any.
    flags: frozenset[str] = frozenset()
    arguments: tuple[Argument, ...] = ()
    #: What it imports whenever it is loaded, by its dotted name.
    imports: frozenset[str] = frozenset()
    #: Its names and words.
    words: frozenset[str] = frozenset()

    def refuses(self, text: str) -> bool:
        """Tell whether it ends at once where it is given this text."""
        name, _, value = text.partition("=")
        known = [each for each in self.arguments if name in each.names and value and "${" not in value]
        return bool(known) and all(each.refuses(value) for each in known)


NO_FILE = JobFile()


def _is_whole(text: str) -> bool:
    try:
        return isinstance(int(text), int)
    except ValueError:
        return False


def _side(value: str) -> str:
    number = value.replace(".", "").replace(",", "").isdigit()
    return value if number else f"`{short(value, 450).replace('`', chr(39))}`" if value else "none"


def edits_of(some: Iterable[InputDifference]) -> tuple[Edit, ...]:
    """Return differences of inputs without what may be secret."""
    return tuple(Edit(each.path, *each.sides) for each in some)


def edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return the edits from one text of the file to another; none where either is no stack file."""
    # Needed only for an edited stack file: importing it costs time.
    from slipway.authoring.stack.yaml_file import from_text

    old, new = (dict(_below("", from_text(text, "").values)) for text in (before, after))
    changed = [key for key in dict.fromkeys((*old, *new)) if old and new and old.get(key) != new.get(key)]
    return tuple(Edit(key.removeprefix("config."), old.get(key, ""), new.get(key, "")) for key in changed)


def _below(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _below(f"{key}.{name}".lstrip("."), each)
    elif key:
        some = value if isinstance(value, list) else [value]
        yield key, ", ".join(sorted(each if isinstance(each, str) else json.dumps(each, default=str) for each in some))
