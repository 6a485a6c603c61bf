"""Fallback: when a waiting attempt is given up for the next offer, decided from what is known. Pure, without a memory.

A submission is sent by one offer after the other; each *attempt* has a request id and a claim of its own. A job may be
given up only while it can't have begun, and the claim decides that: whoever creates the object first has it. When the
launcher of a replica was first, the job has just started, and is kept. When `moved` was first, every replica of that
job ends before any user code, now and later, so it is cancelled and the next offer is taken. Each step can be seen from
outside afterwards, in the service or in the claim, so whoever is killed between two of them goes on by looking again.

Without a launcher nobody races for the claim, and the object is only a mark that the job was given up. The service
then decides: the job is cancelled, and when it shows a start time at its end it had begun, and nothing more is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from slipway.cloud.resources import CustomJob
from slipway.jobs.claim import Claim
from slipway.submission.candidates import Candidate
from slipway.submission.request import derived_request_id

STOPPED = frozenset({"JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"})
_NO_MACHINES = "Resources are insufficient"
_CLOCK_SLACK = 1.0


class Step(Enum):
    KEEP = "this job is the submission: it runs, has run, or was ended by somebody else"
    WAIT = "look again later"
    TAKE = "create the claim with `moved`"
    CANCEL = "cancel the job, which was given up"
    NEXT = "send by the next offer"
    LOST = "the job began while it was being cancelled, so nothing more is sent"


@dataclass(frozen=True)
class AttemptStatus:
    """What is known of an attempt whose job exists.

    `launcher`: its replicas take the claim. `overdue`: its wait has run out. `next`: a later offer could run now.
    """

    launcher: bool
    claim: Claim
    started: bool
    ended: bool
    stopped: bool
    without_machines: bool
    overdue: bool
    next: bool


def next_step(status: AttemptStatus) -> Step:
    """What to do now. Doing it, or a part of it, any number of times never makes two runs and never ends a run."""
    if status.claim is Claim.STARTED:
        return Step.KEEP
    if status.claim is Claim.GIVEN_UP:
        return _given_up(status) if status.launcher else _marked(status)
    if status.started or status.stopped:
        return Step.KEEP
    if status.ended:
        return Step.TAKE if status.without_machines and status.next else Step.KEEP
    return Step.TAKE if status.overdue and status.next else Step.WAIT


def _given_up(status: AttemptStatus) -> Step:
    """No replica of it will ever run user code, whatever the service says of the job."""
    return Step.NEXT if status.ended or status.stopped else Step.CANCEL


def _marked(status: AttemptStatus) -> Step:
    """Only the service knows whether it began."""
    if status.ended:
        if not status.started:
            return Step.NEXT
        return Step.LOST if status.stopped else Step.KEEP
    if status.stopped:
        return Step.WAIT
    return Step.KEEP if status.started else Step.CANCEL


def got_no_machines(job: CustomJob, candidate: Candidate) -> bool:
    """It ended because its machines never came: stock-out, or the wait that the service itself was asked for."""
    if job.start_time is not None or job.state not in ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED"):
        return False
    if job.state == "JOB_STATE_EXPIRED" or _NO_MACHINES in job.error:
        return True
    if not candidate.waits_by_itself or not candidate.wait or job.create_time is None or job.end_time is None:
        return False
    return (job.end_time - job.create_time).total_seconds() >= candidate.wait - _CLOCK_SLACK


def attempt_id(request_id: str, number: int) -> str:
    """The request id of the n-th attempt of a submission; the first has the submission's own."""
    return request_id if number == 0 else derived_request_id("sending", request_id, number)
