"""The budget before a job is sent: warned at 80 %, refused at 100 % where the stack says so. # N19, N16"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway import codec
from slipway.budget import Budget, Ledger, shares
from slipway.errors import PolicyError
from slipway.submission.budget_check import check_budget

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LEDGER = Ledger(NOW - timedelta(minutes=40), "2026-11", 60_000, 90_000, {"vision": 27_600, "speech": 100}, {"ada": 480})
BUDGET = Budget(80_000, {"Vision": 30_000}, {"ada": 500})


def told(budget: Budget, ledger: Ledger | str = LEDGER, *, team: str = "vision", user: str = "ada") -> list[str]:
    lines: list[str] = []
    check_budget(budget, ledger, stack="prod", team=team, user=user, now=NOW, tell=lines.append)
    return lines


def test_who_has_spent_most_of_it_is_warned_with_its_age(snapshot: SnapshotAssertion) -> None:
    assert told(BUDGET) == snapshot
    assert told(BUDGET, team="speech", user="ben") == []


@pytest.mark.parametrize("over", [{"stack": 60_000}, {"teams": {"vision": 27_600}}])
def test_what_is_spent_up_is_refused_only_where_the_stack_enforces_it(over: dict[str, object]) -> None:
    budget = replace(BUDGET, **over)  # type: ignore[arg-type]
    assert any("100 %" in line for line in told(budget))
    with pytest.raises(PolicyError) as caught:
        told(replace(budget, enforce=True))
    assert caught.value.exit_code == 5


def test_a_user_is_self_declared_and_only_warned() -> None:
    assert "160 %" in told(Budget(users={"ada": 300}, enforce=True))[0]


@pytest.mark.parametrize("ledger", ["no hourly run has told", replace(LEDGER, month="2026-10")])
def test_nobody_is_refused_for_what_nobody_knows(ledger: Ledger | str) -> None:
    (line,) = told(Budget(stack=1, enforce=True), ledger)
    assert line.startswith("budget not checked")


def test_an_old_ledger_tells_its_age() -> None:
    assert told(Budget(stack=1e9), LEDGER) == []
    assert "5 h" in told(Budget(stack=1e9), replace(LEDGER, at=NOW - timedelta(hours=5)))[0]


@pytest.mark.parametrize("ledger", [LEDGER, replace(LEDGER, spent=0, teams={}), "no hourly run has told"])
@pytest.mark.parametrize("budget", [Budget(stack=0), Budget(teams={"Vision": 0})])
def test_a_budget_of_nothing_is_spent_up_before_anything_is(budget: Budget, ledger: Ledger | str) -> None:
    """With nothing spent it let the first jobs pass."""
    assert any("may spend nothing" in line for line in told(budget, ledger))
    with pytest.raises(PolicyError) as caught:
        told(replace(budget, enforce=True), ledger)
    assert caught.value.fix and "next month" not in caught.value.fix
    (share,) = shares(budget, replace(LEDGER, spent=0, teams={}), "prod", "vision", "")
    assert share.spent_up and not share.warns, "as it should be"


AMOUNTS = st.dictionaries(st.text(max_size=5), st.floats(0, 1e9), max_size=3)


@given(
    st.builds(
        Ledger, st.just(NOW), st.just("2026-11"), st.floats(0, 1e9), st.none() | st.floats(0, 1e9), AMOUNTS, AMOUNTS
    )
)
def test_a_ledger_is_read_as_it_was_written(ledger: Ledger) -> None:
    assert codec.read(Ledger, codec.write(ledger)) == ledger


@pytest.mark.parametrize("spent", ["NaN", "Infinity", "1e400", "-1", '"all"', "null"])
def test_a_ledger_of_no_amounts_is_none(spent: str) -> None:
    text = f'{{"at": "2026-11-20T11:20:00Z", "month": "2026-11", "spent": {spent}, "teams": {{"vision": 1}}}}'
    with pytest.raises(codec.MalformedError):
        codec.read(Ledger, json.loads(text))


def test_a_ledger_is_raised_by_an_earlier_one_of_its_month_in_each_amount() -> None:
    """Where jobs could not be read, idle machines made up for them in the sum, and teams had spent nothing."""
    before = replace(LEDGER, spent=900.0, forecast=950.0, teams={"vision": 95.0, "nlp": 1.0}, users={})
    now = replace(LEDGER, spent=905.0, forecast=None, teams={"nlp": 2.0}, users={"ada": 3.0})
    highest = replace(now, teams={"nlp": 2.0, "vision": 95.0})
    assert now.at_least(before) == highest == highest.at_least(now)
    assert replace(now, spent=1.0, forecast=2.0).at_least(before) == replace(highest, spent=900.0, forecast=900.0)
    assert now.at_least(replace(before, month="2020-01")) == now
