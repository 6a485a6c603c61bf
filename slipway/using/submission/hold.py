"""The wait of a submission that may not be sent yet, in its command: nothing of it is at the service."""

from __future__ import annotations

from contextlib import suppress

from slipway.google.failures import CloudError
from slipway.using.context import Context
from slipway.using.jobs.pause import STACK
from slipway.using.submission.candidates import PreparedSubmission
from slipway.using.submission.choice import JudgedCandidate
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.waiting_attempt import FOR_EVER, FallbackDisplay

PAUSE_LOOK_S = 10.0


class HeldError(Exception):
    """The candidate that a submission takes may not be sent now."""

    def __init__(self, judged: JudgedCandidate) -> None:
        super().__init__(judged.verdict.text)
        self.judged = judged


class Hold:
    """The waits of one submission; each reason is told once."""

    def __init__(self, show: FallbackDisplay, policy: RetryPolicy) -> None:
        self._show, self._policy = show, policy
        self._noted = ""
        #: When the wait planned for a candidate is over, by its label, on the monotonic clock.
        self._until: dict[str, float] = {}
        #: The labels of candidates whose planned wait is over.
        self.overdue: set[str] = set()

    def wait(self, context: Context, prepared: PreparedSubmission, first: int, held: JudgedCandidate) -> LaterOffers:
        """Wait until it is worth another look. Return the offers from the place `first` on, by the catalog as published
        then. Raises ConfigError and PolicyError where that has them no more."""
        clock, candidate, pause = context.clock, held.candidate, held.pause
        if held.verdict.text != self._noted:
            self._noted = held.verdict.text
            self._show.note(f"{candidate.label} {held.verdict.text}; waits here, and Ctrl-C sends nothing")
        # Where nothing may be sent at all there is no other way, and no planned wait begins.
        until = FOR_EVER
        if candidate.wait and not candidate.waits_by_itself and not (pause and pause.cluster == STACK):
            until = self._until.setdefault(candidate.label, clock.monotonic() + candidate.wait)
        look = PAUSE_LOOK_S if pause and candidate.label not in self.overdue else self._policy.judge_every
        while True:
            clock.sleep(look)
            if clock.monotonic() >= until:
                self.overdue.add(candidate.label)
                break
            if pause is None or not pause.stands(context.connection.storage):
                break
        later = LaterOffers.after(context, prepared, first - 1)
        with suppress(CloudError):  # It is read again at the next look.
            return later.anew()
        return later
