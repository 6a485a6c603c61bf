"""Lines of a review: one for each change, with what follows from it, and one for all subjects that are hit alike.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from slipway.base.formatting import join
from slipway.model.findings.finding import Finding, Grade, Section
from slipway.model.findings.kinds import (
    COSTING,
    FAILED,
    FIRST,
    FOLLOWING,
    IN_TABLE,
    LASTING,
    OPEN,
    REFUSING,
    REPEATED,
)
from slipway.reviewing.review import Review
from slipway.reviewing.rules.words import LONGEST, MOST_NAMED, named

MOST_OPEN = 7
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
ON_MAIN = "on main already, not deployed yet"


@dataclass(frozen=True)
class CommentLine:
    """Findings in a sentence of at most `LONGEST` words, where the names in it are short enough.

    `stacks` have the findings, empty for a single stack or for all. `behind`: the people and things concerned, and the
    results, a line each. `names` of all that are hit alike. `more`: the number of those not named.
    """

    lead: Finding
    grade: Grade
    sentence: str
    stacks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    on_main: bool = False
    more: int = 0

    @property
    def clause(self) -> str:
        """The sentence's beginning, for a headline."""
        short = self.lead.clause or self.lead.sentence
        short = short if len(self.names) == 1 else _of_all(short, self.names[0], self.names)
        return f"{short}, {self.more:,} more such" if self.more else short

    @property
    def sign(self) -> str:
        return SIGNS[self.grade]

    @property
    def told(self) -> str:
        """The sentence, with its stacks."""
        whose = f"{join(f'`{stack}`' for stack in self.stacks)}: " if self.stacks else ""
        return f"{whose}{self.sentence}{f' ({ON_MAIN})' if self.on_main else ''}"

    @property
    def opens(self) -> bool:
        """Tell whether the line is more than a note, and of this change."""
        return not self.on_main and (self.grade > Grade.NOTE or self.lead.kind in FIRST | OPEN)


Told = tuple[tuple[CommentLine, ...], tuple[CommentLine, ...]]
"""The open and the folded lines."""


def lines(reviews: Sequence[Review]) -> Told:
    """Return the open and the folded lines; the worst first. A note, or a finding on main already, is open where it is
    alone, or beside money alone."""
    every = sorted(_of_one(_of_many(_of_stacks(reviews))), key=_order)
    grave = [one for one in every if one.opens]
    mine = [one for one in every if not one.on_main]
    first, others = ([one for one in some if one.lead.kind not in IN_TABLE] for some in (grave, mine))
    opened = (first or [*grave, *others] or mine or every)[:MOST_OPEN]
    return tuple(opened), tuple(one for one in every if id(one) not in {id(each) for each in opened})


def _order(line: CommentLine) -> tuple[bool, bool, int, bool, bool]:
    lead = line.lead
    ends_jobs = lead.kind == "jobs-cancelled"
    costs = lead.kind in COSTING and (line.grade is Grade.BLOCKING or not lead.cost)
    return line.on_main, lead.kind not in FIRST, -line.grade, not ends_jobs, costs or lead.section is Section.MONEY


def _alone(review: Review) -> Iterator[CommentLine]:
    """Yield the lines of one review, each of one finding with those that follow from it."""
    following: dict[int, list[Finding]] = {}
    said = {(one.kind, _thing(one)) for one in review.consequences}
    grave = (one for one in review.consequences if one.kind in REFUSING and one.grade is Grade.BLOCKING)
    refusing = next(grave, None)
    leads: list[Finding] = []
    followers: list[Finding] = []
    for one in review.consequences:
        follows = one.kind in FOLLOWING or (REPEATED.get(one.kind), _thing(one)) in said
        if refusing and one.kind == FAILED:
            following.setdefault(id(refusing), []).append(one)
        else:
            (followers if follows else leads).append(one)
    for one in followers:
        if causes := [lead for lead in leads if _causes(lead, one, review)]:
            longer = [lead for lead in causes if lead.kind in LASTING] if one.kind == "run-cost" else []
            cause = max(longer or causes, key=lambda lead: lead.grade)
            following.setdefault(id(cause), []).append(one)
        else:
            yield _line(one, (), review)
    for lead in leads:
        yield _line(lead, following.get(id(lead), ()), review)


def _causes(lead: Finding, one: Finding, review: Review) -> bool:
    same = _thing(lead) == _thing(one) and (lead.key in review.on_main) == (one.key in review.on_main)
    return same and REPEATED.get(one.kind, lead.kind) == lead.kind


def _thing(one: Finding) -> tuple[str, str]:
    return ("cluster", one.subject.cluster) if one.subject.cluster else (one.subject.what, one.subject.name)


def _line(lead: Finding, following: Sequence[Finding], review: Review) -> CommentLine:
    behind = list(lead.details)
    for one in following:
        behind += [*([] if one.kind == FAILED else [one.sentence]), *one.details]
    grade = max(one.grade for one in (lead, *following))
    repeated = (one.field for one in following if one.kind in REPEATED and one.field)
    lead = replace(lead, field=lead.field or next(repeated, ""))
    sentence = lead.sentence
    for one in following:
        longer = f"{sentence}; {one.clause}"
        fits = one.clause and one.kind not in REPEATED and one.kind != FAILED and len(longer.split()) <= LONGEST
        sentence = longer if fits else sentence
    return CommentLine(
        lead, grade, sentence, names=(_called(lead),), behind=tuple(behind), on_main=lead.key in review.on_main
    )


def _of_stacks(reviews: Sequence[Review]) -> Iterator[CommentLine]:
    """Merge equal lines of several stacks into one."""
    found: dict[tuple[object, ...], list[tuple[str, CommentLine]]] = {}
    for review in reviews:
        for line in _alone(review):
            alike = (*line.lead.key, line.grade, line.on_main, line.sentence)
            found.setdefault(alike, []).append((review.stack, line))
    for some in found.values():
        stacks = tuple(stack for stack, _ in some) if len(some) < len(reviews) else ()
        behind = dict.fromkeys(each for _, line in some for each in line.behind)
        yield replace(some[0][1], stacks=stacks, behind=tuple(behind))


def _of_many(some: Iterable[CommentLine]) -> Iterator[CommentLine]:
    """Merge lines of subjects that are hit alike into one."""
    found: dict[tuple[object, ...], list[CommentLine]] = {}
    for line in some:
        one = line.lead
        sentence = _of_all(one.sentence, line.names[0], ("",)) if _plural(one) else line.sentence
        found.setdefault((*_sort(line), sentence), []).append(line)
    for alike in found.values():
        first, names = alike[0], tuple(dict.fromkeys(name for line in alike for name in line.names))
        if len(names) == 1:
            yield first
            continue
        behind = tuple(each for line in alike if line.behind or len(names) > MOST_NAMED + 1 for each in _behind(line))
        sentence = _of_all(first.lead.sentence, first.names[0], names)
        yield replace(first, names=names, sentence=sentence, behind=behind)


def _of_one(some: Iterable[CommentLine]) -> Iterator[CommentLine]:
    """Merge lines of one subject that differ only behind the headline into one; likewise many equal lines of a subject
    each."""
    found: dict[tuple[object, ...], list[CommentLine]] = {}
    for line in some:
        alike = (line.names, line.lead.clause or line.sentence)
        found.setdefault((*_sort(line), *alike), []).append(line)
    for lines_ in list(found.values()):
        line = lines_[0]
        if len(lines_) == len(line.names) == 1:
            del found[(*_sort(line), line.names, line.lead.clause or line.sentence)]
            same = (*_sort(line), _of_all(line.sentence, line.names[0], ("",)))
            found.setdefault(same, []).append(line)
    for some_ in found.values():
        if len(some_) <= MOST_NAMED and len({line.names for line in some_}) > 1:
            yield from some_
            continue
        first, *others = some_
        behind = tuple(each for line in others for each in (line.sentence, *line.behind))
        more = f"; {len(others):,} more such" if others else ""
        sentence = f"{first.sentence}{more}"
        yield replace(first, sentence=sentence, behind=(*first.behind, *behind), more=len(others))


def _sort(line: CommentLine) -> tuple[object, ...]:
    return line.lead.kind, line.lead.subject.what, line.grade, line.on_main, line.stacks


def _behind(line: CommentLine) -> Iterable[str]:
    name = f"`{line.names[0]}`"
    return [f"{name}: {each}" for each in line.behind] or [name]


def _called(one: Finding) -> str:
    """Return the name in its sentence."""
    part = one.subject.part
    return part if part and f"`{part}`" in one.sentence else one.subject.name


def _plural(one: Finding) -> bool:
    """Tell whether its sentence is as right of several: `Jobs of …`, `Submissions of …`."""
    return one.section is Section.TEMPLATES and not one.sentence.startswith(f"`{one.subject.name}`")


def _of_all(sentence: str, name: str, names: Sequence[str]) -> str:
    """Return the sentence with all names in place of the one."""
    return sentence.replace(f"`{name}`", named(f"`{one}`" for one in names)) if name else sentence
