"""The cost with nothing running, and with every pool at its maximum."""

from dataclasses import replace
from datetime import timedelta

from slipway.answers import cost
from slipway.answers.answer import differences
from slipway.answers.comparison import Comparison, Side
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.cluster import Adoption
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.season import Season
from tests.slipway.reviewing.builders import H100, NOW, by_kind, change, cluster, facts, pool, priced

NOTE, WARNING, BLOCKING = Grade


def h100(low: int, high: int, price: str = "100") -> Cluster:
    return cluster("h100", pool("workers", H100, low, high, price=priced(price)))


def compared(before: Facts | None, after: Facts | None) -> Comparison:
    return change(before, after).comparison


def findings(before: Facts | None, after: Facts | None) -> dict[str, Finding]:
    comparison = compared(before, after)
    sides = [tuple(cost.answers(comparison, side)) for side in Side]
    return by_kind(cost.findings(comparison, differences(*sides)))


def approving(part: Cluster, **sums: float) -> Facts:
    return replace(facts(part), policy={"approveAbove": {key.replace("_", "-"): usd for key, usd in sums.items()}})


def test_a_higher_maximum_costs_more_at_maximum_only() -> None:
    (part,) = findings(facts(h100(1, 4)), facts(h100(1, 6))).values()
    assert (part.kind, part.grade, part.cost) == ("most-cost", NOTE, 200)
    assert part.sentence == "costs $146,000 more a month with every pool at its maximum: $292,000 → $438,000"
    assert findings(facts(h100(1, 4)), facts(h100(1, 4))) == {}


def test_a_steep_rise_is_a_warning_and_one_above_the_limit_is_blocking() -> None:
    assert findings(facts(h100(1, 4)), facts(h100(2, 4)))["idle-cost"].grade is WARNING
    assert findings(facts(h100(2, 4)), facts(h100(1, 4)))["idle-cost"].grade is NOTE
    assert findings(None, facts(h100(2, 4)))["idle-cost"].grade is NOTE
    part = findings(approving(h100(1, 4), most_cost=5000), facts(h100(1, 6)))["most-cost"]
    assert part.grade is BLOCKING and "above $5,000 needs an approval" in part.sentence
    assert findings(facts(h100(1, 4)), approving(h100(1, 6), most_cost=500_000))["most-cost"].grade is NOTE


def test_machines_without_a_price_may_cost_more_than_the_limit() -> None:
    unknown = cluster("h100", pool("workers", H100, 1, 6, price=priced("0", complete=False)))
    part = findings(approving(h100(1, 4), most_cost=500_000), facts(unknown))["most-cost"]
    assert part.grade is BLOCKING and "6 more machines have no known price" in part.sentence


def test_a_season_costs_from_its_date_on() -> None:
    spec = replace(h100(1, 4), name="next", season=Season(begins=NOW + timedelta(days=5)))
    after = facts(cluster(), dormant={"next": DormantCluster(**vars(spec))})
    part = findings(facts(cluster()), after)["idle-cost"]
    assert "from 2026-11-26" in part.sentence and part.cost == 100
    assert findings(after, after) == {}


def test_a_cluster_of_another_owner_costs_nothing() -> None:
    theirs = replace(h100(1, 4), adopted=Adoption("x"))
    assert findings(facts(cluster()), facts(cluster(), theirs)) == {}


def test_idle_machines_use_up_an_enforced_budget() -> None:
    budget = Budget(stack=50_000, enforce=True)
    parts = compared(facts(h100(1, 4)), facts(h100(1, 4), budget=budget))
    (part,) = cost.findings(parts, ())
    assert part.grade is BLOCKING and part.sentence.startswith("idle machines alone use 146 %")
    assert findings(facts(h100(1, 4), budget=budget), facts(h100(1, 4), budget=budget)) == {}


def test_a_coming_season_uses_up_an_enforced_budget() -> None:
    spec = replace(h100(1, 4), name="next", season=Season(begins=NOW + timedelta(days=5)))
    budget = Budget(stack=100_000, enforce=True)
    before = facts(h100(1, 4), budget=budget)
    after = facts(h100(1, 4), budget=budget, dormant={"next": DormantCluster(**vars(spec))})
    part = findings(before, after)["stack-warning"]
    assert part.grade is BLOCKING and part.subject == "budget stack"
    assert part.sentence.startswith("from 2026-11-26 09:00 UTC on, idle machines alone use 146 % of the monthly budget")
    assert part.sentence.endswith("all submissions are rejected from about day 21 of a month")


def test_the_costs_of_both_sides() -> None:
    both = cost.costs(compared(facts(h100(1, 4)), facts(h100(1, 6))))
    assert both == cost.Costs(100, 100, 400, 600)
    assert cost.costs(compared(facts(h100(1, 4)), None)) is None
    unread = cost.costs(change(None, facts(h100(1, 4)), unread=("the state",)).comparison)
    assert unread == cost.Costs(None, 100, None, 400)
