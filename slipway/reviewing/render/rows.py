"""The rows of a review's table: one for each resource, the worst first, and which of them are open. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice

from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.reviewing.review import Review, weight

MOST_OPEN = 7
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
ON_MAIN = "on main already"
_MOST_WORDS_IN_ROW = 45
_MOST_WORDS = 140
"""The words of all open rows. The first row and blocking rows are open anyway."""
_WORD = re.compile(r"\w[\w.,:/-]*")
_COMMANDS = ("slipway ", "make ", "pulumi ", "gcloud ", "git ")


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

    @property
    def content(self) -> object:
        """The parts that a reader sees, but for the places in a stack's own file."""
        texts = [(self.whole(finding), finding.kind, finding.details) for finding in self.findings]
        return self.resource, self.on_main, tuple(texts)

    @property
    def remark(self) -> str:
        return f" ({ON_MAIN})" if self.on_main else ""

    @cached_property
    def graver(self) -> tuple[Finding, ...]:
        """The findings that are no notes, and the lead."""
        others = [finding for finding in self.findings[1:] if finding.grade > Grade.NOTE]
        # The broken contract says more about the edited code.
        if any(finding.kind == "code-contract-broken" for finding in self.findings):
            others = [finding for finding in others if finding.kind != "job-code-changed"]
        return (self.lead, *others)

    @cached_property
    def shown(self) -> tuple[Finding, ...]:
        """The findings whose sentences are in the row: the lead, and others as far as there is room."""
        lengths = accumulate(len(_WORD.findall(self.sentence(finding))) for finding in self.graver)
        fitting = sum(length <= _MOST_WORDS_IN_ROW for length in lengths)
        return self.graver[: max(fitting, 1)]

    @cached_property
    def text(self) -> str:
        """The sentences of the row, the number of the others, and the first fix."""
        text = "; ".join(dict.fromkeys(map(self.sentence, self.shown)))
        left = len(self.graver) - len(self.shown)
        if left:
            text = f"{text} (and {left} more below)"
        fixes = filter(None, map(_fix, self.shown))
        return ". ".join((text, *islice(fixes, 1)))

    def sentence(self, finding: Finding) -> str:
        """Return the sentence of a finding, after the name of the part of the resource if it is about one."""
        return ": ".join(filter(None, (_part(finding.subject), finding.sentence)))

    def whole(self, finding: Finding) -> str:
        """Return all that a finding says, but for its details."""
        parts = (f"{SIGNS[finding.grade]} {self.sentence(finding)}", _fix(finding), finding.means)
        return ". ".join(filter(None, parts))

    @property
    def has_more(self) -> bool:
        """Return whether something is known that an open row does not say."""
        if len(self.findings) > 1:
            return True
        return any((self.lead.details, self.lead.field, self.lead.means))


@dataclass(frozen=True)
class Rows:
    """The open rows and the folded ones, each the worst first."""

    opened: tuple[Row, ...]
    folded: tuple[Row, ...]

    @property
    def all(self) -> tuple[Row, ...]:
        return (*self.opened, *self.folded)

    @property
    def with_more(self) -> tuple[Row, ...]:
        """The rows of which an open table does not say all."""
        return (*(row for row in self.opened if row.has_more), *self.folded)


def _fix(finding: Finding) -> str:
    """Return `Fix: …`, a command as code; empty without a fix."""
    fix = finding.fix
    if not fix:
        return ""
    if fix.startswith(_COMMANDS) and "`" not in fix:
        fix = f"`{fix}`"
    return f"Fix: {fix}"


def arranged(reviews: Sequence[Review]) -> Rows:
    """Return the rows of reviews. Changes without harm are open only if there is nothing graver."""
    rows = sorted(_merged(reviews), key=lambda row: (row.on_main, weight(row.lead)))
    mine = [row for row in rows if not row.on_main]
    grave = [row for row in mine if row.grade > Grade.NOTE]
    opened = _fitting(grave or mine)
    return Rows(tuple(opened), tuple(row for row in rows if row not in opened))


def _fitting(rows: Iterable[Row]) -> list[Row]:
    """Return the first rows that one screen has room for."""
    first = list(rows)[:MOST_OPEN]
    lengths = accumulate(len(_WORD.findall(row.text)) for row in first)
    fitting = sum(length <= _MOST_WORDS for length in lengths)
    blocking = sum(row.grade is Grade.BLOCKING for row in first)
    return first[: max(fitting, blocking, 1)]


def _merged(reviews: Iterable[Review]) -> Iterator[Row]:
    """Yield the rows of all reviews; rows that say the same in several stacks are one."""
    merged: dict[object, list[Row]] = defaultdict(list)
    for review in reviews:
        for row in _rows(review):
            merged[row.content].append(row)
    for first, *others in merged.values():
        yield replace(first, stacks=first.stacks + tuple(row.stacks[0] for row in others))


def _rows(review: Review) -> Iterator[Row]:
    """Yield a row for each resource; findings that are on main already have rows of their own."""
    grouped: dict[tuple[Subject, bool], list[Finding]] = defaultdict(list)
    for finding in review.findings:
        grouped[_resource(finding.subject), finding.key in review.on_main].append(finding)
    for (resource, on_main), findings in grouped.items():
        yield Row(resource, tuple(sorted(findings, key=weight)), (review.stack,), on_main)


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
