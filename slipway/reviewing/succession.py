"""Whether a run of CI deploys an earlier commit than the deployed one, which would roll back later ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.checkout import CommitOrder
from slipway.model.labels import SHORT, UNKNOWN_COMMIT
from slipway.reviewing.forge_table import ForgeRow
from slipway.reviewing.review import Review

_DIGITS = frozenset("0123456789abcdef")
_LEAST = 7

OrderOf = Callable[[str, str], CommitOrder]
"""Returns the order of a commit and the deployed one."""


@dataclass(frozen=True)
class Succession:
    """A commit that does not follow a deployed one."""

    stack: str
    commit: str
    deployed: str
    order: CommitOrder

    @property
    def is_rollback(self) -> bool:
        return self.order is CommitOrder.EARLIER

    @property
    def sentence(self) -> str:
        deployed = self.deployed[:SHORT]
        commit = self.commit[:SHORT]
        why = {
            CommitOrder.EARLIER: f"and this run has the earlier commit {commit}",
            CommitOrder.MISSING: f"which is not in this clone, so {commit} may remove what it added",
            CommitOrder.SHALLOW: f"and this clone is too shallow to tell whether {commit} is earlier",
        }
        apart = f"which is not in the history of {commit}, so this run may remove what it added"
        return f"Commit {deployed} is deployed, {why.get(self.order, apart)}"

    def fix(self, forge: ForgeRow | None) -> str:
        """Return what to do. `forge`: the code host whose CI runs this; None elsewhere."""
        commit = self.commit[:SHORT]
        if self.order is CommitOrder.SHALLOW:
            return f"clone the whole history (git fetch --unshallow), or {_rollback(commit, forge)}"
        newest = f"run the newest {forge.run} of main again" if forge else "deploy the newest commit"
        return f"{newest}; to go back, merge a revert, or {_rollback(commit, forge)}"


def _rollback(commit: str, forge: ForgeRow | None) -> str:
    return forge.rollback.format(commit=commit) if forge else f"--rollback {commit}"


def successions(reviews: Iterable[Review], order_of: OrderOf, rollback: str = "") -> Iterator[Succession]:
    """Yield the commits to deploy that do not follow a deployed one, except the one that a person rolls back to."""
    for review in reviews:
        if review.commit in ("", UNKNOWN_COMMIT) or (rollback and review.commit.startswith(rollback[:SHORT])):
            continue
        for deployed in review.deployed:
            order = order_of(review.commit, deployed)
            if order not in (CommitOrder.SAME, CommitOrder.LATER):
                yield Succession(review.stack, review.commit, deployed, order)


def rollback_to(text: str) -> str:
    """Return the commit that a person rolls back to, empty for none. Raises ConfigError for another text."""
    commit = text.strip().lower()
    if commit and (len(commit) < _LEAST or not _DIGITS.issuperset(commit)):
        raise ConfigError(
            f"--rollback {text} is not a commit",
            why=f"it names the commit to go back to, by {_LEAST} or more hexadecimal digits",
            fix="--rollback COMMIT",
        )
    return commit
