"""The transition of a delivery, the same for a submission and for a sweep's run: the step after a request that was not
answered with its job. Pure; the senders wait, write their journals and tell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from slipway.google.failures import CloudError, Denied, NotFound, Unauthenticated


@dataclass(frozen=True)
class RetryPolicy:
    """The waits of retries, in seconds."""

    #: Bounds the search after a lost answer.
    look_for: float = 60.0
    look_every: float = 2.0
    #: Bounds the watching of a waiting job without answers.
    no_contact: float = 3600.0
    #: Bounds the repeated sending.
    resend_for: float = 120.0
    #: The number of attempts without a connection after which sending stops.
    resend_unreachable: int = 3
    first_wait: float = 1.0
    longest_wait: float = 30.0
    #: The interval at which a submission whose wait ran out judges the other offers.
    judge_every: float = 60.0
    #: The time that the service may take to end a job whose wait it keeps itself.
    service_late: float = 300.0


class SendState(StrEnum):
    """The last step of a sending, as a journal has it."""

    SENDING = "sending"
    ACCEPTED = "accepted"
    #: A run of a sweep that was not accepted and goes back into the queue.
    REQUEUED = "back"
    REFUSED = "refused"


Step = Literal["resend", "look", "refuse", "stop"]
"""The step after a request:

- resend: it was not accepted, for a reason that passes.
- look: it may have been accepted, which only its job can tell.
- refuse: it was not accepted, and never will be.
- stop: it was not accepted, and no other request would be now.
"""


def after(problem: CloudError, policy: RetryPolicy, trouble: float, unreachable: int = 0) -> Step:
    """Return the step after a request that failed. `trouble`: seconds until the next attempt since something was
    accepted; `unreachable`: attempts without a connection."""
    if problem.worth_again:
        over = trouble > policy.resend_for or unreachable >= policy.resend_unreachable
        return "stop" if over else "resend"
    if isinstance(problem, Unauthenticated | Denied | NotFound):
        return "stop"
    return "refuse" if problem.not_accepted else "look"
