"""Fallback: giving a waiting attempt up for the next offer, decided from visible state alone, without a memory.

A submission is sent by one offer after the other; each *attempt* has a request id and a claim of its own. A job may be
given up only while it can't have begun, and the claim decides that: the first to create the object has it. When the
launcher of a replica was first, the job has just started, and is kept. When `moved` was first, every replica of that
job ends before any user code, now and later, so the job is cancelled and the next offer is taken. Each step is visible
from outside afterwards, in the service or in the claim, so after a kill between two steps the next call looks again and
goes on.

Without a launcher there is no race for the claim, and the object only marks that the job was given up. The service then
decides: the job is cancelled, and when it has a start time at its end it had begun, and nothing more is sent.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from slipway.base.errors import Cancelled, PolicyError, SlipwayError, WaitTimeout
from slipway.base.formatting import join
from slipway.google.failures import CloudError, Conflict, NotFound, Refused, Unauthenticated
from slipway.google.jobs import CANCELLED, CANCELLING, FAILED, NO_MACHINES, VertexJob
from slipway.model.catalog.withdrawal import ended_between
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, give_up, mark_in
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import JudgedCandidate, NoneCanRun, obstacle
from slipway.using.submission.confirming import confirm
from slipway.using.submission.costs import Spending, spending
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.fallback_step import AttemptStatus, FallbackStep, next_step
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.request import Request
from slipway.using.submission.sender import Attempt
from slipway.using.submission.waiting_attempt import FOR_EVER, FallbackDisplay, WaitingAttempt

_STOPPED = frozenset({CANCELLING, CANCELLED})
_CLOCK_SLACK = 1.0


def got_no_machines(job: VertexJob, candidate: Candidate) -> bool:
    """Tell whether a job ended because its machines never came: stock-out, or the end of the service's wait."""
    if job.start_time is not None or job.state not in FAILED:
        return False
    if job.state == "JOB_STATE_EXPIRED" or NO_MACHINES.search(job.error):
        return True
    if not candidate.waits_by_itself or not candidate.wait or job.create_time is None or job.end_time is None:
        return False
    return (job.end_time - job.create_time).total_seconds() >= candidate.wait - _CLOCK_SLACK


@dataclass(frozen=True)
class FallbackLoop:
    """An attempt that may be given up for a later offer."""

    context: Context
    show: FallbackDisplay
    policy: RetryPolicy
    request: Request
    candidate: Candidate
    #: The later offers, by the catalog at the time of judging.
    later: LaterOffers
    #: The request id of the next attempt.
    following: str

    def run(self, sent: Attempt, claim: Claim) -> tuple[Attempt, LaterOffers | None]:
        """Return the job's last state, and the later offers when it was given up.

        After a kill, another call goes on from there. Raises Cancelled for a job that began while it was being given
        up.
        """
        context, clock = self.context, self.context.clock
        launcher = bool(self.request.claim)
        later, reachable = self.later, self.later.candidates
        judge_at = clock.monotonic()
        until = judge_at + self._left(sent)
        # Where a job ended without machines, and the later offers can't be read, the end of the attempts to read them.
        patient_until: float | None = None
        unread = claim_failed = False
        noted: tuple[bool, object] | None = None  # The same reasons are noted once.
        refused: Spending | None = None
        while True:
            now, job = clock.monotonic(), sent.job
            overdue = now >= until
            without_machines = got_no_machines(job, self.candidate)
            another_can_run = False
            # The job has just ended: the offers are judged now, whenever that was done last.
            if without_machines and patient_until is None:
                judge_at, patient_until = now, now + self.policy.no_contact
            if claim in (Claim.FREE, Claim.SENT) and (overdue or without_machines) and now >= judge_at:
                none_can_run = None
                if job.start_time is None:
                    later, none_can_run, reachable = self._judged(later)
                    costs = None if none_can_run else spending(later.prepared, reachable)
                    if costs and not (refused and refused.within(costs)):
                        refused = costs if self._refused(costs, job) else None
                        # It may have started while somebody was asked.
                        sent = replace(sent, job=context.vertex.job(job.name))
                        job = sent.job
                    another_can_run = none_can_run is None and not (costs and refused)
                judge_at, unread = now + self.policy.judge_every, bool(none_can_run and none_can_run.again)
                if none_can_run and none_can_run.held and without_machines:
                    patient_until = now + self.policy.no_contact
                if none_can_run and (without_machines, none_can_run.outcomes) != noted:
                    noted = without_machines, none_can_run.outcomes
                    self.show.note(none_can_run.words(self.candidate.label, job.display_name, ended=without_machines))
            if claim is Claim.SENT:
                claim = Claim.FREE  # Its sender gives it up.
            status = AttemptStatus(
                launcher=launcher,
                claim=claim,
                started=job.start_time is not None,
                ended=job.ended,
                stopped=job.state in _STOPPED,
                without_machines=without_machines,
                overdue=overdue,
                next=another_can_run,
                unread=unread and patient_until is not None and now < patient_until,
            )
            match next_step(status):
                case FallbackStep.KEEP:
                    return sent, None
                case FallbackStep.NEXT:
                    return sent, later
                case FallbackStep.LOST:
                    raise _lost(job)
                case FallbackStep.TAKE:
                    following = mark_in(later.context.catalog.work_bucket, self.following)
                    claim = give_up(context.connection.storage, self.request.mark, following)
                    unread = claim in (Claim.FREE, Claim.SENT)
                    if unread and not claim_failed:
                        self.show.note(
                            f"{job.display_name} could not be given up, as Cloud Storage did not take a note of it; "
                            "that is tried again every minute; Ctrl-C loses nothing"
                        )
                        claim_failed = True
                    if claim is Claim.GIVEN_UP:
                        waiting = WaitingAttempt(
                            job=job, candidate=self.candidate, seconds=0.0, later=reachable, launcher=launcher
                        )
                        self.show.falling_back(waiting)
                case FallbackStep.CANCEL:
                    for name in (job.name, *sent.copies):
                        with suppress(Refused, Conflict, NotFound):
                            context.vertex.cancel(name)
                    sent = replace(sent, job=context.vertex.job(job.name))
                case FallbackStep.WAIT if without_machines and claim is Claim.FREE:
                    clock.sleep(judge_at - now)
                case FallbackStep.WAIT:
                    left = (judge_at if overdue else until) - now
                    if claim is Claim.GIVEN_UP:
                        left = self.policy.look_every
                    sent = replace(sent, job=self._watched(job, left, later, overdue=overdue))

    def _refused(self, costs: Spending, job: VertexJob) -> bool:
        """Tell whether nobody confirms what the next offers cost: no job is given up for what is not sent."""
        try:
            confirm(self.context, self.show, costs)
        except (PolicyError, KeyboardInterrupt):
            stays = "has ended" if job.ended else f"stays on {self.candidate.label}"
            self.show.note(f"not confirmed: {costs.words}; {job.called} {stays}")
            return True
        return False

    def _left(self, sent: Attempt) -> float:
        """Return the seconds left to wait. Where the service ends the wait, Slipway waits longer."""
        wait = self.candidate.wait or 0.0
        if self.candidate.waits_by_itself:
            wait = wait + self.policy.service_late if wait else FOR_EVER
        age = 0.0
        if not sent.fresh and sent.job.create_time:
            age = max(0.0, (self.context.now - sent.job.create_time).total_seconds())
        return max(0.0, wait - age)

    def _judged(self, later: LaterOffers) -> tuple[LaterOffers, NoneCanRun | None, tuple[Candidate, ...]]:
        """Return the later offers by the catalog as it is now, why none of them can run now, and those not known to be
        out of reach.

        No job is given up by a catalog that can't be read, or whose next attempt would be another job.
        """
        try:
            newest = later.anew()
        except SlipwayError as problem:
            from slipway.using.jobs.follower import TRANSIENT

            unreadable = NoneCanRun(
                outcomes=((problem.what, Outcome.UNKNOWN),),
                reasons=(problem.what, *problem.why.splitlines()),
                unread=isinstance(problem, CloudError),
                again=isinstance(problem, (*TRANSIENT, Unauthenticated)),  # A user who was logged out may log in again.
            )
            return later, unreadable, ()
        if newest is not later:
            catalog = newest.context.catalog
            if ended := ended_between(later.context.catalog, catalog):
                self.show.note(f"the season of {join(ended)} has ended: nothing more is sent there")
            else:
                self.show.note(f"catalog {catalog.revision.short} was published: what is sent next follows that")
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
            preflight = Preflight(newest.context, newest.candidates, threads, patient=True)
            seen: list[JudgedCandidate] = []
            try:
                none_can_run = obstacle(preflight.judge(newest.candidates), seen)
            except CloudError as problem:
                why = f"could not look at the other offers: {problem.why}"
                return newest, NoneCanRun((), (why,), unread=True, again=True), ()
        never = [judged.candidate for judged in seen if judged.verdict.outcome is Outcome.NEVER]
        return newest, none_can_run, tuple(candidate for candidate in newest.candidates if candidate not in never)

    def _watched(self, job: VertexJob, seconds: float, later: LaterOffers, *, overdue: bool) -> VertexJob:
        from slipway.using.jobs.follower import Follower, Progress

        context = self.context
        quotas = context.connection.quotas(context.catalog.project, context.catalog.quotas)
        name = later.context.cluster_name(job.persistent_resource_id)  # The candidate's cluster may be its successor.
        gives_up = self.policy.no_contact
        follower = Follower(context.vertex, job, name, gives_up=gives_up, clock=context.clock, quotas=quotas)
        begun = job.start_time is not None
        try:
            waiting = WaitingAttempt(
                job=job, candidate=self.candidate, seconds=seconds, later=later.candidates, overdue=overdue
            )
            with self.show.watching(waiting) as tell:
                for event in follower.events(None if seconds == FOR_EVER else seconds):
                    tell(event)
                    if isinstance(event, Progress) and event.job.start_time is not None and not begun:
                        break
        except WaitTimeout:
            pass
        return follower.job


def _lost(job: VertexJob) -> Cancelled:
    return Cancelled(
        f"{job.display_name} began just when its wait ran out, and was cancelled: nothing more is sent",
        why="its template is an image without a launcher, so only the service could tell, and it shows a start time",
        fix=f"see what it did (slipway jobs show {job.typed}), then submit it again, by another request id where "
        "you have chosen one",
    )
