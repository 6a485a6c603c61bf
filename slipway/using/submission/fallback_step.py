"""The next step of a waiting attempt, decided from its known status. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from slipway.using.jobs.claim import Claim


class FallbackStep(Enum):
    KEEP = "this job is the submission: it runs, has run, or was ended or cancelled by somebody"
    WAIT = "look again later"
    TAKE = "create the claim with `moved`"
    CANCEL = "cancel the job, which was given up or cancelled"
    NEXT = "send by the next offer"
    LOST = "the job began while it was being cancelled, so nothing more is sent"


@dataclass(frozen=True)
class AttemptStatus:
    """The known status of an attempt whose job exists."""

    #: Its replicas take the claim.
    launcher: bool
    claim: Claim
    started: bool
    ended: bool
    #: It was cancelled, or is being cancelled.
    stopped: bool
    #: It ended because its machines never came.
    without_machines: bool
    overdue: bool
    next: bool
    #: It is not known yet whether a later offer could.
    unread: bool = False


def next_step(status: AttemptStatus) -> FallbackStep:
    """Return the next step. However often it is done, wholly or in part, it makes no two runs and ends none."""
    if status.claim is Claim.STARTED:
        return FallbackStep.KEEP
    if status.claim is Claim.CANCELLED:
        return FallbackStep.KEEP if status.ended or status.stopped else FallbackStep.CANCEL
    if status.claim is Claim.GIVEN_UP:
        if not status.launcher:  # Only the service knows whether it began.
            if status.ended:
                if not status.started:
                    return FallbackStep.NEXT
                return FallbackStep.LOST if status.stopped else FallbackStep.KEEP
            if status.stopped:
                return FallbackStep.WAIT
            return FallbackStep.KEEP if status.started else FallbackStep.CANCEL
        # No replica of the job will ever run user code, whatever the service says of the job.
        return FallbackStep.NEXT if status.ended or status.stopped else FallbackStep.CANCEL
    if status.started or status.stopped:
        return FallbackStep.KEEP
    if status.ended:
        if not status.without_machines:
            return FallbackStep.KEEP
        # A kept job is the submission's end: a momentary failure to read must not decide that.
        return FallbackStep.TAKE if status.next else FallbackStep.WAIT if status.unread else FallbackStep.KEEP
    return FallbackStep.TAKE if status.overdue and status.next else FallbackStep.WAIT
