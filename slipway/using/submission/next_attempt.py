"""The job in which a submission goes on, for whoever names or waits for an earlier one of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from slipway.base.clock import poll
from slipway.base.formatting import last_part
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.model.labels import REQUEST_LABEL, STACK_LABEL, label_filter
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, mark_of, next_claim, read_claim
from slipway.using.jobs.claimant import about_original, original
from slipway.using.jobs.race import decided
from slipway.using.submission.request import attempt_id
from slipway.using.submission.sent_job import find_sent_job

_EVERY_S = 2.0


def next_attempt(context: Context, job: VertexJob, within: float | None = 0.0) -> VertexJob | None:
    """Return the job that a submission fell back to from one that never began; None where there is none, or it can't be
    told. `within`: the seconds in which its sender may send that, once it has given this one up; None for as long as a
    list may hide it."""
    if not job.ended or job.start_time is not None or not job.request_id:
        return None
    storage, mark, clock = context.connection.storage, mark_of(job, context.catalog), context.clock
    following, given_up = attempt_id(job.request_id, 1), False  # Who may not read claims sees the first step.
    with suppress(CloudError):
        given_up = read_claim(storage, mark) is Claim.GIVEN_UP
        following = last_part(next_claim(storage, mark)) or following
    wanted = label_filter({STACK_LABEL: context.catalog.identity.label, REQUEST_LABEL: following})
    longest = min(context.look_for, context.look_for if within is None else within)
    for _ in poll(clock.sleep, _EVERY_S, within=longest if given_up else 0.0, now=clock.monotonic):
        with suppress(CloudError):
            if later := next(context.vertex.jobs(job.kind, wanted), None):
                return later
    return None


def last_attempt(context: Context, text: str, tell: Callable[[str], None]) -> VertexJob:
    """Return the job that `find_sent_job` does, or the one that its submission fell back to; that of a number as it is.
    Raises ResourceError."""
    job = find_sent_job(context, text, tell=tell)
    while text not in (job.id, job.name) and (later := next_attempt(context, job)):
        tell(_about_fallback(job, later))
        job = later
    return job


def goes_on_as(context: Context, job: VertexJob, tell: Callable[[str], None], within: float | None) -> VertexJob | None:
    """Return the job in which the submission of an ended one goes on; None where that was its last. `within`: as of
    `next_attempt`. Raises the errors of `original` and `decided`."""
    if owner := original(context.vertex, context.connection.storage, job):
        tell(f"{job.called} ({job.id}) {about_original(job, owner)}")
        return owner
    stands = decided(context, job, tell)  # A list may have hidden another leg of its race before.
    if later := next_attempt(context, stands, within):
        tell(_about_fallback(stands, later))
        return later
    return stands if stands.name != job.name else None


def _about_fallback(job: VertexJob, later: VertexJob) -> str:
    return f"{job.called} ({job.id}) never began, and its submission goes on as {later.called}"
