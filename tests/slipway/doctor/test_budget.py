"""What the doctor says of a budget: spent, short, or not known. # N19, N10"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from slipway.budget import Budget, Ledger, month_of
from slipway.findings.finding import Finding, Grade
from tests.slipway.doctor.picture import CPU, found, published
from tests.slipway.review.builders import NOW, catalog

LEDGER = Ledger(NOW - timedelta(hours=1), month_of(NOW), 500.0, 900.0, {"vision": 95.0}, {"ada": 10.0})


def said(budget: Budget | None, ledger: Ledger | str | None = LEDGER) -> dict[str, Finding]:
    whole = replace(catalog(CPU), budget=budget)
    return {kind: one for kind, one in found(published=published(whole), ledger=ledger).items() if "budget" in kind}


def test_a_stack_within_its_budget_or_without_one_is_well() -> None:
    assert said(None, None) == {} and said(Budget(1000, {"vision": 200})) == {}


@pytest.mark.parametrize(
    ("budget", "grade"), [(Budget(600), Grade.WARNING), (Budget(500, enforce=True), Grade.BLOCKING)]
)
def test_a_budget_that_is_nearly_or_wholly_spent_is_told(budget: Budget, grade: Grade) -> None:
    assert said(budget)["budget-spent"].grade is grade


def test_a_team_that_may_spend_nothing_and_has_not_is_well() -> None:
    assert said(Budget(teams={"nlp": 0}, enforce=True)) == {}
    assert said(Budget(teams={"vision": 0}, enforce=True))["budget-spent"].grade is Grade.BLOCKING


def test_a_team_s_budget_is_told_as_the_stack_s() -> None:
    assert said(Budget(teams={"Vision": 100}))["budget-spent"].subject == "budget team Vision"


def test_a_budget_that_will_not_last_is_told_before_it_is_spent() -> None:
    assert set(said(Budget(800))) == {"budget-short"}
    assert said(Budget(800), replace(LEDGER, forecast=None)) == {}


@pytest.mark.parametrize(
    "ledger",
    [None, "no hourly run has told", replace(LEDGER, month="2020-01"), replace(LEDGER, at=NOW - timedelta(days=3))],
)
def test_a_budget_of_which_nothing_is_known_is_told(ledger: Ledger | str | None) -> None:
    assert set(said(Budget(1), ledger)) == {"budget-unknown"}


def test_a_month_that_is_younger_than_the_last_run_is_no_finding() -> None:
    """Notices of the first hour of each month opened an issue, which the second hour closed."""
    ended = NOW.replace(day=1, hour=0, minute=0, second=0, microsecond=0) - timedelta(minutes=10)
    last = replace(LEDGER, at=ended, month=month_of(ended))
    whole = replace(catalog(CPU), budget=Budget(1))

    def said_at(now: datetime) -> set[str]:
        kinds = found(published=published(whole), ledger=last, now=now)
        return {kind for kind in kinds if "budget" in kind}

    assert said_at(ended + timedelta(minutes=40)) == set()
    assert said_at(ended + timedelta(hours=25)) == {"budget-unknown"}
