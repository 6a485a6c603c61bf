"""Grades of a review's kinds: a team's own in place of the defaults, and those that need nobody. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.model.findings.finding import FindingKind, Grade, Section
from slipway.model.findings.kinds import KINDS

GRADES = "grades"
"""The key of a policy that has a team's own grades."""
BY_WORD: Mapping[str, Grade] = {grade.review_word: grade for grade in Grade}
REVIEWED: Mapping[str, FindingKind] = {word: kind for word, kind in KINDS.items() if kind.section is not Section.HEALTH}
"""The kinds in reviews."""


def is_announced(kind: str, grade: Grade) -> bool:
    """Tell whether a deployment by itself may cause such a finding. An undeployed edit has a kind of its own beside
    those that follow from it; a cluster that it adds is known by its name."""
    return grade in KINDS[kind].announced


def wrong(grades: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the mistake in a team's grades, and its correction; None for right ones. A deployment by itself would have
    an effect, unasked, with a grade that was announced."""
    for kind, word in grades.items():
        grade, usual = BY_WORD[word], KINDS[kind].usual
        if grade < usual and is_announced(kind, grade):
            allowed = (graver for graver in Grade if graver > grade and not is_announced(kind, graver))
            higher = " or ".join(graver.review_word for graver in allowed)
            return f"{kind}: the scheduled deployment does unasked what is only a {word}", higher
    return None


def moved(deployed: Mapping[str, str], declared: Mapping[str, str]) -> Iterator[tuple[str, Grade, Grade]]:
    """Yield kinds whose declared grade differs from the deployed one, with both."""
    for kind in sorted(REVIEWED.keys() & {*deployed, *declared}):
        usual = KINDS[kind].usual
        before, after = (BY_WORD.get(str(grades.get(kind)), usual) for grades in (deployed, declared))
        if before is not after:
            yield kind, before, after
