"""The headline of a review and the line with cost, quota and policy. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from slipway.answers.cost import Costs
from slipway.base.formatting import counted, few
from slipway.model.findings.finding import Grade
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import NOTABLE
from slipway.reviewing.render.rows import ON_MAIN, SIGNS, Row, Rows
from slipway.reviewing.review import Review, refuses

NOTHING = "nothing changes for jobs, money or access"
_MOST_STACKS = 3


def headline(reviews: Sequence[Review], rows: Rows, *, folder: str = "", nothing: str = NOTHING) -> str:
    """Return `Slipway plan for prod: ⛔ 1 blocking · ⚠ 2 warnings · up to +$148k/month`.

    Args:
        reviews: The reviews.
        rows: Their rows.
        folder: The project's folder if the repository has several projects.
        nothing: The words if nothing changes.
    """
    names = few(dict.fromkeys(review.stack for review in reviews), _MOST_STACKS)
    place = f" in {folder}" if folder else ""
    return f"Slipway plan for {names}{place}: {summary(reviews, rows, nothing)}"


def summary(reviews: Sequence[Review], rows: Rows, nothing: str = NOTHING) -> str:
    """Return the numbers of resources by severity, and the change of costs."""
    parts = []
    if any(review.refused for review in reviews):
        parts.append(f"{SIGNS[Grade.BLOCKING]} rejected")
    parts += _counts(row for row in rows.all if not refuses(row.lead))
    if any(review.incomplete for review in reviews):
        parts.append(f"{SIGNS[Grade.WARNING]} incomplete")
    known = [row for row in rows.all if row.on_main]
    if not parts and known:
        parts.append(f"✓ nothing new, {counted(len(known), 'finding')} {ON_MAIN}")
    if not parts:
        parts.append(f"✓ {nothing}")
    cost = _cost_change([review.costs for review in reviews if review.costs is not None])
    if cost:
        parts.append(cost)
    return " · ".join(parts)


def _counts(rows: Iterable[Row]) -> list[str]:
    """Return the numbers of blocking resources and of warnings; without any, that of changes."""
    grades = [row.grade for row in rows if not row.on_main]
    blocking = grades.count(Grade.BLOCKING)
    warnings = grades.count(Grade.WARNING)
    notes = grades.count(Grade.NOTE)
    counts = []
    if blocking:
        counts.append(f"{SIGNS[Grade.BLOCKING]} {blocking} blocking")
    if warnings:
        counts.append(f"{SIGNS[Grade.WARNING]} {counted(warnings, 'warning')}")
    if notes and not counts:
        counts.append(f"{SIGNS[Grade.NOTE]} {counted(notes, 'change')}")
    return counts


def _cost_change(costs: Iterable[Costs]) -> str:
    """Return `up to +$148k/month`, or `+$1.7k/month idle` if only that changes; empty if both stay or are unknown."""
    idle = Decimal(0)
    most = Decimal(0)
    for each in costs:
        if each.idle_before is not None:
            idle += monthly(each.idle - each.idle_before)
        if each.most_before is not None:
            most += monthly(each.most - each.most_before)
    if abs(most) >= NOTABLE:
        return f"up to {brief(most)}/month"
    if abs(idle) >= NOTABLE:
        return f"{brief(idle)}/month idle"
    return ""


def monthly(per_hour: float) -> Decimal:
    """Return USD a month."""
    return Decimal(str(per_hour)) * HOURS_OF_A_MONTH


def brief(amount: Decimal) -> str:
    """Return `+$1.7k`, `−$886k`, `+$45`."""
    sign = "−" if amount < 0 else "+"
    most = abs(amount)
    for unit, size in (("M", Decimal(10**6)), ("k", Decimal(10**3))):
        if most >= size:
            number = most / size
            digits = 1 if number < 10 else 0
            return f"{sign}${number:,.{digits}f}{unit}"
    return f"{sign}${most:.0f}"


def standing_line(review: Review) -> str:
    """Return `Cost per month: $74,172 idle, $296,687 → $444,353 at maximum. Quota: sufficient now. Policy: passed.`"""
    parts = []
    if review.costs is not None:
        idle = _sides(review.costs.idle_before, review.costs.idle)
        most = _sides(review.costs.most_before, review.costs.most)
        parts.append(f"Cost per month: {idle} idle, {most} at maximum.")
    if review.quota:
        parts.append(f"Quota: {review.quota.rstrip('.')}.")
    if review.policy:
        parts.append(f"Policy: {review.policy.rstrip('.')}.")
    return " ".join(parts)


def _sides(before: float | None, after: float) -> str:
    new = f"${monthly(after):,.0f}"
    if before is None:
        return new
    old = f"${monthly(before):,.0f}"
    return new if old == new else f"{old} → {new}"
