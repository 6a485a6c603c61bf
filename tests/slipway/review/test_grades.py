"""A team sets the grades of its reviews, and no change makes itself harmless. # N5"""

import pytest

from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.grades import REVIEWED, is_announced, regraded, wrong
from slipway.findings.kinds import KINDS
from slipway.review.gate import unapproved
from slipway.review.review import Review, review
from tests.slipway.review.builders import TEAM, change, cluster, facts, living

GONE, SLOWER = "submitter-gone", "timeout-changed"


def reviewed(deployed: dict[str, str], declared: dict[str, str]) -> Review:
    """Somebody is dropped by a change, with a team's grades before and after it."""
    before, after = (
        facts(cluster(), members=members, grades=team)
        for members, team in ((("group:others@acme.example", TEAM), deployed), ((TEAM,), declared))
    )
    return review(change(before, after, clusters=[living(cluster())]))


def one(kind: str, grade: Grade | None = None) -> Finding:
    return KINDS[kind].of(Subject("x", "y"), "words", grade=grade)


def grades(*found: Finding, deployed: dict[str, str], declared: dict[str, str]) -> list[Grade]:
    return [each.grade for each in regraded(found, deployed, declared)]


@pytest.mark.parametrize(
    ("deployed", "declared", "expected"),
    [
        ({}, {}, Grade.WARNING),
        ({SLOWER: "blocking"}, {SLOWER: "blocking"}, Grade.BLOCKING),
        ({}, {SLOWER: "blocking"}, Grade.BLOCKING),
        ({SLOWER: "blocking"}, {}, Grade.BLOCKING),
        ({SLOWER: "change"}, {SLOWER: "change"}, Grade.NOTE),
        ({}, {SLOWER: "change"}, Grade.WARNING),
        ({}, {SLOWER: "nonsense"}, Grade.WARNING),
    ],
)
def test_what_is_graver_holds_at_once_and_what_is_less_when_it_is_deployed(
    deployed: dict[str, str], declared: dict[str, str], expected: Grade
) -> None:
    assert grades(one(SLOWER), deployed=deployed, declared=declared) == [expected]


def test_what_a_review_knows_better_stays() -> None:
    harsh = {SLOWER: "blocking"}
    assert grades(one(SLOWER, Grade.NOTE), deployed=harsh, declared=harsh) == [Grade.NOTE]


def test_a_change_that_lowers_a_grade_is_stopped() -> None:
    lowers = reviewed({}, {GONE: "change"})
    assert {each.kind for each in unapproved([lowers])} == {"policy-weaker", GONE}


def test_what_a_team_has_deployed_opens_its_gate() -> None:
    lowered = {GONE: "warning"}
    assert [each.kind for each in unapproved([reviewed(lowered, lowered)])] == []


def test_nothing_that_a_deployment_by_itself_does_is_announced_by_a_team() -> None:
    for kind, usual in ((kind, row.usual) for kind, row in REVIEWED.items()):
        for word, grade in ((grade.review_word, grade) for grade in Grade if grade is not usual):
            refused = wrong({kind: word}) is not None
            assert refused is (grade < usual and is_announced(one(kind, grade)))


@pytest.mark.parametrize(("grade", "word"), [("blocking", "needs an approval"), ("change", "is only a change")])
def test_a_grade_that_moves_is_told(grade: str, word: str) -> None:
    found = [one for one in reviewed({}, {SLOWER: grade}).consequences if one.subject.part == SLOWER]
    assert [(one.kind, word in one.sentence) for one in found] == [
        ("policy-added" if grade == "blocking" else "policy-weaker", True)
    ]
