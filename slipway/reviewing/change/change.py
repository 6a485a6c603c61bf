"""A change of one stack, as a review reads it."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.answers.comparison import Comparison
from slipway.reviewing.change.files import NO_FILES, Files


@dataclass(frozen=True)
class Change:
    """A change of one stack: both sides of the stack, and the edited files of its repository."""

    comparison: Comparison
    files: Files = NO_FILES
    #: The parts that can't be compared, a sentence each.
    unread: tuple[str, ...] = ()
    #: Remarks on how the change was read, a sentence each.
    notes: tuple[str, ...] = ()
