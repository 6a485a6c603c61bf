"""The costs of a change: idle and at most, the overlap, runs of templates. # Z8 # N5"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.deploying.engine.preview import Preview
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.cluster import Adoption
from slipway.model.findings.finding import Grade
from slipway.model.prices import UNKNOWN, Price
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import Review, review
from slipway.reviewing.rules.money import costs, money
from slipway.reviewing.told.comment import Place, comment
from slipway.reviewing.told.headline import plain_text
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    by_kind,
    change,
    cluster,
    facts,
    offer,
    pool,
    priced,
    request,
    template,
    worker_pool,
)

OLD = cluster("h100", pool("workers", H100, 1, 4, price=priced("101.01")))


def said(change: Change) -> dict[str, Consequence]:
    return by_kind(costs(change))


def cost(known: str, high: int = 4) -> Any:
    """A cluster of one machine at this price."""
    return cluster("cpu", pool("workers", CPU, 1, high, price=priced(known)))


def coming(first: int, last: int | None) -> Mapping[str, DormantCluster]:
    begins, ends = (NOW + timedelta(day) if day else None for day in (first, last))
    return {"next": DormantCluster(**{**vars(OLD), "name": "next", "season": Season(begins, ends)})}


def test_a_cluster_whose_season_is_to_come_counts_at_most_and_not_idle() -> None:  # N5 Z8
    coming = DormantCluster(**vars(OLD))
    over, given_up = replace(coming, since=NOW), DormantCluster(**vars(OLD), why="idle", since=NOW)
    begun = money(change(facts(clusters={}, dormant={"h100": coming}), facts(OLD)))
    assert (begun.idle.difference, begun.most.difference) == (Decimal("101.01"), Decimal(0))
    for gone in (over, given_up, replace(coming, adopted=Adoption("team-a"))):
        assert not money(change(facts(clusters={}), facts(clusters={}, dormant={"h100": gone}))).most.difference


def test_seasons_that_take_turns_are_not_added_up() -> None:  # N5 Z8
    turn = NOW + timedelta(days=9)
    first = replace(OLD, season=Season(ends=turn))
    second = DormantCluster(**{**vars(OLD), "name": "second", "season": Season(begins=turn)})
    amounts = money(change(facts(first), facts(first, dormant={"second": second})))
    assert (amounts.most.after, amounts.most.difference) == (priced("404.04"), Decimal(0))
    beside = replace(second, season=Season(begins=turn - timedelta(days=1)))
    assert money(change(facts(first), facts(first, dormant={"second": beside}))).most.after == priced("808.08")
    late = replace(second, season=Season(begins=NOW - timedelta(days=1)), lacks=("cpus",))
    waits = money(change(facts(OLD), facts(OLD, dormant={"second": late})))
    assert (waits.idle.difference, waits.most.after) == (Decimal(0), priced("808.08")), "it comes any day"


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


@pytest.mark.parametrize(
    ("was", "becomes", "asks", "says"),
    [
        (None, (5, 9), "idle-cost", "$73,737 a month more with nothing running at times"),
        (None, (5, None), "idle-cost", "with nothing running at times"),
        ((5, 9), (5, 10), "idle-cost", "at times"),
        ((5, 9), (4, 10), "idle-cost", "at times"),
        ((5, 9), (4, 9), "most-cost", "with every pool at its maximum at times"),
        ((5, 9), (6, 9), "idle-cost", "$73,737 a month less with nothing running at times"),
    ],
    ids=("new", "endless", "longer", "both", "earlier", "later"),
)
def test_a_season_is_approved_with_the_commit_that_declares_it(
    was: tuple[int, int] | None, becomes: tuple[int, int | None], asks: str, says: str
) -> None:
    policy = {"approveAbove": {asks: 10_000}}

    sides = [facts(OLD, commit=str(days), dormant=coming(*days) if days else {}) for days in (was, becomes)]
    told = said(change(*(replace(side, policy=policy) for side in sides)))
    assert told[asks].grade is (Grade.NOTE if "less" in says else Grade.BLOCKING) and says in told[asks].does


@pytest.mark.parametrize(("limit", "idle"), [(4 / 24, ""), (7, ""), (8, "$73,737"), (None, "$73,737")])
def test_a_month_with_nothing_running_ends_with_the_idle_limit(limit: float | None, idle: str) -> None:  # Z8
    """A cluster of four hours was told with a month's cost, and one of a year must not go without an approval."""
    new = replace(OLD, season=Season(idle_limit=timedelta(limit) if limit else None))
    asks = {"approveAbove": {"idle-cost": 10_000}}
    before, after = facts(clusters={}, commit="a"), facts(new, commit="b")
    told = said(change(replace(before, policy=asks), replace(after, policy=asks))).get("idle-cost")
    assert (told is not None) is bool(idle)
    assert told is None or (told.grade is Grade.BLOCKING and idle in told.does)


def test_no_approval_is_spoken_of_where_nothing_is_deployed() -> None:
    asks = {"approveAbove": {"idle-cost": 10}}
    sides = [replace(facts(cost(price), commit=price), policy=asks) for price in ("100", "120")]
    refused = change(*sides, preview=Preview(refused=True, errors=("error: no",)))
    told = review(refused)
    assert told.refused and "needs an approval" not in comment([told], Place(tree="4f1c8d20b7a9"))
    assert "an approval" not in comment([told], Place(tree="4f1c8d20b7a9"))
    assert "needs an approval" in said(change(*sides))["idle-cost"].so


@pytest.mark.parametrize(("after", "shown"), [("101", "73,000 → 73,730"), ("120", "**73,000 → 87,600**")])
def test_the_table_has_in_bold_what_a_stack_does_not_tolerate(after: str, shown: str) -> None:
    amounts = money(change(facts(cost("100", high=1)), facts(cost(after, high=1))))
    assert f"| {shown}, up to " in comment([Review("prod", money=amounts, quoted=("x",))])


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


def test_a_run_that_a_parameter_makes_larger_is_priced_by_its_default() -> None:  # Z8
    """A comment called the price of two machines the most that a run costs, where three may be asked for."""
    sized = request({**worker_pool(CPU), "replicaCount": "${workers}"})
    for body, told in ((sized, True), (request(worker_pool(CPU)), False)):
        old, new = (facts(template("lora", replace(on_demand(price), request=body))) for price in ("1", "3"))
        assert (" a run that way (default size)" in said(change(old, new))["run-cost"].sentence) is told


def test_a_sum_of_a_season_is_in_no_title() -> None:
    larger = cluster("h100", pool("workers", H100, 1, 6, price=priced("101.01")))
    edited = change(facts(OLD, commit="a", dormant=coming(5, 9)), facts(larger, commit="b"))
    assert said(edited)["most-cost"].does == "costs $147,475 a month more with every pool at its maximum at times"
    assert "a month at most" not in plain_text(review(edited)).partition("\n")[0]
