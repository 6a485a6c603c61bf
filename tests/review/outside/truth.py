"""The truth of a change, for judges of a comment on it. Written on 2026-11-22 by an author who had not read the
review."""

from __future__ import annotations

from dataclasses import dataclass

from tests.review.case import CALM, Edit, World


@dataclass(frozen=True)
class Source:
    name: str
    address: str
    date: str


@dataclass(frozen=True)
class Truth:
    """A truth. `effect`: the people's loss or gain. `stop`: a careful team would want a second look before the
    merge."""

    says: str
    who: str
    since: str
    effect: str
    harmful: bool
    stop: bool


@dataclass(frozen=True)
class OutsideCase:
    title: str
    subject: str
    edits: tuple[Edit, ...]
    source: Source
    truths: tuple[Truth, ...]
    world: World = CALM


MERGE = "when this is merged and deployed"
NOTHING = (Truth("Nothing changes for anybody.", "nobody", "never", "nothing", harmful=False, stop=False),)


def halts(says: str, who: str, effect: str, since: str = MERGE) -> Truth:
    """Return harm that a careful team would want to look at twice before the merge."""
    return Truth(says, who, since, effect, harmful=True, stop=True)


def harms(says: str, who: str, effect: str, since: str = MERGE) -> Truth:
    """Return harm, or a bill, that is worth a warning and no more."""
    return Truth(says, who, since, effect, harmful=True, stop=False)


def tells(says: str, who: str, effect: str, since: str = MERGE) -> Truth:
    """Return a fact that a reader wants to know, and that hurts nobody."""
    return Truth(says, who, since, effect, harmful=False, stop=False)
