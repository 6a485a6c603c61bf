"""A text as sequences of tokens, all of one length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .trouble import TroubleError


def blocks(tokens: Sequence[int], length: int, begin: int | None) -> list[list[int]]:
    """`begin`, when there is one, stands before each: Gemma knows the start of a text by it. What is left over at the
    end is dropped. Raises TroubleError when the text does not fill one."""
    before = [] if begin is None else [begin]
    room = length - len(before)
    found = [list(chain(before, tokens[at : at + room])) for at in range(0, len(tokens) - room + 1, room)]
    if not found:
        raise TroubleError(
            f"the text is too short: {len(tokens)} tokens",
            f"a sequence has {length}",
            "name a longer text with -p data, or shorten the sequences with -p length",
        )
    return found
