"""A consequence: what a change does to somebody or something, and how bad that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated

from slipway.codec import At


class Grade(IntEnum):
    """CHANGE is for knowing. WARNING may hurt, or costs. BLOCKING loses jobs, data, capacity or access, or opens
    something to everybody: the gate asks for an approval."""

    CHANGE = 1
    WARNING = 2
    BLOCKING = 3


class Section(StrEnum):
    """Where a comment has it: in this order among those that are equally bad."""

    CLUSTERS = "clusters"
    MONEY = "money"
    TEMPLATES = "templates"
    PEOPLE = "people and access"
    DATA = "data"
    QUOTA = "quota"
    POLICY = "policy"
    PROGRAM = "the program itself"


@dataclass(frozen=True)
class Consequence:
    """`kind` is a word of its own for what happens (`jobs-cancelled`), `subject` what it happens to, by kind and name
    (`cluster h100`, `template lora parameter rank`): the two and the grade are what an approval holds on to, so no
    number that moves by itself may be in them.

    `sentence` says it to a person: capital letter or name first, no full stop, names in backticks, before → after.
    `details` are who and what is concerned, a line each (a job with its owner and age; a member). `field` is the key in
    the stack file or the template that did it, as a person would look for it, empty where none did. `cost` orders
    equally bad ones: USD an hour.
    """

    section: Section
    kind: str
    subject: str
    grade: Grade
    sentence: str
    details: tuple[str, ...] = ()
    field: str = ""
    cost: Annotated[float, At("costPerHour")] = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """The same consequence in two reviews."""
        return self.kind, self.subject


def gravest_first(consequences: Iterable[Consequence]) -> Iterable[tuple[Section, list[Consequence]]]:
    """By section, those with the worst grade first; no section is empty."""
    found: dict[Section, list[Consequence]] = {section: [] for section in Section}
    for one in consequences:
        found[one.section].append(one)
    filled = [(section, listed) for section, listed in found.items() if listed]
    return sorted(filled, key=lambda pair: -max(one.grade for one in pair[1]))
