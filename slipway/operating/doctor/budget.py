"""The spent part of a stack's budget, as the last hourly run found."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from slipway.base.formatting import span, usd
from slipway.model.budget import Ledger, age_words, all_shares, month_of
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.operating.doctor.picture import Picture

_LATE_S = 24 * 3600.0
"""The age of a ledger that tells that the hourly runs have stopped."""


def budget(picture: Picture) -> Iterator[Finding]:
    catalog, found = picture.catalog, picture.ledger
    if catalog is None or catalog.budget is None:
        return
    run = f"slipway record{picture.of_catalog}"
    if _has_just_begun(found, picture.now):
        return
    if not isinstance(found, Ledger) or not found.about(picture.now) or found.age(picture.now) > _LATE_S:
        why = found if isinstance(found, str) else "nothing was read"
        why = f"last told {span(found.age(picture.now))} ago" if isinstance(found, Ledger) else why
        means = "the workflow of scheduled deployments does it each hour"
        yield KINDS["budget-unknown"].of(Subject("budget"), f"nobody knows what is spent: {why}", run, means)
        return
    for one in all_shares(catalog.budget, found, picture.stack):
        if one.warns:
            words = f"{one.words} ({age_words(found, picture.now)})"
            grade = Grade.BLOCKING if one.refuses else None
            means = "slipway submit refuses what comes now" if one.refuses else "a higher slipway:budget, or less use"
            yield KINDS["budget-spent"].of(Subject("budget", one.whose), words, run, means, grade=grade)
    forecast, limit = found.forecast, catalog.budget.stack
    if forecast is not None and limit and found.spent < limit < forecast:
        words = f"stack {picture.stack} will have spent {usd(forecast)} by the month's end, of {usd(limit)}"
        means = "as the last week was; a higher slipway:budget, or less use"
        yield KINDS["budget-short"].of(Subject("budget", "forecast"), words, run, means)


def _has_just_begun(found: Ledger | str | None, now: datetime) -> bool:
    """Tell whether the month began after the last run: the next one tells its spending."""
    if not isinstance(found, Ledger) or found.month != month_of(found.at):
        return False
    return found.age(now) <= _LATE_S and not found.about(now)
