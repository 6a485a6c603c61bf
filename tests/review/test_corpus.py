"""The corpus: whether a review has what each case requires, and nothing else. # N5

A case stands in the file of the resource that it changes.
"""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from slipway.model.findings.finding import Section
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.gate import unannounced
from slipway.reviewing.reviewer import review
from tests.review.case import Case
from tests.review.corpus import ALL, CASES, parameters, score
from tests.review.play import change_of

QUESTIONS = {
    "plan": ("cluster-replaced", "cluster-deleted", "cluster-created", "capacity-changed", "jobs-cancelled"),
    "job needs": ("job-loses-resource",),
    "submissions": ("submission-rejected", "submission-changed", "submission-warning", "no-offer-left"),
    "access": ("access-gained", "access-lost"),
    "quota": ("quota-short-now", "quota-short-at-most", "season-awaits-quota"),
    "cost": ("idle-cost", "most-cost"),
    "policy": ("policy-violated", "policy-advice"),
}
"""The finding kinds of each question."""
GROUPS = {**QUESTIONS, **{kind.word: (kind.word,) for kind in KINDS.values() if kind.by_hand}}


def requires(case: Case, kinds: tuple[str, ...]) -> bool:
    return any(kind in kinds for expected in case.finds for kind in expected.kinds)


def combines(case: Case, kinds: tuple[str, ...]) -> bool:
    """Return whether a case requires one of these kinds, and a finding of none of them."""
    others = any(not set(kinds) & set(expected.kinds) for expected in case.finds)
    return requires(case, kinds) and others


def test_its_size() -> None:
    assert len(ALL) == len(CASES) <= 400
    assert sum(case.harmless for case in ALL) >= 60


@pytest.mark.parametrize("name", GROUPS)
def test_each_question_and_each_kind_has_four_cases(name: str) -> None:
    """Two that fire, a combination with another kind, and a near miss."""
    kinds = GROUPS[name]
    assert sum(requires(case, kinds) for case in ALL) >= 3
    assert any(combines(case, kinds) for case in ALL)
    assert any(set(kinds) & set(case.absent) for case in ALL)


def test_kinds_exist_and_are_of_reviews() -> None:
    used = {kind for case in ALL for kind in (*case.may, *case.absent)}
    used |= {kind for case in ALL for expected in case.finds for kind in expected.kinds}
    assert used - KINDS.keys() == set()
    assert [kind for kind in used if KINDS[kind].section is Section.HEALTH] == []


@pytest.mark.corpus
@pytest.mark.parametrize("says", parameters(CASES))
def test_a_review_has_what_is_required_and_nothing_else(says: str) -> None:
    case = CASES[says]
    change = change_of(case)
    reviewed = review(change)
    found = score(case, reviewed)
    assert found.perfect, found
    for finding in reviewed.findings:
        # An error of the program is quoted as it is.
        assert KINDS[finding.kind].failed or len(finding.sentence.split()) <= 30, finding.sentence
        assert not finding.subject.name or finding.subject not in finding.sentence, finding.sentence
    if case.by_itself:  # N14 # B6
        assert case.world.first or stops(change) == []
    elif reviewed.findings:
        assert stops(change)


def stops(change: Change) -> list[str]:
    """Return what stops the scheduled deployment, which is of the deployed commit: it continues what dates bring, and
    stops at any edit."""
    comparison = change.comparison
    if comparison.unknown or comparison.first:
        return ["no deployment to compare"]
    deployed = comparison.before.catalog
    catalog = replace(comparison.after.catalog, commit=deployed.commit, dirty=deployed.dirty)
    same = replace(change, comparison=replace(comparison, after=replace(comparison.after, catalog=catalog)))
    return [finding.kind for finding in unannounced([review(same)])]


def test_a_comment_is_the_same_in_each_process() -> None:
    says = "A cluster becomes a team's, where sessions of all may run alone and another team has a share"
    assert says in CASES
    code = (
        "from slipway.reviewing.render.comment import comment; from tests.review.corpus import CASES; "
        f"from tests.review.play import play; print(comment((play(CASES[{says!r}]),)))"
    )
    # These two seeds put the names of its clusters into either order.
    seeds = ({**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "11"))
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=env) for env in seeds)
    assert first == second
