"""Limits of a budget that go, beside others of the same change."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from slipway.model.budget import Budget
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.findings.finding import Grade
from slipway.model.prices import Price
from slipway.model.season import Season
from slipway.reviewing.rules.budget import budgets
from tests.slipway.reviewing.builders import NOW, change, cluster, facts, pool


def test_a_team_whose_limit_goes_is_not_held_by_a_limit_of_the_stack_that_refuses_nothing() -> None:
    was, now = Budget(stack=80000, teams={"ml": 5000}, enforce=True), Budget(stack=80000, enforce=False)
    told = " / ".join(f"{each.does} {each.so}" for each in budgets(change(facts(budget=was), facts(budget=now))))
    assert "has no limit of its own any more nobody is refused any more" in told


def test_idle_pools_with_a_part_of_no_known_price_cost_at_least_their_sum() -> None:
    pools = facts(cluster("t4", pool(price=Price(Decimal(1), complete=False))))
    over = replace(pools, catalog=replace(pools.catalog, budget=Budget(stack=700, enforce=True)))
    (share,) = (each for each in budgets(change(pools, over)) if each.kind == "budget-share")
    assert "106 % and more of the stack's budget" in share.does


def test_a_budget_that_is_to_suffice_is_that_of_a_month_with_all_of_a_season() -> None:
    paid = cluster("cpu", pool(price=Price(Decimal(1))))
    season = Season(NOW + timedelta(days=30), NOW + timedelta(days=300))
    next_ = DormantCluster(**{**vars(cluster("next", pool(price=Price(Decimal(2))))), "season": season})
    pools = facts(paid, dormant={"next": next_})
    over = replace(pools, catalog=replace(pools.catalog, budget=Budget(stack=700, enforce=True)))
    (share,) = (each for each in budgets(change(pools, over)) if each.kind == "budget-share")
    assert "319 % of the stack's budget" in share.does


def test_a_limit_of_nothing_refuses_each_submission_also_as_the_engine_has_its_number() -> None:
    was, now = Budget(stack=2000, enforce=True), Budget(stack=0, enforce=True)
    (told,) = budgets(change(facts(budget=was), facts(budget=now)))
    assert (told.row, told.grade) == ("budget-nothing", Grade.BLOCKING)
