"""The headline of a review and the line with cost, quota and policy. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from slipway.answers.cost import Costs
from slipway.base.formatting import counted, few
from slipway.model.findings.finding import Grade
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import NOTABLE
from slipway.reviewing.render.rows import ON_MAIN, Rows
from slipway.reviewing.review import Review

NOTHING = "nothing changes for jobs, money or access"
_MOST_STACKS = 3


def headline(reviews: Sequence[Review], rows: Rows, *, folder: str = "") -> str:
    """Return `Slipway plan for prod: ⛔ 1 blocking · ⚠ 2 warnings · up to +$148k/month`. `folder`: the project's."""
    names = few(dict.fromkeys(review.stack for review in reviews), _MOST_STACKS)
    place = f" in {folder}" if folder else ""
    parts = _counts(reviews, rows) or [f"✓ {NOTHING}"]
    return f"Slipway plan for {names}{place}: {' · '.join((*parts, *_cost_change(reviews)))}"


def _counts(reviews: Sequence[Review], rows: Rows) -> list[str]:
    """Return the numbers of resources by severity; without any, that of changes, settings or known findings."""
    news = [row for row in rows.all if not row.on_main]
    grades = Counter(row.grade for row in news)
    return _present(
        {
            "⛔ rejected": any(review.refused for review in reviews),
            f"⛔ {grades[Grade.BLOCKING]} blocking": grades[Grade.BLOCKING],
            f"⚠ {counted(grades[Grade.WARNING], 'warning')}": grades[Grade.WARNING],
            "⚠ incomplete": any(review.incomplete for review in reviews),
        }
    ) or _mild(sum(len(review.settings) for review in reviews), grades[Grade.NOTE], len(rows.all) - len(news))


def _mild(settings: int, notes: int, known: int) -> list[str]:
    """Return the first number that is not 0: of changes, changed settings or findings that main has already."""
    parts = {
        f"• {counted(notes, 'change')}": notes,
        f"• {counted(settings, 'changed setting')}": settings,
        f"✓ nothing new, {counted(known, 'finding')} {ON_MAIN}": known,
    }
    return _present(parts)[:1]


def _present(parts: Mapping[str, int]) -> list[str]:
    return [part for part, number in parts.items() if number]


def _cost_change(reviews: Iterable[Review]) -> list[str]:
    """Return `up to +$148k/month`, or `+$1.7k/month idle` if that changes more; nothing if both stay or are unknown."""
    known = [review.costs for review in reviews if review.costs is not None]
    most = monthly(sum(_change(costs.most_before, costs.most) for costs in known))
    idle = monthly(sum(_change(costs.idle_before, costs.idle) for costs in known))
    if abs(most) >= max(NOTABLE, abs(idle)):
        return [f"up to {brief(most)}/month"]
    if abs(idle) >= NOTABLE:
        return [f"{brief(idle)}/month idle"]
    return []


def _change(before: float | None, after: float) -> float:
    return 0.0 if before is None else after - before


def monthly(per_hour: float) -> Decimal:
    """Return USD a month."""
    return Decimal(str(per_hour)) * HOURS_OF_A_MONTH


def brief(amount: Decimal) -> str:
    """Return `+$1.7k`, `−$886k`, `+$45`."""
    sign = "−" if amount < 0 else "+"
    size = abs(amount)
    if size < 1000:
        return f"{sign}${size:.0f}"
    thousands = size / 1000
    return f"{sign}${thousands:.1f}k" if thousands < 10 else f"{sign}${thousands:,.0f}k"


def standing_line(review: Review) -> str:
    """Return `Cost per month: $74,172 idle, $296,687 → $444,353 at maximum. Quota: sufficient now. Policy: passed.`"""
    parts = {"Cost per month": _costs(review.costs), "Quota": review.quota, "Policy": review.policy}
    return " ".join(f"{name}: {state.rstrip('.')}." for name, state in parts.items() if state)


def _costs(costs: Costs | None) -> str:
    if costs is None:
        return ""
    return f"{_sides(costs.idle_before, costs.idle)} idle, {_sides(costs.most_before, costs.most)} at maximum"


def _sides(before: float | None, after: float) -> str:
    amounts = [f"${monthly(amount):,.0f}" for amount in (before, after) if amount is not None]
    return " → ".join(dict.fromkeys(amounts))
