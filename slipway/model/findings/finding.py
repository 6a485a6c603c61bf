"""Findings as data, one for each thing to tell; each display decides how to show them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Self

from slipway.base.codec import NOT_WRITTEN, As, At, MaybeText


class Grade(IntEnum):
    """The grade of a finding. NOTE is for information. WARNING may hurt, costs money or machines, or soon breaks.
    BLOCKING asks somebody to mend it, or to approve a loss of jobs, data, capacity or access."""

    NOTE = 1
    WARNING = 2
    BLOCKING = 3

    @property
    def review_word(self) -> str:
        """The grade as documents and comments of reviews spell it. Frozen."""
        return "change" if self is Grade.NOTE else self.name.lower()

    @property
    def doctor_word(self) -> str:
        """The grade as `slipway doctor` spells it. Frozen."""
        return "broken" if self is Grade.BLOCKING else self.name.lower()


class Section(StrEnum):
    """Subjects of kinds. A review lists sections in this order among findings of one grade."""

    CLUSTERS = "clusters"
    MONEY = "money"
    TEMPLATES = "templates"
    PEOPLE = "people and access"
    DATA = "data"
    QUOTA = "quota"
    POLICY = "policy"
    PROGRAM = "the program itself"
    HEALTH = "the stack as it is"


class Subject(str):
    """The subject of a finding: `what` it is (`template`), its `name` (`lora`), and its `part` (`parameter rank`). Its
    text, all three with spaces between, is its key, by which approvals know it, so nothing that moves by
    itself may be in it."""

    what: str
    name: str
    part: str

    def __new__(cls, what: str, name: str = "", part: str = "") -> Self:
        found = super().__new__(cls, " ".join(filter(None, (what, name, part))))
        found.what, found.name, found.part = what, name, part
        return found

    @property
    def cluster(self) -> str:
        """The name of its cluster, also for a pool; empty for all other subjects."""
        return self.name.partition("/")[0] if self.what in ("cluster", "pool") else ""

    @classmethod
    def read(cls, key: str) -> Self:
        """Read a key, as a document has it."""
        what, _, rest = key.partition(" ")
        name, _, part = rest.partition(" ")
        return cls(what, name, part)


_SUBJECT = As(Subject.read, str, "a subject")
_GRADE = As({grade.review_word: grade for grade in Grade}.__getitem__, lambda one: one.review_word, "a grade")


@dataclass(frozen=True)
class Finding:
    """A finding. `kind` is one of `slipway/model/findings/kinds.py:KINDS`.

    `sentence` tells a person who is hit and how: at most 30 words, no full stop. `clause` is its part for a headline,
    or for another finding's line where this one follows from that: at most 70 characters, empty for the whole sentence.
    `details` name the people and things concerned, a line each. `field` is the key of the stack file or the template
    that caused it. `fix` is a command to paste unchanged, or tells what to change or find out; `means` its effect.
    `cost`: USD an hour. `facts`: values for other code, by name.
    """

    section: Section
    kind: str
    subject: Annotated[Subject, _SUBJECT]
    grade: Annotated[Grade, _GRADE]
    sentence: str
    details: tuple[str, ...] = ()
    field: str = ""
    cost: Annotated[float, At("costPerHour")] = 0.0
    clause: MaybeText = ""
    fix: Annotated[str, NOT_WRITTEN] = ""
    means: Annotated[str, NOT_WRITTEN] = ""
    facts: Annotated[Mapping[str, Any], NOT_WRITTEN] = dataclasses.field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.sentence}\n  fix: {self.fix}" if self.fix else self.sentence

    @property
    def key(self) -> tuple[str, str]:
        """The key that two findings of one subject share."""
        return self.kind, self.subject

    def document(self, *keys: str) -> dict[str, Any]:
        """Return the JSON with these keys, or those of `slipway doctor`, as in all documents but a review's. Frozen."""
        spelled = {
            "id": self.kind,
            "grade": self.grade.doctor_word,
            "field": self.field or None,
            "mend": self.fix or None,
            "means": self.means or None,
        }
        wanted = keys or ("id", "grade", "subject", "sentence", "mend", "means")
        return {key: spelled[key] if key in spelled else getattr(self, key) for key in wanted}


@dataclass(frozen=True)
class FindingKind:
    """A row of the registry. `usual` is the default grade. `means` continues "this is found when …"."""

    word: str
    section: Section
    usual: Grade
    means: str

    def of(
        self,
        subject: Subject,
        sentence: str,
        fix: str = "",
        means: str = "",
        *,
        details: Iterable[str] = (),
        grade: Grade | None = None,
        field: str = "",
        cost: float = 0.0,
        more: str = "",
        clause: str = "",
        **facts: Any,
    ) -> Finding:
        """Return a finding. `more` ends the sentence with the part that a headline leaves out: the reason, or the
        result."""
        told = (subject, grade or self.usual, sentence + more, tuple(details), field, float(cost))
        return Finding(self.section, self.word, *told, clause or (sentence if more else ""), fix, means, facts)


def shape(parts: Iterable[tuple[str, ...]]) -> str:
    """Return twelve hexadecimal digits that change only when a part comes, goes or becomes another: not with time,
    order or an amount."""
    text = "\n".join("\t".join(part) for part in sorted(set(parts)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shape_of(findings: Iterable[Finding]) -> str:
    """Return the shape of blocking findings and warnings."""
    return shape(one.key for one in findings if one.grade is not Grade.NOTE)
