"""The gate: the parts of a review that need an approval, the approvers, and whether an approval still holds. Pure;
`slipway.reviewing.forges` reads the forge.

An approval is of a git tree, by somebody who has read the comment. Any writer to a repository can edit the comment and
set a check of any name, so neither is an approval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from slipway.answers.cost import Costs
from slipway.base.formatting import join, usd
from slipway.model.findings.finding import Continued, Finding, Grade, Section
from slipway.model.findings.grades import is_announced
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.forge_table import GITHUB, ForgeRow
from slipway.reviewing.record import Record
from slipway.reviewing.render.redaction import hidden
from slipway.reviewing.review import Review
from slipway.reviewing.succession import Succession

_TOLERANCE = 1.0
"""USD an hour by which a deployment may cost more than approved: prices and rounding move."""


@dataclass(frozen=True)
class GateObstacle:
    """A reason why the gate is closed."""

    stack: str
    sentence: str
    #: The finding's key; both are empty for costs and unknown parts.
    kind: str = ""
    subject: str = ""

    @property
    def refuses(self) -> bool:
        """Return whether the deployment is rejected for it, whoever approves it; quota may be granted by then."""
        kind = KINDS.get(self.kind)
        return kind is not None and kind.refuses and kind.section is not Section.QUOTA


def _obstacle(review: Review, finding: Finding, remark: str = "") -> GateObstacle:
    return GateObstacle(review.stack, f"{finding.subject}: {finding.sentence}{remark}", *finding.key)


def _unknown(review: Review, known: tuple[str, ...] = ()) -> Iterator[GateObstacle]:
    for heading, part in review.gaps:
        if part not in known:
            yield GateObstacle(review.stack, f"{heading}: {part}")


def unapproved(reviews: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what needs an approval: blocking findings of this change, and unknown parts."""
    for review in reviews:
        yield from _unknown(review)
        for finding in _blocking(review.yours):
            yield _obstacle(review, finding)


def unannounced(reviews: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what a scheduled deployment must not do: deploy another commit, undo changes made by hand, go on without
    knowing all parts. It may continue a deployment of the same commit."""
    for review in reviews:
        if review.stray:
            yield GateObstacle(review.stack, review.stray)
        yield from _unknown(review)
        for finding in review.findings:
            if not (_is_announced(review, finding) or _continues(review, finding)):
                yield _obstacle(review, finding)


def _is_announced(review: Review, finding: Finding) -> bool:
    is_edit = KINDS[finding.kind].adds and finding.subject.name in review.added
    return not is_edit and is_announced(finding.kind, finding.grade)


def _continues(review: Review, finding: Finding) -> bool:
    """Return whether an interrupted deployment of the same commit began it."""
    continued = KINDS[finding.kind].continued
    if review.begun is None or continued is Continued.NONE:
        return False
    if finding.grade is not Grade.BLOCKING:
        return True
    return continued is Continued.OWN and finding.subject.cluster in review.begun


def worse(now: Iterable[Review], approved: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what goes beyond the approval: blocking findings, worse ones, higher costs, unknown parts."""
    before = {review.stack: review for review in approved}
    for review in now:
        known = before.get(review.stack, Review(review.stack))
        yield from _not_covered(review, known)
        yield from _dearer(review, known)
        yield from _unknown(review, known.incomplete)


def _not_covered(now: Review, approved: Review) -> Iterator[GateObstacle]:
    """Yield blocking findings that an approved review does not have as blocking."""
    grades: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for finding in approved.findings:
        grades[finding.key].append(finding.grade)
    for finding in _blocking(now.findings):
        # A comment that hides people's addresses has several equal subjects: each covers one of them.
        left = grades[finding.key] or grades[finding.kind, hidden(finding.subject)]
        if not left:
            yield _obstacle(now, finding, " (not approved)")
            continue
        grade = left.pop(0)
        if grade < Grade.BLOCKING:
            yield _obstacle(now, finding, f" (approved as {grade.review_word} only)")


def _blocking(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.grade is Grade.BLOCKING]


def _dearer(now: Review, approved: Review) -> Iterator[GateObstacle]:
    """Yield costs above the approved ones. A stack without an approved review may cost what it did before."""
    costs = now.costs
    if costs is None:
        return
    known = approved.costs or Costs(None, costs.idle_before or 0.0, None, costs.most_before or 0.0)
    for when, amount, allowed in (("idle", costs.idle, known.idle), ("at maximum", costs.most, known.most)):
        more = amount - allowed
        if more > _TOLERANCE:
            sums = f"{usd(amount)}/h instead of {usd(allowed)}/h"
            yield GateObstacle(now.stack, f"costs {usd(more)}/h more {when} than approved: {sums}")


@dataclass(frozen=True)
class Approval:
    """The newest approval of a person who may write."""

    login: str
    #: Of its commit, empty where that is gone.
    tree: str
    #: RFC 3339 in UTC, which sorts as text.
    at: str


@dataclass(frozen=True)
class Comment:
    """The review's own comment."""

    id: str
    body: str
    #: The time of the last edit, as `Approval.at`.
    changed: str


@dataclass(frozen=True)
class PullRequest:
    """A pull request."""

    id: str
    number: int
    author: str
    #: Its newest commit.
    head: str = ""
    approvals: tuple[Approval, ...] = ()
    comment: Comment | None = None
    #: What the comment of a merged one was written with; None where no run has kept that.
    record: Record | None = None

    def has_comment(self, body: str) -> bool:
        """Return whether the comment is this one already. Approvals are older, so that it is left alone."""
        return self.comment is not None and self.comment.body.strip() == body.strip()


@dataclass(frozen=True)
class MergeResult:
    """The merge result to be deployed."""

    tree: str
    #: It makes, or once `merged` has made, the tree; None if that reached the branch without one.
    pull_request: PullRequest | None
    merged: bool
    forge: ForgeRow = GITHUB

    @property
    def approvers(self) -> tuple[str, ...]:
        """The people who approved this very tree, not their own, after the last edit of the comment."""
        written = ""
        if self.pull_request and self.pull_request.comment:
            written = self.pull_request.comment.changed
        return tuple(approval.login for approval in self._of_tree if approval.at > written)

    @property
    def objection(self) -> tuple[str, str]:
        """The reason why no approval is enough, and the fix."""
        pull = self.pull_request
        if pull is None:
            change = self.forge.change
            return f"no {change} was merged as this commit", f"revert it and open one, or {self.forge.insist}"
        name = f"{self.forge.sign}{pull.number}"
        approve = f"have {name} approved by somebody else with write access who has read its comment"
        fix = self._after_merge(name, approve) if self.merged else approve
        logins = join(self.approvers)
        if logins and pull.record:
            return f"{logins} approved {name}, and the record of its review has less", self.forge.insist
        if logins:
            gone = f"the comment of {name}, or the record that its run kept, is gone"
            return f"{gone}, so it is unknown what {logins} approved", fix
        early = join(approval.login for approval in self._of_tree)
        if early:
            return f"the comment of {name} was changed after {early} approved it", fix
        others = join(approval.login for approval in self._others)
        if not others:
            return f"nobody else with write access has approved {name}", fix
        trees = join(dict.fromkeys(approval.tree[:12] or "one that is gone" for approval in self._others))
        why = f"{others} approved {name} as another tree, {trees}, than this one, {self.tree[:12]}"
        return why, self.forge.insist if self.merged else f"bring the branch up to date, and {approve}"

    def _after_merge(self, name: str, approve: str) -> str:
        """Return how a merged pull request may still be deployed."""
        if not self.forge.approved_late:
            return f"revert it and open one; or {self.forge.insist}"
        has_record = self.pull_request and self.pull_request.record
        again = "" if has_record else f"run the review of {name} again, "
        return f"{again}{approve}, and run this again; or {self.forge.insist}"

    @property
    def _others(self) -> tuple[Approval, ...]:
        """The approvals of other people than the author."""
        pull = self.pull_request
        if pull is None:
            return ()
        return tuple(approval for approval in pull.approvals if approval.login != pull.author)

    @property
    def _of_tree(self) -> list[Approval]:
        """The approvals of other people that are of this tree."""
        return [approval for approval in self._others if approval.tree == self.tree]


def unrelated(behind: Iterable[Succession], result: MergeResult) -> Iterator[GateObstacle]:
    """Yield the deployed commits that a merged commit does not follow, unless this tree has an approval."""
    if result.merged and not result.approvers:
        for succession in behind:
            yield GateObstacle(succession.stack, succession.sentence)


def obstacles(reviews: Iterable[Review], result: MergeResult) -> Iterator[GateObstacle]:
    """Yield what needs an approval and has none before the merge; after it, what goes beyond the review's record."""
    pull = result.pull_request
    if pull is None or not result.merged:
        # No approval makes a deployment succeed that is rejected.
        approved = bool(result.approvers)
        yield from (obstacle for obstacle in unapproved(reviews) if obstacle.refuses or not approved)
        return
    known = (pull.record or Record(None)).reviews(result.tree)
    if not result.approvers:
        known = tuple(map(_without_blocking, known))
    yield from worse(reviews, known)


def _without_blocking(review: Review) -> Review:
    """Return what of a review needed no approval, which holds without one."""
    mild = tuple(finding for finding in review.findings if finding.grade < Grade.BLOCKING)
    return replace(review, findings=mild, incomplete=())
