"""The gate: what of a review needs an approval, and whether what was approved still holds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from slipway.findings.finding import Finding, Grade
from slipway.prices import Price, dollars
from slipway.review.rendering.redaction import hidden
from slipway.review.review import Review

TOLERANCE = Decimal(1)
"""USD an hour by which a deployment may cost more than what was approved: prices and rounding move."""


@dataclass(frozen=True)
class Obstacle:
    """Why the gate stays shut. `kind` and `subject` are the consequence's, empty for money and for what is unknown."""

    stack: str
    sentence: str
    kind: str = ""
    subject: str = ""


def unapproved(reviews: Iterable[Review]) -> Iterator[Obstacle]:
    """Yield what asks for an approval: blocking consequences of this change, and what could not be told."""
    for review in reviews:
        for sentence in review.incomplete:
            yield Obstacle(review.stack, f"Incomplete: {sentence}")
        for one in review.yours:
            if one.grade is Grade.BLOCKING:
                yield Obstacle(review.stack, _said(one), *one.key)


ANNOUNCED = frozenset(
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
        ("bucket-deleted", Grade.NOTE),
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
"""Kinds, with their grades, of what a deployment by itself may do: retire what is idle, let go of what was kept for
jobs (nothing else makes a mere change of an account's or a bucket's deletion), clear what failed, make what a season
begins with or what there were no machines for, and what follows from that, in money too. That a generation is overdue
is an alarm, which ends no job, and only a deployment keeps that it was told. An edit that nobody deployed has a kind of
its own beside those that follow from it; a cluster that it adds is known by its name."""


def unannounced(reviews: Iterable[Review]) -> Iterator[Obstacle]:
    """Yield what a scheduled deployment has no business to do: another commit than the deployed one, what somebody
    changed by hand, and all that can't be told. What somebody began to deploy, of the same commit, it may go on with.
    """
    for review in reviews:
        if review.stray:
            yield Obstacle(review.stack, review.stray)
        for sentence in review.incomplete:
            yield Obstacle(review.stack, f"Incomplete: {sentence}")
        for one in review.consequences:
            if not (_announced(one, review) or _begun(one, review)):
                yield Obstacle(review.stack, _said(one), *one.key)


def _announced(one: Finding, review: Review) -> bool:
    is_edit = one.kind == "cluster-created" and one.subject.name in review.added
    return (one.kind, one.grade) in ANNOUNCED and not is_edit


def _begun(one: Finding, review: Review) -> bool:
    """Tell whether a deployment that was cut short began it. What blocks may be so for what lives now, but for the
    machines of a cluster that is being replaced in place: those are as good as gone."""
    if review.begun is None or one.kind == "drift":
        return False
    own = one.subject.cluster in review.begun and one.kind != "jobs-cancelled"
    return one.grade is not Grade.BLOCKING or own


def worse(now: Iterable[Review], approved: Iterable[Review], tolerance: Decimal = TOLERANCE) -> Iterator[Obstacle]:
    """Yield what goes beyond what was approved: a blocking consequence of a subject that had none, a subject that is
    hit harder, USD an hour beyond `tolerance`. How many jobs are on a retiring cluster is in no subject, and moves all
    the time."""
    before = {review.stack: review for review in approved}
    for review in now:
        known = before.get(review.stack, Review(review.stack))
        yield from _graver(review, known)
        yield from _dearer(review, known, tolerance)
        for sentence in review.incomplete:
            if sentence not in known.incomplete:
                yield Obstacle(review.stack, f"Incomplete: {sentence}")


def _graver(now: Review, approved: Review) -> Iterator[Obstacle]:
    graded: dict[tuple[str, str], list[Grade]] = {}
    for one in approved.consequences:
        graded.setdefault(one.key, []).append(one.grade)
    for one in now.consequences:
        # A comment that hides people's addresses has several subjects alike: each stands for one.
        known = graded.get(one.key) or graded.get((one.kind, hidden(one.subject)))
        was = known.pop(0) if known else None
        if (was is None and one.grade is Grade.BLOCKING) or (was is not None and one.grade > was):
            yield Obstacle(now.stack, f"{_said(one)} ({_was(was)})", *one.key)


def _said(one: Finding) -> str:
    return one.sentence or f"{one.kind}, {one.subject}"


def _was(grade: Grade | None) -> str:
    return "nothing of it was approved" if grade is None else f"approved as {grade.review_word} only"


def _dearer(now: Review, approved: Review, tolerance: Decimal) -> Iterator[Obstacle]:
    if now.money is None:
        return
    told, known = now.money, approved.money
    for when, amount, allowed in (
        ("with nothing running", told.idle, known.idle.after if known else told.idle.before),
        ("with every pool at its maximum", told.most, known.most.after if known else told.most.before),
    ):
        more = amount.after.known - allowed.known
        if more > tolerance:
            than = f"{dollars(amount.after)}, where {dollars(allowed)} was approved"
            yield Obstacle(now.stack, f"It costs {dollars(Price(more))} more {when}: {than}")
