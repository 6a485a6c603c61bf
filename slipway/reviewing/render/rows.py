"""The rows of a review's table: one for each resource, the worst first, and which of them are open. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from slipway.model.findings.finding import Finding, Grade, Section, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.review import Review, refuses

MOST_OPEN = 7
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
ON_MAIN = "on main already"
_MOST_WORDS_IN_ROW = 45
_MOST_WORDS = 140
"""The words of all open rows. The first row and blocking rows are open anyway."""
_WORD = re.compile(r"\w[\w.,:/-]*")
_COMMANDS = ("slipway ", "make ", "pulumi ", "gcloud ", "git ")
_OF_JOBS = ("jobs-cancelled", "job-loses-resource")
_SECTIONS = (
    Section.DATA,
    Section.PEOPLE,
    Section.PROGRAM,
    Section.TEMPLATES,
    Section.CLUSTERS,
    Section.QUOTA,
    Section.POLICY,
    Section.MONEY,
    Section.HEALTH,
)


@dataclass(frozen=True)
class Row:
    """A resource with its findings, the worst first."""

    resource: Subject
    findings: tuple[Finding, ...]
    #: The stacks whose findings are these.
    stacks: tuple[str, ...]
    on_main: bool = False

    @property
    def lead(self) -> Finding:
        return self.findings[0]

    @property
    def grade(self) -> Grade:
        return self.lead.grade

    @property
    def sign(self) -> str:
        return SIGNS[self.grade]

    @cached_property
    def shown(self) -> tuple[Finding, ...]:
        """The findings whose sentences are in the row: the lead, and others that are no notes, if there is room."""
        shown = [self.lead]
        words = count_words(self.sentence(self.lead))
        for finding in self.findings[1:]:
            if finding.grade is Grade.NOTE:
                continue
            more = count_words(self.sentence(finding))
            if words + more <= _MOST_WORDS_IN_ROW:
                shown.append(finding)
                words += more
        return tuple(shown)

    @cached_property
    def text(self) -> str:
        """The sentences of the row, the number of the others, and the first fix."""
        sentences = dict.fromkeys(self.sentence(finding) for finding in self.shown)
        text = "; ".join(sentences)
        graver = [finding for finding in self.findings if finding.grade is not Grade.NOTE]
        left = len([finding for finding in graver if finding not in self.shown])
        if left:
            text = f"{text} (and {left} more below)"
        fixes = [fix_text(finding) for finding in self.shown if finding.fix]
        if fixes:
            text = f"{text}. {fixes[0]}"
        return text

    def sentence(self, finding: Finding) -> str:
        """Return the sentence of a finding, after the name of the part of the resource if it is about one."""
        part = _part(finding.subject)
        return f"{part}: {finding.sentence}" if part else finding.sentence

    @property
    def says_all(self) -> bool:
        """Return whether the open row has all that is known."""
        finding = self.lead
        return len(self.findings) == 1 and not (finding.details or finding.field or finding.means)


@dataclass(frozen=True)
class Rows:
    """The open rows and the folded ones, each the worst first."""

    opened: tuple[Row, ...]
    folded: tuple[Row, ...]

    @property
    def all(self) -> tuple[Row, ...]:
        return (*self.opened, *self.folded)


def fix_text(finding: Finding) -> str:
    """Return `Fix: …`, a command as code."""
    fix = finding.fix
    if fix.startswith(_COMMANDS) and "`" not in fix:
        fix = f"`{fix}`"
    return f"Fix: {fix}"


def count_words(text: str) -> int:
    return len(_WORD.findall(text))


def arranged(reviews: Sequence[Review]) -> Rows:
    """Return the rows of reviews. Changes without harm are open only if there is nothing graver."""
    rows = sorted(_merged(reviews), key=_place)
    mine = [row for row in rows if not row.on_main]
    grave = [row for row in mine if row.grade > Grade.NOTE]
    opened = _fitting(grave or mine)
    return Rows(tuple(opened), tuple(row for row in rows if row not in opened))


def _fitting(rows: Iterable[Row]) -> list[Row]:
    """Return the first rows that one screen has room for."""
    fitting: list[Row] = []
    words = 0
    for row in rows:
        words += count_words(row.text)
        if len(fitting) == MOST_OPEN:
            break
        if fitting and words > _MOST_WORDS and row.grade is not Grade.BLOCKING:
            break
        fitting.append(row)
    return fitting


def _merged(reviews: Iterable[Review]) -> Iterator[Row]:
    """Yield the rows of all reviews; rows that say the same in several stacks are one."""
    merged: dict[object, Row] = {}
    for review in reviews:
        for row in _rows(review):
            content = [_content(finding) for finding in row.findings]
            same = (row.resource, row.on_main, tuple(content))
            if same in merged:
                row = replace(merged[same], stacks=(*merged[same].stacks, review.stack))
            merged[same] = row
    yield from merged.values()


def _content(finding: Finding) -> object:
    """Return the parts of a finding that a reader sees, but for its place in a stack's own file."""
    return (finding.key, finding.grade, finding.sentence, finding.fix, finding.means, finding.details)


def _rows(review: Review) -> Iterator[Row]:
    """Yield a row for each resource; findings that are on main already have rows of their own."""
    grouped: dict[tuple[Subject, bool], list[Finding]] = {}
    for finding in review.findings:
        key = (_resource(finding.subject), finding.key in review.on_main)
        grouped.setdefault(key, []).append(finding)
    for (resource, on_main), findings in grouped.items():
        yield Row(resource, tuple(sorted(findings, key=_weight)), (review.stack,), on_main)


def _resource(subject: Subject) -> Subject:
    """Return the resource that has a row: a pool is its cluster's, a part belongs to the whole."""
    if subject.cluster:
        return Subject("cluster", subject.cluster)
    return Subject(subject.what, subject.name)


def _part(subject: Subject) -> str:
    """Return the part of the resource that a subject is: `pool workers`, `parameter rank`; empty for the whole."""
    if subject.what == "pool":
        name = subject.name.partition("/")[2]
        return f"pool `{name}`"
    what, _, name = subject.part.partition(" ")
    return f"{what} `{name}`" if name else what


def _place(row: Row) -> tuple[bool, tuple[int, int, float]]:
    return row.on_main, _weight(row.lead)


def _weight(finding: Finding) -> tuple[int, int, float]:
    """Return the key that sorts findings the worst first."""
    return -finding.grade, _rank(finding), -finding.cost


def _rank(finding: Finding) -> int:
    """Return the place among findings of one grade: why a deployment is rejected, jobs, then sections."""
    if refuses(finding):
        return 0
    if finding.kind in _OF_JOBS:
        return 1
    return 2 + _SECTIONS.index(KINDS[finding.kind].section)
