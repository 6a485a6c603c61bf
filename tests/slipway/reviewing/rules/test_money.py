"""The costs of a change: idle and at most, the overlap, runs of templates. # Z8 # N5"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.model.findings.finding import Grade
from slipway.model.prices import UNKNOWN, Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import review
from slipway.reviewing.rules.money import costs, money
from slipway.reviewing.told.headline import plain_text
from tests.slipway.reviewing.builders import CPU, H100, by_kind, change, cluster, facts, offer, pool, priced, template

OLD = cluster("h100", pool("workers", H100, 1, 4, price=priced("101.01")))


def said(change: Change) -> dict[str, Consequence]:
    return by_kind(costs(change))


def cost(known: str, high: int = 4) -> Any:
    """A cluster of one machine at this price."""
    return cluster("cpu", pool("workers", CPU, 1, high, price=priced(known)))


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        ("0", "0.02", Grade.WARNING),
        ("1", "1.09", Grade.NOTE),  # $66 of $730
        ("1", "1.11", Grade.WARNING),
        ("200", "209", Grade.NOTE),
        ("200", "211", Grade.WARNING),  # $8,030 of $146,000
    ],
)
def test_a_rise_is_a_warning_beyond_a_tenth_of_the_month_or_10_dollars_an_hour(
    before: str, after: str, grade: Grade
) -> None:
    assert said(change(facts(cost(before)), facts(cost(after))))["idle-cost"].grade is grade
    old, new = (facts(template("lora", on_demand(price))) for price in (before, after))
    assert said(change(old, new))["run-cost"].grade is grade


@pytest.mark.parametrize(
    ("deployed", "declared", "commit", "grade"),
    [
        (None, {"idle-cost": 10_000}, "b", Grade.BLOCKING),
        ({"idle-cost": 10_000}, {"idle-cost": 90_000}, "b", Grade.BLOCKING),  # no change makes itself harmless
        ({"idle-cost": 10_000}, None, "a", Grade.WARNING),  # what comes by itself was approved with its commit
        ({"idle-cost": 20_000, "most-cost": 10_000}, {"idle-cost": "any"}, "b", Grade.WARNING),  # $14,600
    ],
)
def test_from_a_sum_of_the_stacks_own_on_more_money_needs_an_approval(
    deployed: Any, declared: Any, commit: str, grade: Grade
) -> None:
    before = replace(facts(cost("100"), commit="a"), policy={"approveAbove": deployed or {}})
    after = replace(facts(cost("120"), commit=commit), policy={"approveAbove": declared or {}})
    assert said(change(before, after))["idle-cost"].grade is grade


@pytest.mark.parametrize(
    ("was", "becomes", "grade", "says"),
    [
        ("1.23", priced("101.80"), Grade.BLOCKING, "up to $73,416"),
        ("0", priced("101.80"), Grade.BLOCKING, "up to $74,314"),
        ("1.23", priced("101.80", complete=False), Grade.BLOCKING, "$73,416"),
        ("1.23", priced("1.43"), Grade.NOTE, "up to $146"),
        ("101.80", priced("1.23"), Grade.NOTE, "at least $73,416"),
    ],
)
def test_a_price_that_no_list_has_silences_no_sum_that_needs_an_approval(
    was: str, becomes: Price, grade: Grade, says: str
) -> None:
    """A T4 on an N1 machine has no price, so the old cost is not known, and the rise is at most what is known of it."""
    old = cluster("cpu", pool("workers", CPU, 1, 1, price=priced(was, complete=False)))
    new = cluster("cpu", pool("workers", CPU, 1, 1, price=becomes))
    asks = {"approveAbove": {"idle-cost": 200}}
    edited = change(replace(facts(old, commit="a"), policy=asks), replace(facts(new, commit="b"), policy=asks))
    told = said(edited)["idle-cost"]
    assert (told.grade, told.does.partition(" a month")[0]) == (grade, f"costs {says}")
    assert ("above $200 a month it needs an approval" in told.so) is (grade is Grade.BLOCKING)
    assert ("a part of the old cost is in no price list" in told.so) is ("up to" in says)
    assert "+$" not in plain_text(review(edited)).partition("\n")[0], "no title has a sum that nobody knows"


def test_a_run_whose_price_nobody_knows_any_more_is_a_warning() -> None:
    """An A100 at $2.34/h became eight H200, which no list has."""
    unpriced = template("lora", offer("on-demand", price_per_hour=UNKNOWN))
    assert said(change(facts(template("lora", on_demand("1"))), facts(unpriced)))["run-cost"].grade is Grade.WARNING


@pytest.mark.parametrize(("deployed", "declared", "grade"), [(4, 1, Grade.NOTE), (2, 9, Grade.WARNING)])
def test_a_run_that_anybody_may_submit_unasked_is_no_warning(deployed: float, declared: float, grade: Grade) -> None:
    """Harm is judged as deployed: no change makes itself harmless."""
    before = facts(template("lora", on_demand("1")), confirm_above=deployed)
    after = facts(template("lora", on_demand("3")), confirm_above=declared)
    assert said(change(before, after))["run-cost"].grade is grade


def test_nothing_before_and_what_nobody_could_tell() -> None:
    assert money(change(None, facts(OLD))).idle.before == Price()
    assert money(change(None, facts(OLD), unread=("the catalog: denied",))).idle.before == UNKNOWN
    assert said(change(None, facts(OLD), unread=("the catalog: denied",))) == {}
    assert money(change(facts(OLD), None)).idle.after == UNKNOWN
    assert said(change(facts(OLD), None)) == {}


def on_demand(price: str) -> Any:
    return offer("on-demand", price_per_hour=priced(price))
