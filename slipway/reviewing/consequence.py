"""Consequences of a change, as data: who is hit, what happens to them, how it ends, and what to do instead.

A rule fills in one fixed phrase for each part. Only `slipway.reviewing.told` orders, joins and leaves out parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any

from slipway.base.codec import As, At, Form, MaybeText
from slipway.base.formatting import last_part
from slipway.model.findings.finding import FindingKind, Grade, Section, Shown, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.origin import Origin, Program
from slipway.reviewing.change.edits import Edit

IT = "{it}"
"""In a phrase, the place of the subject's name: of several that are hit alike, all names stand there."""
_KEY = re.compile(r"`(slipway:[^`]+|[a-z]+[A-Z][A-Za-z]*)`")
"""A key of a stack file in backticks: a whole one, or its last part, such as `createWithin`."""
PRICE_LIMIT = 10**12
"""USD an hour that no price reaches."""
_PRICE = Form(lambda cost: abs(cost) < PRICE_LIMIT, "a price")
_SUBJECT = As(Subject.read, str, "a subject")
_GRADE = As({grade.review_word: grade for grade in Grade}.__getitem__, lambda grade: grade.review_word, "a grade")


@dataclass(frozen=True)
class Consequence:
    """A consequence for one subject. Its phrases have no full stop and begin with a small letter, but for `who`."""

    section: Section
    #: One of `slipway/model/findings/kinds.py:KINDS`.
    kind: Annotated[str, Form(KINDS.__contains__, "a kind that this version knows")]
    subject: Annotated[Subject, _SUBJECT]
    grade: Annotated[Grade, _GRADE]
    #: Who or what is hit, with `{it}` for the name: `Jobs of {it}`.
    who: str
    #: What happens, in at most 12 words: `are ended after 1 h instead of 2 h`.
    does: str
    #: How it ends, what is lost, or why: `3 of the last 20 took longer`. May be empty, as all below.
    so: MaybeText = ""
    #: What to do instead, or how to undo it: `keep 2 h, or let them write checkpoints`.
    instead: MaybeText = ""
    #: The edits that cause it, and other values before and after.
    edits: tuple[Edit, ...] = ()
    #: The people and things concerned, a line each.
    details: tuple[str, ...] = ()
    #: The key of the stack file or the template that caused it.
    field: str = ""
    #: Its address: the row of `rules/table.json`, or of another table, that its words stand in.
    row: MaybeText = ""
    #: USD an hour.
    cost: Annotated[float, At("costPerHour"), _PRICE] = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """The key by which approvals know it."""
        return self.kind, self.subject

    @property
    def of(self) -> FindingKind:
        return KINDS[self.kind]

    @property
    def refuses(self) -> bool:
        """Tell whether the deployment is refused for it."""
        return self.of.refuses and self.grade is Grade.BLOCKING

    @property
    def in_table(self) -> bool:
        """Tell whether the table's column has it, so that no line needs to; an approval is asked for in a line."""
        return self.of.shown is Shown.IN_TABLE and self.grade is not Grade.BLOCKING

    @property
    def thing(self) -> tuple[str, str]:
        """The thing that is hit: a cluster with its pools, a template with its parts, a member, a bucket."""
        subject = self.subject
        return ("cluster", subject.cluster) if subject.cluster else (subject.what, subject.name)

    @property
    def place(self) -> str:
        """The name of what is hit, or the section of things that have one card together."""
        what, name = self.thing
        if what in ("cluster", "template"):
            return name
        return f"reservation {last_part(name)}" if what == "reservation" else self.section.value

    @property
    def phrase(self) -> str:
        """Return `Jobs of {it} are ended after 1 h`."""
        return f"{self.who} {self.does}".strip()

    @property
    def end(self) -> str:
        """The end as it follows the phrase: `: 3 of the last 20 took longer`, `; not known: how long they take`."""
        sign = ";" if self.so.startswith(("not known", "not asked")) else ":"
        return f"{sign} {self.so}" if self.so else ""

    @property
    def sentence(self) -> str:
        """The phrase with its end, and with the name in it."""
        return named(f"{self.phrase}{self.end}", f"`{self.called}`")

    @property
    def called(self) -> str:
        return self.subject.name or self.subject.what


def spelt(part: Consequence, origin: Origin) -> Consequence:
    """Return it as whoever wrote the declaration spells it: the field, and keys of a stack file in backticks."""
    if not isinstance(origin, Program):
        return part
    field = origin.key(part.field) if part.field.startswith("slipway:") else part.field
    if part.field == "slipway:templates":
        field = f"{field} {part.subject.name}"
    who = f"Workspace {origin.workspace}" if part.who == "The stack" and origin.workspace else part.who

    def spell(phrase: str) -> str:
        return _KEY.sub(lambda key: f"`{(origin.key if ':' in key[1] else origin.argument)(key[1])}`", phrase)

    so, instead, details = spell(part.so), spell(part.instead), tuple(map(spell, part.details))
    return replace(part, field=field, who=who, so=so, instead=instead, details=details)


def named(phrase: str, names: str) -> str:
    return phrase.replace(IT, names)


def consequence(
    kind: str, subject: Subject, does: str, *, who: str = IT, grade: Grade | None = None, **parts: Any
) -> Consequence:
    """Return a consequence of a kind, with the kind's section and, where none is given, its usual grade. `parts`: its
    other fields; `edits` and `details` may be any iterables."""
    row = KINDS[kind]
    parts |= {key: tuple(parts[key]) for key in ("edits", "details") if key in parts}
    return Consequence(row.section, kind, subject, grade or row.usual, who, does, **parts)
