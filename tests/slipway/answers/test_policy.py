"""Rules that are broken or loosened, and limits of spending that change."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.answers import policy
from slipway.answers.answer import differences
from slipway.answers.comparison import Comparison, Side
from slipway.deploying.engine.preview import Objection, Preview
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Pool, PricedAlternative
from slipway.model.catalog.model import Team
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import TEAM_LABEL
from tests.slipway.reviewing.builders import (
    H100,
    by_kind,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    offer,
    pool,
    quota,
    template,
)

NOTE, WARNING, BLOCKING = Grade
OTHER = {"mandatory": {"regions": ["europe-west4"]}}
HERE = {"mandatory": {"regions": ["us-central1"]}}


def under(rules: Mapping[str, Any], **fields: Any) -> Facts:
    return replace(facts(**fields), policy=rules)


def compared(before: Facts | None, after: Facts | None, **world: Any) -> Comparison:
    return change(before, after, **world).comparison


def findings(before: Facts | None, after: Facts | None, **world: Any) -> dict[str, Finding]:
    comparison = compared(before, after, **world)
    sides = [tuple(policy.answers(comparison, side)) for side in Side]
    return by_kind(policy.findings(comparison, differences(*sides)))


def test_a_rule_is_broken_by_this_change_or_was_before() -> None:
    part = findings(under({}), under(OTHER))["policy-violated"]
    assert (part.grade, part.subject) == (BLOCKING, "policy regions region us-central1")
    assert part.sentence == "region us-central1: allowed are europe-west4"
    assert "policy-violated" in findings(None, under(OTHER)), "also in the first preview"
    advice = findings(under({}), under({"advisory": OTHER["mandatory"]}))["policy-advice"]
    assert advice.grade is WARNING
    assert findings(under(OTHER), under(OTHER)) == {}
    (line,) = policy.standing(compared(under(OTHER), under(OTHER)))
    assert line == "rule `regions` is broken: region us-central1: allowed are europe-west4"


def test_a_pack_of_the_team_objects() -> None:
    theirs = Objection("acme", "team-label", "bucket", "the label is missing", mandatory=True)
    ours = replace(theirs, pack="slipway")
    part = findings(under({}), under({}), preview=Preview(objections=(theirs, ours)))["policy-violated"]
    assert (part.subject, part.sentence) == ("policy team-label acme", "`bucket`: the label is missing")


@pytest.mark.parametrize(
    ("before", "after", "grade", "words"),
    [
        (HERE, {}, BLOCKING, "mandatory rule `regions` is loosened: us-central1 → no limit"),
        (HERE, {"mandatory": {"regions": ["us-*", "us-central1"]}}, BLOCKING, "us-central1 → us-*, us-central1"),
        (
            HERE,
            {"advisory": HERE["mandatory"]},
            BLOCKING,
            "mandatory rule `regions` is loosened: us-central1 → advice only",
        ),
        ({"advisory": {"mostCost": 900}}, {"advisory": {"mostCost": 9000}}, NOTE, "900 → 9000"),
        ({"advisory": {"quotaHeadroom": 20}}, {"advisory": {"quotaHeadroom": 10}}, NOTE, "20 → 10"),
        ({"grades": {}}, {"grades": {"jobs-cancelled": "warning"}}, BLOCKING, "blocking → warning"),
        ({"approveAbove": {"most-cost": 5000}}, {}, BLOCKING, "above: $5,000 → no limit"),
    ],
)
def test_a_rule_is_loosened(before: Any, after: Any, grade: Grade, words: str) -> None:
    part = findings(under(before), under(after))["policy-loosened"]
    assert part.grade is grade and words in part.sentence


def test_a_stricter_rule_that_holds_is_no_finding() -> None:
    assert findings(under({}), under(HERE)) == {}
    assert findings(under({"advisory": HERE["mandatory"]}), under(HERE)) == {}
    assert findings(under({"advisory": {"quotaHeadroom": 10}}), under({"advisory": {"quotaHeadroom": 20}})) == {}
    assert findings(under(HERE), None) == {}, "nothing is known of the declared policy"


def test_the_quota_check_is_loosened() -> None:
    part = findings(facts(), facts(quota=quota(mode="warn")))["policy-loosened"]
    assert part.grade is WARNING and "enforce → warn" in part.sentence
    assert findings(facts(quota=quota(mode="warn")), facts()) == {}


def budget(**limits: Any) -> Facts:
    return facts(budget=Budget(**limits))


@pytest.mark.parametrize(
    ("before", "after", "kind", "grade"),
    [
        (budget(stack=1000, enforce=True), budget(stack=5000, enforce=True), "allowance-loosened", BLOCKING),
        (budget(stack=1000, enforce=True), budget(stack=1500, enforce=True), "allowance-loosened", WARNING),
        (budget(stack=1000, enforce=True), budget(stack=1000), "allowance-loosened", BLOCKING),
        (budget(stack=1000), facts(), "allowance-loosened", WARNING),
        (budget(stack=1000, enforce=True), budget(stack=500, enforce=True), "allowance-tightened", WARNING),
        (facts(), budget(stack=1000), "allowance-tightened", NOTE),
        (budget(stack=1000), budget(stack=1000, enforce=True), "allowance-tightened", NOTE),
        (budget(stack=1000, enforce=True), budget(stack=0, enforce=True), "allowance-tightened", BLOCKING),
        (budget(users={"ada": 10}), budget(users={"ada": 90}), "allowance-loosened", WARNING),
        (facts(), facts(agents=AgentAllowance(50)), "allowance-loosened", BLOCKING),
        (facts(confirm_above=1), facts(confirm_above=100), "allowance-loosened", BLOCKING),
        (facts(confirm_above=5), facts(confirm_above=1), "allowance-tightened", NOTE),
    ],
)
def test_spending_limits_change(before: Facts, after: Facts, kind: str, grade: Grade) -> None:
    (part,) = findings(before, after).values()
    assert (part.kind, part.grade) == (kind, grade)


def test_a_team_that_leaves_takes_its_budget_along() -> None:
    teams = {"speech": Team(), "vision": Team()}
    both = budget(teams={"speech": 10, "vision": 10}, enforce=True)
    before = replace(both, catalog=replace(both.catalog, teams=teams))
    one = budget(teams={"vision": 10}, enforce=True)
    after = replace(one, catalog=replace(one.catalog, teams={"vision": Team()}))
    assert findings(before, after) == {}
    assert findings(before, facts()) == {}, "all teams leave with their budgets"
    labeled = template("lora", offer(request={**offer().request, "labels": {TEAM_LABEL: "speech"}}))
    still = replace(after, catalog=replace(after.catalog, templates={"lora": labeled}))
    assert [found.grade for found in findings(before, still).values()] == [Grade.BLOCKING]


def test_agents_can_use_other_machines() -> None:
    some, any_ = AgentAllowance(50, ("n1-standard-8",)), AgentAllowance(50)
    loosened = findings(facts(agents=some), facts(agents=any_))["allowance-loosened"]
    assert loosened.sentence.endswith("n1-standard-8 → no limit")
    assert "allowance-tightened" in findings(facts(agents=any_), facts(agents=some))


def test_a_pool_that_no_template_fits_is_a_new_warning() -> None:
    used = template("lora", offer())
    idle = cluster("h100", pool("workers", H100, 1, 4))
    part = findings(facts(cluster(), used), facts(cluster(), idle, used))["stack-warning"]
    assert (part.subject, part.grade) == ("pool h100/workers", NOTE)
    on_gpus = template("lora", offer(cluster="h100", machine=H100))
    moved = findings(facts(cluster(), idle, used, on_gpus), facts(cluster(), idle, used))["stack-warning"]
    assert moved.grade is BLOCKING
    assert findings(facts(cluster(), idle, used), facts(cluster(), idle, used)) == {}
    equal = cluster("cpu", pool("more"), pool("workers"))
    assert findings(facts(cluster(), used), facts(equal, used)) == {}, "offers name only the first of equal pools"


def test_an_alternative_that_no_template_fits_is_a_new_warning() -> None:
    def with_alternative(*pools: Pool) -> Facts:
        option = PricedAlternative(region="us-east4", pools=pools)
        return facts(replace(cluster(), alternatives=(option,)), template("lora", offer()))

    part = findings(facts(cluster(), template("lora", offer())), with_alternative(pool("workers", H100, 1, 4)))
    assert part["stack-warning"].subject == "cluster cpu"
    assert part["stack-warning"].sentence.startswith("if alternative 1 (1–4 a3-highgpu-8g) is created, no template")
    assert findings(facts(cluster(), template("lora", offer())), with_alternative(pool())) == {}


def test_the_footer() -> None:
    assert policy.policy_text(compared(under({}), under(HERE))) == "passed"
    assert policy.policy_text(compared(under({}), under({}))) == "no rules"
    assert policy.policy_text(compared(under({}), under(OTHER))) == "1 mandatory rule broken"
    assert policy.policy_text(compared(under({}), None)) == "unknown"


def test_a_cluster_that_still_drains_is_an_existing_fault() -> None:
    old, new = cluster("h100", pool("workers", H100, 1, 4)), cluster("h100", pool("workers", H100, 1, 6))
    on_it = job("tune", on=old, user="ada")
    side = facts(new, kept(old, on_it))
    (line,) = policy.standing(compared(side, side, clusters=[living(old), living(new)], jobs=[on_it]))
    assert line == f"cluster `{old.id}` still drains: job `tune` (ada, running 3 h 12 min)"
