"""A review tells of rules that a change breaks or weakens, by those of the base, and not of standing breaches. # N5"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import DormantCluster
from slipway.catalog.model import Catalog
from slipway.facts import Facts
from slipway.findings.finding import Grade
from slipway.live import Live
from slipway.policy.rule import ADVISORY, MANDATORY
from slipway.review.change import Change
from slipway.review.gate import unannounced
from slipway.review.policy import policy, policy_in_words
from slipway.review.preview import Objection, Preview
from slipway.review.review import review
from slipway.season import Season

from . import builders
from .builders import H100, change, cluster, facts, living, pool

STACK = Facts(Catalog("dev", "acme-dev", "us-central1", "", False, "work", "", {}, (), {}))
NOW, NOTHING = datetime(2026, 11, 21, tzinfo=UTC), Live((), (), {}, None)
Policy = Mapping[str, Mapping[str, Any]]


def said(before: Facts | None, after: Facts | None) -> list[tuple[str, str, Grade]]:
    change = Change("dev", before, after, NOTHING, NOW)
    return [(one.kind, one.sentence, one.grade) for one in policy(change)]


def held(policy: Policy, *, code: bool = False) -> Facts:
    return replace(STACK, policy=policy, code=code)


def test_what_breaks_a_rule_is_told_and_what_broke_it_before_is_not() -> None:
    mandatory = {MANDATORY: {"reviewedCodeOnly": True}}
    ((kind, sentence, grade),) = said(held(mandatory), held(mandatory, code=True))
    assert (kind, grade) == ("policy-violated", Grade.BLOCKING)
    assert "workspace.code is true" in sentence
    assert said(held(mandatory, code=True), held(mandatory, code=True)) == []


def test_an_advisory_rule_is_a_warning() -> None:
    ((kind, _, grade),) = said(None, held({ADVISORY: {"reviewedCodeOnly": True}}, code=True))
    assert (kind, grade) == ("policy-advice", Grade.WARNING)


def test_a_rule_that_is_dropped_advisory_now_or_another_is_told(snapshot: SnapshotAssertion) -> None:
    before = held({MANDATORY: {"regions": ["us-central1"], "idleCost": 100, "cmek": False}})
    after = held({MANDATORY: {"regions": ["us-central1", "asia-east1"]}, ADVISORY: {"idleCost": 100}})
    assert [(kind, sentence) for kind, sentence, _ in said(before, after)] == snapshot


@pytest.mark.parametrize(("level", "kind"), [(MANDATORY, "policy-violated"), (ADVISORY, "policy-advice")])
def test_a_season_tells_what_it_breaks_when_it_is_declared_and_not_again_when_it_begins(level: str, kind: str) -> None:
    """Then it would stop the schedule of the whole stack on a day on which nobody edited anything. # B6"""
    cpu, gpu = cluster("cpu"), replace(cluster("gpu", pool(machine=H100)), season=Season(begins=builders.NOW))
    rules: Policy = {level: {"machines": ["n1-*"], "idleCost": 1}}

    def held(stack: Facts) -> Facts:
        return replace(stack, policy=rules)

    plain, begun = held(facts(cpu)), held(facts(cpu, gpu))
    declared = held(facts(cpu, dormant={"gpu": DormantCluster(**vars(gpu))}))
    brings = [one.subject for one in policy(change(plain, declared)) if one.kind == kind]
    assert brings == ["policy machines pool gpu/workers", "policy idleCost the stack"]
    assert list(policy(change(declared, begun))) == []
    announced = unannounced([review(change(declared, begun, clusters=[living(cpu)]))])
    assert [one.kind for one in announced] == []


class TestPacks:
    """Packs of a team's own, which the engine starts beside the program."""

    MANDATORY = Objection("acme", "team-label", "artifacts", "buckets need the label `team`\n", mandatory=True)
    ADVISORY = replace(MANDATORY, rule="names", mandatory=False)

    def told(self, *objections: Objection, after: Facts | None = STACK) -> Change:
        return Change("dev", STACK, after, NOTHING, NOW, preview=Preview(objections=objections))

    @pytest.mark.parametrize("after", [STACK, None], ids=["it goes on", "the program refused"])
    def test_each_rule_is_told_by_its_level(self, after: Facts | None) -> None:
        first, second = policy(self.told(self.MANDATORY, self.ADVISORY, after=after))
        assert (first.kind, first.subject) == ("policy-violated", "policy team-label acme")
        assert (second.kind, second.subject) == ("policy-advice", "policy names acme")
        assert first.sentence.endswith("`artifacts`: buckets need the label `team`")

    def test_one_rule_that_many_break_is_one_finding(self) -> None:
        many = (replace(self.MANDATORY, about=f"bucket-{n}") for n in range(30))
        (one,) = policy(self.told(*many))
        assert "for 30 resources" in one.sentence and 0 < len(one.details) < 30

    def test_the_table_counts_them(self) -> None:
        words = [policy_in_words(self.told(*some)) for some in ((), (self.ADVISORY,), (self.ADVISORY, self.MANDATORY))]
        assert words == ["none", "1 advised", "1 broken"]

    def test_slipway_s_own_pack_says_what_the_facts_say_already(self) -> None:
        assert list(policy(self.told(replace(self.MANDATORY, pack="slipway")))) == []
