"""Limits of a budget that go, beside others of the same change."""

from slipway.model.budget import Budget
from slipway.reviewing.rules.budget import budgets
from tests.slipway.reviewing.builders import change, facts


def test_a_team_whose_limit_goes_is_not_held_by_a_limit_of_the_stack_that_refuses_nothing() -> None:
    was, now = Budget(stack=80000, teams={"ml": 5000}, enforce=True), Budget(stack=80000, enforce=False)
    told = " / ".join(f"{each.does} {each.so}" for each in budgets(change(facts(budget=was), facts(budget=now))))
    assert "may spend without a limit of its own the stack's $80,000 a month refuses nothing" in told
    assert "up to the stack's" not in told
