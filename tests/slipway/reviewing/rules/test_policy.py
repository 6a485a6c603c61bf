"""Rules that a change breaks or weakens, by those of the base, and the grades that a team sets itself. # N5"""

from dataclasses import replace

import pytest

from slipway.authoring.policy.rule import ADVISORY, MANDATORY
from slipway.deploying.engine.preview import Objection, Preview
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.grades import REVIEWED, is_announced, wrong
from slipway.reviewing.consequence import consequence
from slipway.reviewing.review import regraded, review
from slipway.reviewing.rules.policy import policy, policy_in_words, standing_violations
from tests.slipway.reviewing.builders import change, cluster, facts, offer, pool, template

BROKEN = Objection("acme", "team-label", "artifacts", "buckets need the label `team`\n", mandatory=True)
ADVICE = replace(BROKEN, rule="names", mandatory=False)


@pytest.mark.parametrize(("of", "words"), [((), "none"), ((ADVICE,), "1 not followed"), ((ADVICE, BROKEN), "1 broken")])
def test_the_table_counts_objections_of_packs(of: tuple[Objection, ...], words: str) -> None:
    assert policy_in_words(change(facts(), facts(), preview=Preview(objections=of))) == words


def test_requests_that_no_rule_can_read_are_a_fault_of_the_comparison_alone() -> None:
    odd = template("lora", replace(offer(), kind="later"))
    reviewed = review(change(facts(), replace(facts(odd), policy={MANDATORY: {"longestTimeout": 5}})))
    assert any("by a fault of Slipway itself" in part for part in reviewed.incomplete) and not reviewed.policy


def test_a_rule_that_was_broken_before_and_is_broken_otherwise_is_told_of_the_change() -> None:
    """A remark that the change did not cause had figures that it changes."""
    few, many = (replace(facts(cluster("a", pool(low=n))), policy={ADVISORY: {"idleCost": 0.1}}) for n in (1, 2))
    assert len([*standing_violations(change(few, few))]) == 1 and [*policy(change(few, few))] == []
    assert [*standing_violations(change(few, many))] == []
    assert [*policy(change(few, many))] == []  # It is of the same commit.
    (told,) = policy(change(few, replace(many, catalog=replace(many.catalog, commit="b" * 40))))
    assert told.grade is Grade.NOTE and "$0.93/h at its smallest" in told.sentence


def test_slipway_s_own_pack_says_what_the_facts_say_already() -> None:
    own = Preview(objections=(replace(BROKEN, pack="slipway"),))
    assert list(policy(change(facts(), facts(), preview=own))) == []


SLOWER = "timeout-changed"


def graded(deployed: dict[str, str], declared: dict[str, str], grade: Grade | None = None) -> Grade:
    part = consequence(SLOWER, Subject("x", "y"), "changes", grade=grade)
    return regraded(part, (deployed, declared)).grade


@pytest.mark.parametrize(
    ("deployed", "declared", "expected"),
    [
        ({}, {SLOWER: "blocking"}, Grade.BLOCKING),
        ({SLOWER: "blocking"}, {}, Grade.BLOCKING),
        ({SLOWER: "change"}, {SLOWER: "change"}, Grade.NOTE),
        ({}, {SLOWER: "change"}, Grade.WARNING),
    ],
)
def test_what_is_graver_holds_at_once_and_what_is_less_when_it_is_deployed(
    deployed: dict[str, str], declared: dict[str, str], expected: Grade
) -> None:
    assert graded(deployed, declared) is expected


def test_what_a_review_knows_better_stays() -> None:
    harsh = {SLOWER: "blocking"}
    assert graded(harsh, harsh, Grade.NOTE) is Grade.NOTE


def test_nothing_that_a_deployment_by_itself_does_is_announced_by_a_team() -> None:
    for kind, usual in ((kind, row.usual) for kind, row in REVIEWED.items()):
        for word, grade in ((grade.review_word, grade) for grade in Grade if grade is not usual):
            refused = wrong({kind: word}) is not None
            assert refused is (grade < usual and is_announced(kind, grade))
