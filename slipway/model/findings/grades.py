"""Grades of a review's kinds: a team's own in place of the defaults, and those that need nobody. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slipway.model.findings.finding import FindingKind, Grade, Section
from slipway.model.findings.kinds import KINDS

GRADES = "grades"
"""The key of a policy that has a team's own grades."""
APPROVE_ABOVE, SUMS = "approveAbove", ("idle-cost", "most-cost")
"""The key of a policy that has, by kind, the USD a month from which on more of them need an approval; those kinds."""
BY_WORD: Mapping[str, Grade] = {grade.review_word: grade for grade in Grade}
REVIEWED: Mapping[str, FindingKind] = {word: kind for word, kind in KINDS.items() if kind.section is not Section.HEALTH}
"""The kinds in reviews."""


def asks_above(policies: Iterable[Mapping[str, Mapping[str, object]]], kind: str) -> float | None:
    """Return the least of the policies' sums for a kind. A program under review may have given anything."""
    sums = (policy.get(APPROVE_ABOVE, {}).get(kind) for policy in policies)
    return min((float(each) for each in sums if isinstance(each, int | float)), default=None)


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
