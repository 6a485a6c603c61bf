"""The gate: the parts of a review that need an approval, the approvers, and whether an approval still holds. Pure;
`slipway.reviewing.forges` reads the forge.

An approval is of a git tree, by somebody who has read the comment. Any writer to a repository can edit the comment and
set a check of any name, so neither is an approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from slipway.base.formatting import join
from slipway.model.findings.finding import Continued, Grade, Section
from slipway.model.findings.grades import is_announced
from slipway.model.findings.kinds import KINDS
from slipway.model.prices import Price, dollars
from slipway.reviewing.change.change import grouped
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.forge_table import GITHUB, ForgeRow
from slipway.reviewing.record import Record
from slipway.reviewing.review import Review
from slipway.reviewing.succession import Succession
from slipway.reviewing.told.redaction import hidden

_TOLERANCE = Decimal(1)
"""USD an hour by which a deployment may cost more than approved: prices and rounding move."""


@dataclass(frozen=True)
class GateObstacle:
    """A reason why the gate stays shut."""

    stack: str
    sentence: str
    #: The consequence's, as the subject; both are empty for money and unknown parts.
    kind: str = ""
    subject: str = ""

    @property
    def refuses(self) -> bool:
        """Tell whether the deployment is refused for it, whoever approves it; quota may be granted by then."""
        of = KINDS.get(self.kind)
        return of is not None and (of.failed or (of.refuses and of.section is not Section.QUOTA))


def _consequence(review: Review, part: Consequence, how: str = "") -> GateObstacle:
    return GateObstacle(review.stack, f"{part.sentence}{how}", *part.key)


def _unknown(review: Review, known: tuple[str, ...] = ()) -> Iterator[GateObstacle]:
    return (GateObstacle(review.stack, f"{head}: {gap}") for head, gap in review.gaps if gap not in known)


def unapproved(reviews: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what needs an approval: blocking consequences of this change, and unknown parts."""
    for review in reviews:
        yield from _unknown(review)
        yield from (_consequence(review, part) for part in review.yours if part.grade is Grade.BLOCKING)


def unannounced(reviews: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what a scheduled deployment must not do: another commit than the deployed one, manual changes, and all
    unknown parts. It may continue a deployment of the same commit."""
    for review in reviews:
        if review.stray:
            yield GateObstacle(review.stack, review.stray)
        yield from _unknown(review)
        for part in review.consequences:
            is_edit = part.of.adds and part.subject.name in review.added
            announced = is_announced(part.kind, part.grade) and not is_edit
            # A deployment that was cut short began it, so this one may go on, and in place with its clusters alone.
            begun = review.begun if part.of.continued is not Continued.NONE else None
            in_place = part.of.continued is Continued.OWN and part.subject.cluster in (begun or ())
            continues = begun is not None and (part.grade is not Grade.BLOCKING or in_place)
            if not (announced or continues):
                yield _consequence(review, part)


def _approved(part: Consequence) -> tuple[str, str]:
    """Return the kind and the subject by which an approval has it."""
    return part.of.approved_as or part.kind, part.subject


def worse(now: Iterable[Review], approved: Iterable[Review]) -> Iterator[GateObstacle]:
    """Yield what goes beyond the approval: a blocking consequence of a subject that had none, or a milder one, and USD
    an hour beyond the tolerance. What moves all the time is none: the jobs of a retiring cluster, and whether it has
    any."""
    before = {review.stack: review for review in approved}
    for review in now:
        told = before.get(review.stack, Review(review.stack))
        graded = grouped(told.consequences, _approved)
        for part in (part for part in review.consequences if part.grade is Grade.BLOCKING):
            kind, subject = _approved(part)
            # A comment that hides people's addresses has several equal subjects: each stands for one.
            known = graded.get((kind, subject)) or graded.get((kind, hidden(subject)))
            was = known.pop(0).grade if known else None
            if was is not Grade.BLOCKING:
                approval = "nothing of it was approved" if was is None else f"approved as {was.review_word} only"
                yield _consequence(review, part, f" ({approval})")
        yield from _dearer(review, told)
        yield from _unknown(review, told.incomplete)


def _dearer(now: Review, approved: Review) -> Iterator[GateObstacle]:
    if now.money is None:
        return
    money, known = now.money, approved.money
    for when, amount, allowed in (
        ("with nothing running", money.idle, known.idle.after if known else money.idle.before),
        ("with every pool at its maximum", money.most, known.most.after if known else money.most.before),
    ):
        more = amount.after.known - allowed.known
        if more > _TOLERANCE:
            than = f"{dollars(amount.after)}, where {dollars(allowed)} was approved"
            yield GateObstacle(now.stack, f"It costs {dollars(Price(more))} more {when}: {than}")


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


@dataclass(frozen=True)
class MergeResult:
    """The merge result to be deployed."""

    tree: str
    #: It makes, or once `merged` has made, the tree; None where that came to the branch without one.
    pull_request: PullRequest | None
    merged: bool
    forge: ForgeRow = GITHUB

    @property
    def approvers(self) -> tuple[str, ...]:
        """The people who approved this very tree, not their own, after the last edit of the comment."""
        written = pull.comment.changed if (pull := self.pull_request) and pull.comment else ""
        return tuple(one.login for one in self._others if one.tree == self.tree and one.at > written)

    @property
    def objection(self) -> tuple[str, str]:
        """The reason why no approval is enough, and the way out."""
        pull, insist = self.pull_request, self.forge.insist
        if pull is None:
            return f"no {self.forge.change} was merged as this commit", f"revert it and open one, or {insist}"
        asked, others = f"{self.forge.sign}{pull.number}", join(approval.login for approval in self._others)
        approve = f"have {asked} approved by somebody else who may write, having read its comment"
        if self.merged:
            again = "" if pull.record else f"run the review of {asked} again, "
            late = f"{again}{approve}, and run this again" if self.forge.approved_late else "revert it and open one"
            approve = f"{late}; or {insist}"
        if self.approvers:
            if pull.record:
                return f"{join(self.approvers)} approved {asked}, and the record of its review tells less", insist
            gone = f"the comment of {asked}, or the record that its run kept,"
            return f"{gone} is gone, so nobody can tell what {join(self.approvers)} approved", approve
        if early := join(approval.login for approval in self._others if approval.tree == self.tree):
            return f"the comment of {asked} was changed after {early} approved it", approve
        if self._others:
            trees = join(dict.fromkeys(approval.tree[:12] or "one that is gone" for approval in self._others))
            why = f"{others} approved {asked} as another tree, {trees}, than this one, {self.tree[:12]}"
            return why, insist if self.merged else f"bring the branch up to date, and {approve}"
        return f"nobody else who may write has approved {asked}", approve

    @property
    def _others(self) -> tuple[Approval, ...]:
        pull = self.pull_request
        return tuple(approval for approval in pull.approvals if approval.login != pull.author) if pull else ()


def unrelated(behind: Iterable[Succession], result: MergeResult) -> Iterator[GateObstacle]:
    """Yield the deployed commits that a merged commit does not follow, unless this tree has an approval. Before the
    merge a branch may be behind."""
    if result.merged and not result.approvers:
        for succession in behind:
            yield GateObstacle(succession.stack, succession.sentence)


def obstacles(reviews: Iterable[Review], result: MergeResult) -> Iterator[GateObstacle]:
    """Yield the obstacles: before the merge, what needs an approval and has none; after it, also what goes beyond the
    record of its review."""
    pull = result.pull_request
    if pull is None or not result.merged:
        for obstacle in unapproved(reviews):
            # No approval makes a deployment succeed that is refused.
            if not result.approvers or obstacle.refuses:
                yield obstacle
        return
    approved = pull.record.reviews(result.tree) if pull.record else ()
    if not result.approvers:
        # Merged without an approval: what needed none holds.
        harmless = (tuple(part for part in told.consequences if part.grade < Grade.BLOCKING) for told in approved)
        pairs = zip(approved, harmless, strict=True)
        approved = tuple(replace(told, consequences=parts, incomplete=()) for told, parts in pairs)
    yield from worse(reviews, approved)
