"""The wait of a submission that may not be sent yet, in its command: nothing of it is at the service."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from slipway.google.failures import CloudError
from slipway.using.context import Context
from slipway.using.jobs.pause import STACK, read_pauses
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import JudgedCandidate
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.waiting_attempt import FOR_EVER, FallbackDisplay

PAUSE_LOOK_S = 10.0
_MEANWHILE = "waits here, and Ctrl-C sends nothing"


def await_resumption(context: Context, tell: Callable[[str], None]) -> None:
    """Wait until the stack is not paused. Raises CloudError."""
    storage = context.connection.storage
    while pause := read_pauses(storage, context.catalog.work_bucket).get(STACK):
        tell(f"held: {pause.words(context.catalog.stack)}; {pause.resume} ends that; {_MEANWHILE}")
        while pause.stands(storage):
            context.clock.sleep(PAUSE_LOOK_S)


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

    def left(self, candidate: Candidate, now: float) -> Candidate:
        """Return a candidate with what is left of its planned wait, of which a hold has taken its part."""
        until = self._until.get(candidate.label)
        return candidate if until is None else replace(candidate, wait=max(0.0, until - now))

    def wait(self, context: Context, prepared: PreparedSubmission, first: int, held: JudgedCandidate) -> LaterOffers:
        """Wait until it is worth another look. Return the offers from the place `first` on, by the catalog as published
        then. Raises ConfigError and PolicyError where that has them no more."""
        clock, candidate, pause = context.clock, held.candidate, held.pause
        if held.verdict.text != self._noted:
            self._noted = held.verdict.text
            self._show.note(f"{candidate.label} {held.verdict.text}; {_MEANWHILE}")
        # Where nothing may be sent at all there is no other way, and no planned wait begins.
        until = FOR_EVER
        if candidate.wait and not candidate.waits_by_itself and not (pause and pause.cluster == STACK):
            until = self._until.setdefault(candidate.label, clock.monotonic() + candidate.wait)
        look = PAUSE_LOOK_S if pause and candidate.label not in self.overdue else self._policy.judge_every
        then = LaterOffers.after(context, prepared, first - 1)
        while True:
            clock.sleep(look)
            overdue, later = clock.monotonic() >= until, then
            if overdue:
                self.overdue.add(candidate.label)
            with suppress(CloudError):  # It is read again at the next look.
                later = then.anew()
            if overdue or later is not then or pause is None or not pause.stands(context.connection.storage):
                return later
