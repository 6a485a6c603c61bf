"""The one transition of a delivery, of a submission and of a sweep's run: the step after a request whose answer is none
of a job. Pure; the senders wait, write their journals and tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slipway.google.failures import CloudError, Denied, NotFound, Unauthenticated


@dataclass(frozen=True)
class RetryPolicy:
    """The waits of retries, in seconds. `look_for` bounds the search after a lost answer, `resend_for` the repeated
    sending, `no_contact` the watching of a waiting job without answers.

    `judge_every`: the interval at which a submission whose wait ran out judges the other offers. `service_late`: the
    time that the service may take to end a job whose wait it keeps itself.
    """

    look_for: float = 60.0
    look_every: float = 2.0
    no_contact: float = 3600.0
    resend_for: float = 120.0
    resend_unreachable: int = 3
    first_wait: float = 1.0
    longest_wait: float = 30.0
    judge_every: float = 60.0
    service_late: float = 300.0


Step = Literal["resend", "look", "refuse", "stop"]
"""Not accepted, for a reason that passes; perhaps accepted, as only its job can tell; not accepted, nor another time;
not accepted, nor would any other request be now."""


def after(problem: CloudError, policy: RetryPolicy, trouble: float, unreachable: int = 0) -> Step:
    """Return the step after a request that failed. `trouble`: seconds until the next attempt since something was
    accepted; `unreachable`: attempts without a connection."""
    if problem.worth_again:
        over = trouble > policy.resend_for or unreachable >= policy.resend_unreachable
        return "stop" if over else "resend"
    if isinstance(problem, Unauthenticated | Denied | NotFound):
        return "stop"
    return "refuse" if problem.not_accepted else "look"
