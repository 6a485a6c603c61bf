"""The spent part of a stack's budget, as the last hourly run found."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.base.formatting import span, usd
from slipway.model.budget import Ledger, age_words, month_of, shares
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.operating.doctor.picture import Picture

_LATE_S = 24 * 3600.0
"""The age of a ledger that tells that the hourly runs have stopped."""


def budget(picture: Picture) -> Iterator[Finding]:
    """Find budgets that are spent or do not last, and a ledger that is not kept any more."""
    catalog, ledger = picture.catalog, picture.ledger
    if catalog is None or catalog.budget is None:
        return
    run, why = f"slipway record{picture.of_catalog}", ""
    if not isinstance(ledger, Ledger):
        why = ledger or "nothing was read"
    elif (age := ledger.age(picture.now)) > _LATE_S or not ledger.about(picture.now):
        if age <= _LATE_S and ledger.month == month_of(ledger.at):
            return  # The month began after the last run: the next one tells its spending.
        why = f"last told {span(age)} ago"
    if why or not isinstance(ledger, Ledger):
        means = "the workflow of scheduled deployments does it each hour"
        yield KINDS["budget-unknown"].of(Subject("budget"), f"nobody knows what is spent: {why}", run, means)
        return
    limit_key = catalog.origin.key("slipway:budget")
    for share in shares(catalog.budget, ledger, picture.stack):
        if share.warns:
            words = f"{share.words} ({age_words(ledger, picture.now)})"
            grade = Grade.BLOCKING if share.refuses else None
            means = "slipway submit refuses what comes now" if share.refuses else f"a higher {limit_key}, or less use"
            yield KINDS["budget-spent"].of(Subject("budget", share.whose), words, run, means, grade=grade)
    forecast, limit = ledger.forecast, catalog.budget.stack
    if forecast is not None and limit and ledger.spent < limit < forecast:
        words = f"stack {picture.stack} will have spent {usd(forecast)} by the month's end, of {usd(limit)}"
        means = f"as the last week was; a higher {limit_key}, or less use"
        yield KINDS["budget-short"].of(Subject("budget", "forecast"), words, run, means)
