"""Findings as data, one for each thing to tell; each display decides how to show them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Self

from slipway.base.codec import As, At, one_of


class Grade(IntEnum):
    """The grade of a finding."""

    NOTE = 1
    #: May hurt, costs money or machines, or soon breaks.
    WARNING = 2
    #: Asks somebody to mend it, or to approve a loss of jobs, data, capacity or access.
    BLOCKING = 3

    @property
    def review_word(self) -> str:
        """The grade as documents and comments of reviews spell it. Frozen."""
        return "change" if self is Grade.NOTE else self.name.lower()

    @property
    def doctor_word(self) -> str:
        """The grade as `slipway doctor` spells it. Frozen."""
        return "broken" if self is Grade.BLOCKING else self.name.lower()


_GRADES = {grade.review_word: grade for grade in Grade}
_GRADE = As(_GRADES.__getitem__, lambda grade: grade.review_word, one_of(_GRADES))


class Section(StrEnum):
    """Subjects of kinds. A review lists sections in this order among findings of one grade."""

    DATA = "data"
    PEOPLE = "people and access"
    PROGRAM = "the program itself"
    TEMPLATES = "templates"
    CLUSTERS = "clusters"
    QUOTA = "quota"
    POLICY = "policy"
    MONEY = "money"
    HEALTH = "the stack as it is"


class Continued(StrEnum):
    """The consequences that are the same deployment's, where that was cut short."""

    #: Those that block nothing, and all for a cluster that it was replacing in place: its machines are as good as gone.
    OWN = "own"
    #: Those that block nothing: others may concern what lives.
    MILD = "mild"
    NONE = "none"


class Subject(str):
    """The subject of a finding.

    The text, all three parts (`template`, `lora`, `parameter rank`) with spaces between, is its key, by which approvals
    know it, so nothing that moves by itself may be in it.
    """

    what: str
    name: str
    part: str

    def __new__(cls, what: str, name: str = "", part: str = "") -> Self:
        subject = super().__new__(cls, " ".join(filter(None, (what, name, part))))
        subject.what, subject.name, subject.part = what, name, part
        return subject

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


@dataclass(frozen=True)
class Finding:
    """A finding of the doctor, of policy or quota."""

    #: One of `slipway/model/findings/kinds.py:KINDS`.
    kind: str
    subject: Annotated[Subject, As(Subject.read, str, "a subject")]
    grade: Annotated[Grade, _GRADE]
    #: Tells a person who is hit and how: at most 30 words, no full stop.
    sentence: str
    #: The key of the stack file or the template that caused it.
    field: str = ""
    #: A command to paste unchanged, or what to change or find out.
    fix: str = ""
    #: The effect of `fix`.
    means: str = ""
    #: Values for other code, by name.
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)
    #: USD an hour that it adds.
    cost: Annotated[float, At("costPerHour")] = 0
    #: Lines that a review folds: jobs, members, probes, changed lines of a file.
    details: tuple[str, ...] = ()

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
    """A row of the registry."""

    word: str
    section: Section
    usual: Grade
    #: Continues "this is found when …".
    means: str
    #: A deployment with such a blocking consequence is refused.
    refuses: bool = False
    #: It is that refusal itself, as the preview met it.
    failed: bool = False
    #: Grades with which a deployment by itself may have this effect: it may retire idle clusters, delete what was kept
    #: for jobs, clear failed clusters, make the clusters of a season or those that lacked machines, with all that
    #: follows, in money too. An overdue generation is an alarm, which ends no job.
    announced: tuple[Grade, ...] = ()
    #: Of a cluster that this change adds it was not announced all the same.
    adds: bool = False
    #: What a deployment that goes on with one that was cut short may have of it.
    continued: Continued = Continued.OWN
    #: A review has a rule for it, as no other part of the product answers.
    by_hand: bool = False

    def of(
        self,
        subject: Subject,
        sentence: str,
        fix: str = "",
        means: str = "",
        *,
        grade: Grade | None = None,
        field: str = "",
        **facts: Any,
    ) -> Finding:
        """Return a finding of this kind."""
        return Finding(self.word, subject, grade or self.usual, sentence, field, fix, means, facts)


def shape(parts: Iterable[tuple[str, ...]]) -> str:
    """Return twelve hexadecimal digits that change only when a part comes, goes or becomes another."""
    text = "\n".join("\t".join(part) for part in sorted(set(parts)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shape_of(findings: Iterable[Finding]) -> str:
    """Return the shape of blocking findings and warnings."""
    return shape(finding.key for finding in findings if finding.grade is not Grade.NOTE)
