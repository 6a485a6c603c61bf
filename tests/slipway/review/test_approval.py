"""What a merged tree may do: what its comment told, and what blocks there with somebody's approval. # N14"""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.findings.finding import Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.prices import Price
from slipway.review.gate import Approval, Comment, MergeResult, PullRequest, obstacles
from slipway.review.money import Amount, Money
from slipway.review.review import Review

GOES = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "`h100` goes")
MAY_HURT = replace(GOES, kind="drift", grade=Grade.WARNING)
DEARER = Amount(Price(Decimal(1)), Price(Decimal(9)))
COSTS = Money(DEARER, DEARER, Price())
APPROVED = Approval("grace", "tree", "2026-11-21T09:20:00Z")


def merged(*told: Review, approvals: tuple[Approval, ...] = (), merged: bool = True) -> MergeResult:
    comment = Comment("1", "", "2026-11-21T09:05:00Z", "tree", told)
    return MergeResult("tree", PullRequest("1", 3, "ada", approvals, comment), merged)


def stopped(now: Review, result: MergeResult) -> list[str]:
    return [one.kind or one.sentence for one in obstacles([now], result, Decimal(1))]


@pytest.mark.parametrize("now", [Review("prod", (GOES,)), Review("prod", incomplete=("jobs can't be read",))])
def test_what_needs_an_approval_needs_one_though_the_comment_told_it(now: Review) -> None:
    assert len(stopped(now, merged(now))) == 1
    assert stopped(now, merged(now, approvals=(APPROVED,))) == []


def test_what_needs_none_was_told() -> None:
    """A warning and its money, beside what nobody approved."""
    told = Review("prod", (MAY_HURT,), money=COSTS)
    assert stopped(told, merged(told)) == []
    assert stopped(replace(told, consequences=(GOES, MAY_HURT)), merged(told)) == ["cluster-deleted"]
    assert len(stopped(told, merged())) == 2, "money that no comment told"
    graver = replace(told, consequences=(replace(MAY_HURT, grade=Grade.BLOCKING),))
    assert stopped(graver, merged(told, approvals=(APPROVED,))) == ["drift"]


def test_before_it_is_merged_an_approval_is_of_all_that_the_comment_tells() -> None:
    now = Review("prod", (GOES,), money=COSTS)
    assert stopped(now, merged(now, merged=False)) == ["cluster-deleted"]
    assert stopped(now, merged(now, approvals=(APPROVED,), merged=False)) == []


def test_what_came_without_a_pull_request_may_cost_and_not_block() -> None:
    pushed = MergeResult("tree", None, merged=True)
    assert stopped(Review("prod", (GOES, MAY_HURT), money=COSTS), pushed) == ["cluster-deleted"]
