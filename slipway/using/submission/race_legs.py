"""The legs of a race that are not known to be accepted: when each is tried next, and when it is given up. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from slipway.using.submission.candidate import Candidate
from slipway.using.submission.delivery import RetryPolicy

LOOK_EVERY_S = 2.0
"""The longest pause between two looks at the claim, which ends the sending."""


@dataclass(frozen=True)
class PendingLeg:
    """A leg that is sent, or looked for where its answer was lost. Times are those of the monotonic clock."""

    candidate: Candidate
    #: The time of the next try.
    due: float
    #: The time when its answer was lost, or when an earlier call may have sent it; None for a leg to send.
    lost_at: float | None = None
    #: The time when its region first took no job, and the pause since the last try.
    limited_at: float | None = None
    pause: float = 0.0

    @property
    def lost(self) -> bool:
        return self.lost_at is not None

    def pause_before(self, now: float) -> float:
        """Return the seconds to wait before the next look at the claim, 0 when the leg is due."""
        return min(LOOK_EVERY_S, max(0.0, self.due - now))

    def after_limit(self, now: float, policy: RetryPolicy) -> PendingLeg | None:
        """Return the leg after its region took no job just now; None when the others are waited for first."""
        since = now if self.limited_at is None else self.limited_at
        pause = policy.first_wait if self.pause == 0.0 else min(policy.longest_wait, self.pause * 2)
        if now + pause - since > policy.resend_for:
            return None
        return replace(self, due=now + pause, limited_at=since, pause=pause)

    def after_lost_answer(self, now: float, policy: RetryPolicy) -> PendingLeg:
        return replace(self, due=now + policy.look_every, lost_at=now)

    def after_empty_list(self, now: float, policy: RetryPolicy) -> PendingLeg:
        """Return the leg after a list without it: once no list can hide it any more, it does not exist and is sent."""
        assert self.lost_at is not None
        if now - self.lost_at >= policy.look_for:
            return replace(self, due=now, lost_at=None)
        return replace(self, due=min(now + policy.look_every, self.lost_at + policy.look_for))

    def after_unread_list(self, now: float, policy: RetryPolicy) -> PendingLeg | None:
        """Return the leg after a list that could not be read; None when it is given up as unknown."""
        assert self.lost_at is not None
        if now - self.lost_at >= policy.look_for:
            return None
        return replace(self, due=now + policy.look_every)


def next_leg(legs: Iterable[PendingLeg]) -> PendingLeg:
    """Return the leg that is due first, the first one among equals."""
    return min(legs, key=lambda leg: leg.due)
