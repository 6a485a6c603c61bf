"""What a change costs: idle and at most, the overlap, runs of templates. # Z8 # N5"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.model import Study
from slipway.model.cluster import Adoption
from slipway.model.findings.finding import Finding, Grade
from slipway.model.prices import UNKNOWN, Price
from slipway.model.season import Season
from slipway.reviewing.change import Change
from slipway.reviewing.money import costs, money
from slipway.reviewing.rendering.comment import comment
from slipway.reviewing.review import Review
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    UNREAD,
    by_kind,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    offer,
    pool,
    priced,
    request,
    template,
    worker_pool,
)

OLD = cluster("h100", pool("workers", H100, 1, 4, price=priced("101.01")))
NEW = cluster("h100", pool("workers", H100, 1, 6, price=priced("101.01")))
TUNE = job(on=OLD)


def said(change: Change) -> dict[str, Finding]:
    return by_kind(costs(change))


def cost(known: str, *, complete: bool = True, high: int = 4) -> Any:
    """A cluster of one machine at this price."""
    return cluster("cpu", pool("workers", CPU, 1, high, price=priced(known, complete=complete)))


def test_idle_and_most_before_and_after_with_the_overlap(snapshot: SnapshotAssertion) -> None:  # N5
    both = change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=[living(OLD, used=2)], jobs=[TUNE])
    found = money(both)
    assert found.idle.difference == 0
    assert found.most.difference == Decimal("202.02")
    assert found.overlap == priced("202.02"), "what is up is paid, not the minimum"
    assert said(both).keys() == {"most-cost"}
    assert said(both)["most-cost"].sentence == snapshot


def test_a_cluster_whose_season_is_to_come_counts_at_most_and_not_idle() -> None:  # N5 Z8
    coming = DormantCluster(**vars(OLD))
    over, given_up = replace(coming, since=NOW), DormantCluster(**vars(OLD), why="idle", since=NOW)
    added = money(change(facts(clusters={}), facts(clusters={}, dormant={"h100": coming})))
    assert (added.idle.difference, added.most.difference) == (Decimal(0), Decimal("404.04"))
    begun = money(change(facts(clusters={}, dormant={"h100": coming}), facts(OLD)))
    assert (begun.idle.difference, begun.most.difference) == (Decimal("101.01"), Decimal(0))
    for gone in (over, given_up, replace(coming, adopted=Adoption("team-a"))):
        assert not money(change(facts(clusters={}), facts(clusters={}, dormant={"h100": gone}))).most.difference


def test_seasons_that_take_turns_are_not_added_up() -> None:  # N5 Z8
    turn = NOW + timedelta(days=9)
    first = replace(OLD, season=Season(ends=turn))
    second = DormantCluster(**{**vars(OLD), "name": "second", "season": Season(begins=turn)})
    found = money(change(facts(first), facts(first, dormant={"second": second})))
    assert (found.most.after, found.most.difference) == (priced("404.04"), Decimal(0))
    beside = replace(second, season=Season(begins=turn - timedelta(days=1)))
    assert money(change(facts(first), facts(first, dormant={"second": beside}))).most.after == priced("808.08")
    late = replace(second, season=Season(begins=NOW - timedelta(days=1)), lacks=("cpus",))
    waits = money(change(facts(OLD), facts(OLD, dormant={"second": late})))
    assert (waits.idle.difference, waits.most.after) == (Decimal(0), priced("808.08")), "it comes any day"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("2", "1", "With nothing running the stack costs $730 a month less: $2.00/h → $1.00/h (−$1.00/h)"),
        ("20", "21", "With nothing running the stack costs $730 a month more: $20.00/h → $21.00/h (+$1.00/h)"),
        ("1", "1.001", "With nothing running the stack costs less than $1 a month more: $1.00/h → $1.00/h (+$0.00/h)"),
    ],
)
def test_the_difference_an_hour_and_a_month(before: str, after: str, sentence: str) -> None:
    found = said(change(facts(cost(before)), facts(cost(after))))
    assert found["idle-cost"].sentence == sentence
    assert found["idle-cost"].grade == Grade.NOTE
    assert found["idle-cost"].cost == float(Decimal(after) - Decimal(before))


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        ("0", "0.01", Grade.NOTE),  # $7.30 a month
        ("0", "0.02", Grade.WARNING),
        ("1", "1.09", Grade.NOTE),  # $66 of $730
        ("1", "1.11", Grade.WARNING),
        ("200", "209", Grade.NOTE),
        ("200", "211", Grade.WARNING),  # $8,030 of $146,000
        ("200", "1", Grade.NOTE),
    ],
)
def test_a_rise_is_a_warning_beyond_a_tenth_of_the_month_or_10_dollars_an_hour(
    before: str, after: str, grade: Grade
) -> None:
    assert said(change(facts(cost(before)), facts(cost(after))))["idle-cost"].grade is grade
    assert run_cost((on_demand(before),), (on_demand(after),)).grade is grade


@pytest.mark.parametrize(("after", "shown"), [("101", "73,000 → 73,730"), ("120", "**73,000 → 87,600**")])
def test_the_table_has_in_bold_what_a_stack_does_not_tolerate(after: str, shown: str) -> None:
    found = money(change(facts(cost("100", high=1)), facts(cost(after, high=1))))
    assert f"| {shown}, up to " in comment([Review("prod", money=found, quoted=("x",))])


def test_what_nobody_warns_of() -> None:
    assert said(change(None, facts(cost("50"))))["idle-cost"].grade is Grade.NOTE, "a first deployment"
    learnt = change(facts(cost("1", complete=False)), facts(cost("9")))
    assert said(learnt)["idle-cost"].grade is Grade.NOTE, "what was not known may have cost as much"


@pytest.mark.parametrize(("deployed", "declared", "grade"), [(4, None, Grade.NOTE), (2, 9, Grade.WARNING)])
def test_a_run_that_anybody_may_submit_unasked_is_no_warning(
    deployed: float, declared: float | None, grade: Grade
) -> None:
    """As deployed: no change makes itself harmless."""
    before = facts(template("lora", on_demand("1")), confirm_above=deployed)
    after = facts(template("lora", on_demand("3")), confirm_above=declared)
    assert said(change(before, after))["run-cost"].grade is grade


def test_what_is_unknown_hides_nothing_that_is_known(snapshot: SnapshotAssertion) -> None:  # Z8
    found = said(change(facts(cost("1")), facts(cost("1.17", complete=False))))
    assert found["idle-cost"].sentence == snapshot
    whole, none = cluster("a", pool()), cluster("b", pool("x", CPU, 1, 2))
    unpriced = cluster("b", pool("x", CPU, 1, 2, price=UNKNOWN))
    found = said(change(facts(whole), facts(whole, unpriced)))
    assert found["price-unknown"].sentence == snapshot
    assert "price-unknown" not in said(change(facts(whole, unpriced), facts(whole, unpriced)))
    assert "price-unknown" not in said(change(facts(whole), facts(whole, none)))


def test_nothing_before_and_what_nobody_could_tell() -> None:
    assert money(change(None, facts(OLD))).idle.before == Price()
    assert money(change(None, facts(OLD), unread=("the catalog: denied",))).idle.before == UNKNOWN
    assert said(change(None, facts(OLD), unread=("the catalog: denied",))) == {}
    assert money(change(facts(OLD), None)).idle.after == UNKNOWN
    assert said(change(facts(OLD), None)) == {}
    assert round(money(change(facts(OLD), facts(NEW, kept(OLD)), clusters=UNREAD)).overlap.known) == 101


def test_a_cluster_that_goes_with_this_deployment_overlaps_with_nothing() -> None:
    assert money(change(facts(OLD), facts(NEW), clusters=[living(OLD)])).overlap == Price()
    first = replace(NEW, replacement="in-place")  # Its successor is made when it is gone.
    assert money(change(facts(OLD), facts(first, kept(OLD, TUNE)), clusters=[living(OLD)])).overlap == Price()


def spot(price: str = "30", **fields: Any) -> Any:
    return offer("spot", price_per_hour=priced(price), **fields)


def on_demand(price: str = "101", **fields: Any) -> Any:
    return offer("on-demand", price_per_hour=priced(price), **fields)


def run_cost(old: tuple[Any, ...], new: tuple[Any, ...]) -> Finding:
    """Return what is told of a run by other offers."""
    return said(change(facts(template("lora", *old)), facts(template("lora", *new))))["run-cost"]


def test_from_the_pool_to_machines_of_its_own_costs_all_that_those_cost(snapshot: SnapshotAssertion) -> None:
    here = offer(cluster="h100", machine=H100, price_per_hour=priced("101"))
    found, back = run_cost((here, on_demand()), (on_demand(),)), run_cost((on_demand(),), (here, on_demand()))
    assert found.sentence == snapshot
    assert (found.grade, found.cost) == (Grade.WARNING, 101.0)
    assert back.sentence == snapshot
    assert (back.grade, back.cost) == (Grade.NOTE, -101.0)


def test_what_a_submission_falls_back_to_counts_as_well() -> None:
    here = offer(cluster="h100", machine=H100)
    told = run_cost((here, spot()), (here, on_demand())).sentence
    assert "$30.00/h on Spot" in told and "$101.00/h on demand" in told


def test_the_same_offer_at_another_price(snapshot: SnapshotAssertion) -> None:
    found = run_cost((spot("30"), on_demand()), (spot("60"), on_demand()))
    assert found.details[0] == snapshot
    assert found.grade is Grade.WARNING


def test_a_tuning_job_costs_as_many_rounds_as_its_trials_need(snapshot: SnapshotAssertion) -> None:
    def tuned(trials: int) -> Any:
        body = {"trialJobSpec": request(worker_pool())["jobSpec"]}
        study = Study(trials, 5, "", (("loss", "MINIMIZE"),), ())
        one = offer("spot", kind="hyperparameter-tuning-job", request=body, price_per_hour=priced("1"))
        return template("tune", one, study=study)

    found = said(change(facts(tuned(10)), facts(tuned(1000))))["run-cost"]
    assert found.sentence == snapshot
    assert found.grade == Grade.WARNING


def test_a_new_template_costs_nobody_more() -> None:
    assert said(change(facts(), facts(template("lora", spot())))) == {}
