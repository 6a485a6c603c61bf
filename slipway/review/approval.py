"""Approvals: who approved which git tree of a pull request, having read which comment. Pure; `github` asks.

Whoever may write to a repository can edit the comment and set a check of any name, so neither is an approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from slipway.findings.finding import Grade
from slipway.formatting import join
from slipway.review.gate import Obstacle, unapproved, worse
from slipway.review.review import Review

_SHOWN = 12


@dataclass(frozen=True)
class Approval:
    """The newest word of a person who may write, where it approves. `tree`: of the commit that it is of, empty where
    that is gone. `at` is RFC 3339 in UTC, as GitHub writes it, and orders as text does."""

    login: str
    tree: str
    at: str


@dataclass(frozen=True)
class Comment:
    """The review's own; `changed`: when anybody wrote to it last, as `Approval.at`. `reviews` are what it tells, of
    `tree`; both empty where it was damaged."""

    id: str
    body: str
    changed: str
    tree: str = ""
    reviews: tuple[Review, ...] = ()


@dataclass(frozen=True)
class PullRequest:
    id: str
    number: int
    author: str
    approvals: tuple[Approval, ...] = ()
    comment: Comment | None = None


@dataclass(frozen=True)
class MergeResult:
    """The merge result to be deployed: `tree`, which `pull_request` makes, or has made where it is `merged`; None where
    it came to the branch without one."""

    tree: str
    pull_request: PullRequest | None
    merged: bool

    @property
    def approvers(self) -> tuple[str, ...]:
        """People who approved this very tree, and not their own, after the comment was written as it is."""
        comment = self.pull_request.comment if self.pull_request else None
        written = comment.changed if comment else ""
        return tuple(one.login for one in self._of_this_tree if one.at >= written)

    @property
    def objection(self) -> tuple[str, str]:
        """The reason why no approval is enough, and the way out."""
        pull, insist = self.pull_request, "insist (docs/review.md, 'Insisting')"
        if pull is None:
            return "no pull request was merged as this commit", f"revert it and open one, or {insist}"
        asked, others = f"#{pull.number}", join(one.login for one in self._others)
        approve = f"have {asked} approved by somebody else who may write, having read its comment"
        if self.merged:
            approve += f", and run this again; or {insist}"
        if self.approvers:
            told = "tells less" if pull.comment else "is gone, so nobody can tell what was approved"
            return f"{join(self.approvers)} approved {asked}, and its comment {told}", insist
        if self._of_this_tree:
            early = join(one.login for one in self._of_this_tree)
            return f"the comment of {asked} was changed after {early} approved it", approve
        if self._others:
            trees = join(dict.fromkeys(one.tree[:_SHOWN] or "one that is gone" for one in self._others))
            why = f"{others} approved {asked} as another tree, {trees}, than this one, {self.tree[:_SHOWN]}"
            return why, insist if self.merged else f"bring the branch up to date, and {approve}"
        return f"nobody else who may write has approved {asked}", approve

    @property
    def _of_this_tree(self) -> tuple[Approval, ...]:
        return tuple(one for one in self._others if one.tree == self.tree)

    @property
    def _others(self) -> tuple[Approval, ...]:
        pull = self.pull_request
        return tuple(one for one in pull.approvals if one.login != pull.author) if pull else ()


def obstacles(reviews: Iterable[Review], result: MergeResult, tolerance: Decimal) -> Iterator[Obstacle]:
    """Yield what stands in the way: before the merge, what needs an approval and has none; after it, what goes beyond
    the comment, too."""
    pull = result.pull_request
    if pull is None or not result.merged:
        yield from () if result.approvers else unapproved(reviews)
        return
    told = pull.comment.reviews if pull.comment and pull.comment.tree == result.tree else ()
    yield from worse(reviews, told if result.approvers else map(_without_approval, told), tolerance)


def _without_approval(review: Review) -> Review:
    harmless = tuple(one for one in review.consequences if one.grade is not Grade.BLOCKING)
    return replace(review, consequences=harmless, incomplete=())
