"""Grades of a review's kinds: a team's own in place of the defaults, and those that need nobody. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.model.findings.finding import Finding, FindingKind, Grade, Section
from slipway.model.findings.kinds import KINDS

GRADES = "grades"
"""The key of a policy that has a team's own grades."""
BY_WORD: Mapping[str, Grade] = {grade.review_word: grade for grade in Grade}
REVIEWED: Mapping[str, FindingKind] = {word: kind for word, kind in KINDS.items() if kind.section is not Section.HEALTH}
"""The kinds in reviews."""

_ANNOUNCED = frozenset(
    {
        ("cluster-deleted", Grade.NOTE),
        ("cluster-cleared", Grade.NOTE),
        ("cluster-retires", Grade.NOTE),
        ("cluster-created", Grade.NOTE),
        ("cluster-falls-back", Grade.NOTE),
        ("cluster-may-still-become", Grade.NOTE),
        ("cluster-overdue", Grade.WARNING),
        ("jobs-finish-on-old", Grade.NOTE),
        ("image-cache-empty", Grade.NOTE),
        ("account-deleted", Grade.NOTE),
        ("bucket-left", Grade.NOTE),
        ("resource-forgotten", Grade.NOTE),
        ("access-lapsed", Grade.NOTE),
        ("offer-available", Grade.NOTE),
        ("offer-unavailable", Grade.WARNING),
        ("no-offer-left", Grade.WARNING),
        ("capacity-found-anew", Grade.NOTE),
        ("season-quota-requested", Grade.NOTE),
        ("deployed-quota-requested", Grade.NOTE),
        ("season-awaits-quota", Grade.WARNING),
        ("quota-eased", Grade.NOTE),
        ("quota-short-at-most", Grade.WARNING),
        ("price-unknown", Grade.NOTE),
        *((kind, grade) for kind in ("idle-cost", "most-cost", "run-cost") for grade in (Grade.NOTE, Grade.WARNING)),
    }
)
"""Kinds, with their grades, of the effects that a deployment may have by itself: it may retire idle clusters, delete
what was kept for jobs (the only cause of a mere change of an account's or a bucket's deletion), clear failed clusters,
make the clusters of a season or those that lacked machines, with all that follows, in money too. An overdue generation
is an alarm, which ends no job, and only a deployment records that it was told. An undeployed edit has a kind of its own
beside those that follow from it; a cluster that it adds is known by its name."""


def is_announced(finding: Finding) -> bool:
    """Tell whether a deployment by itself may cause the finding."""
    return (finding.kind, finding.grade) in _ANNOUNCED


def wrong(grades: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the mistake in a team's grades, and its correction; None for right ones.

    The mistake: a deployment by itself would have an effect, unasked, with a grade that was announced.
    """
    for kind, word in grades.items():
        grade, usual = BY_WORD[word], KINDS[kind].usual
        if grade < usual and (kind, grade) in _ANNOUNCED:
            allowed = (graver for graver in Grade if graver > grade and (kind, graver) not in _ANNOUNCED)
            higher = " or ".join(graver.review_word for graver in allowed)
            return f"{kind}: the scheduled deployment does unasked what is only a {word}", higher
    return None


def regraded(
    findings: Iterable[Finding], deployed: Mapping[str, str], declared: Mapping[str, str]
) -> Iterator[Finding]:
    """Put a team's grades in place of the defaults.

    They are those of the deployed stack file, and of the declared one where these are graver, so that no change makes
    itself harmless. A finding whose grade is not its kind's default keeps it.
    """
    for finding in findings:
        usual = KINDS[finding.kind].usual
        team = max(BY_WORD.get(str(grades.get(finding.kind)), usual) for grades in (deployed, declared))
        yield replace(finding, grade=team) if finding.grade is usual else finding


def moved(deployed: Mapping[str, str], declared: Mapping[str, str]) -> Iterator[tuple[str, Grade, Grade]]:
    """Yield kinds whose declared grade differs from the deployed one, with both."""
    for kind in sorted(REVIEWED.keys() & {*deployed, *declared}):
        usual = KINDS[kind].usual
        before, after = (BY_WORD.get(str(grades.get(kind)), usual) for grades in (deployed, declared))
        if before is not after:
            yield kind, before, after
