"""The sending of exactly one job through an API that has no idempotency key and whose lists may lag.

A request is recorded, then sent once. It is sent again only after an answer that proves it was not accepted. When the
answer is lost the job is looked up by its label for a while; when that finds nothing, its fate is unknown, and the
person is told how to go on. A repeated request id is first looked up, in the journal and at the service; should two
jobs be made all the same, the claim of their launchers lets only one run, unless they are tuning jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from slipway.base.clock import poll
from slipway.base.errors import AnswerUnknown, Cancelled
from slipway.base.formatting import join
from slipway.google.catalog.lookup import account_remedy
from slipway.google.failures import QUOTA_TOO_SMALL, CloudError, Conflict, Denied, NotFound, Refused, Unreachable
from slipway.google.jobs import VertexJob
from slipway.model.kinds import KINDS
from slipway.model.labels import REQUEST_LABEL, STACK_LABEL, label_filter
from slipway.using.context import Context
from slipway.using.jobs.claim import CANCELLED, GIVEN_UP, Claim, claim_for_sender, note_accepted, read_claim
from slipway.using.jobs.claimant import JobGoneError, OtherJobError, claimant, holder
from slipway.using.submission.delivery import RetryPolicy, SendState, after
from slipway.using.submission.journal import DamagedEntry, JournalEntry, SubmissionJournal
from slipway.using.submission.lookup import JobLookup
from slipway.using.submission.request import Request
from slipway.using.submission.same_request import same

_NOTED_WITHIN = 2.0
"""The most seconds between the recorded time, in whole seconds, and the sending."""


@dataclass(frozen=True)
class Attempt:
    """A job and its request."""

    job: VertexJob
    #: False for a job that an earlier attempt made.
    fresh: bool
    #: The full names of other jobs of the same request.
    copies: tuple[str, ...] = ()
    #: It was given up for the next attempt.
    given_up: bool = False

    @property
    def copy_ids(self) -> tuple[str, ...]:
        return tuple(name.rsplit("/", 1)[-1] for name in self.copies)


@dataclass
class Sender:
    """A sender of one attempt."""

    context: Context
    journal: SubmissionJournal
    #: Gets a line for every step that takes a while.
    tell: Callable[[str], None]
    policy: RetryPolicy

    def __post_init__(self) -> None:
        self._begun = False
        self._lookup = JobLookup(self.context, self.tell)
        self._noted_at = 0.0

    def _look_up(self, request: Request) -> list[VertexJob]:
        """List the stack's jobs of every kind that carry the request's label, oldest first; of a leg those of its
        region."""
        wanted = label_filter({STACK_LABEL: request.stack, REQUEST_LABEL: request.id})
        if request.leg:
            return sorted(self.context.vertex.at(request.region).jobs(request.kind, wanted), key=_age)
        with ThreadPoolExecutor(len(KINDS), thread_name_prefix="kinds") as threads:
            listed = threads.map(
                lambda kind: self._lookup.jobs(kind, wanted, runs_once=request.runs_once), KINDS.values()
            )
            jobs = [job for of_kind in listed for job in of_kind if not job.of_pipeline]
        return sorted(jobs, key=_age)

    def begin(self, request: Request, *, repeated: bool) -> Attempt | None:
        """Write the request down, unless an earlier attempt made its job; then return that attempt.

        `repeated`: the id was chosen by somebody, so it may have been used before, and is looked up in the journal and
        at the service. Raises ConfigError when it was used for another request, JobGoneError when its job was deleted
        since.
        """
        sent = self.earlier(request) if repeated else None
        if sent is None:
            self._note(request, SendState.SENDING)
            self._begun = True
        return sent

    def sent_before(self, request: Request) -> Attempt | None:
        """Return the attempt that an earlier call made, as one look tells, and record nothing. Raises ConfigError when
        the id was used for another request, JobGoneError when the job was deleted since, and CloudError."""
        entry = self.journal.read(request.entry)
        if entry and entry.state is SendState.ACCEPTED:
            return self._accepted(request, entry)
        jobs = self._look_up(request)
        if not jobs:
            return None
        return Attempt(same(request, claimant(self.context.connection.storage, jobs)), fresh=False)

    def started(self, request: Request) -> Attempt:
        """Return the job that has taken the claim of a request, where neither the journal nor a list leads to it.

        Raises JobGoneError when the job was deleted since, CloudError, and AnswerUnknown where lists can't be read.
        """
        self.tell(f"request {request.id} was submitted before, and has started; looking for its job")
        context = self.context
        job = holder(context.vertex, context.connection.storage, request.mark, request.kind, request.id)
        if job:
            return self._chosen(request, [job])
        if not request.kind.runs_itself and (attempt := self._search(request, self.policy.look_for)):
            return attempt
        raise _gone(
            request,
            f"{request.body.get('displayName', 'it')} has started, as {request.mark} tells, and is no longer in "
            f"{join(context.vertex.regions, 'or')}: nobody can tell how it ended",
        )

    def claim(self, request: Request) -> Attempt | Claim:
        """Take the claim of a request whose job has no launcher to do so. Return SENT for this sender, GIVEN_UP where
        the attempt was given up, and the attempt where its job was made before and no list shows it.

        Raises JobGoneError where that job was deleted since, OtherJobError where a job of another kind has the claim,
        Cancelled, and CloudError.
        """
        if request.claim:
            return Claim.SENT
        try:
            found = claim_for_sender(self.context.connection.storage, request.mark, request.sender)
        except Denied as problem:
            self.tell(f"! not claimed, so that the same request from another machine may run again: {problem.message}")
            return Claim.SENT
        if found.startswith("projects/"):
            if job := self.context.vertex.found(found):
                return self._chosen(request, [job])
            raise _gone(request, f"{found} was accepted and has been deleted since")
        if found == CANCELLED:
            raise cancelled(request)
        if found not in (request.sender, GIVEN_UP):
            raise self.claimed_by(request, found)
        return Claim.GIVEN_UP if found == GIVEN_UP else Claim.SENT

    def claimed_by(self, request: Request, found: str = "") -> OtherJobError:
        """Return the error where the claim of a request is that of a job of another kind."""
        return OtherJobError(
            f"request id {request.id} was used before, for something else",
            why=f"{request.mark} is {f'that of {found}' if found else 'that of a job without a launcher'}",
            fix="use another request id, or leave it out",
        )

    def note_accepted(self, request: Request, job: VertexJob) -> None:
        """Note that the job of a request without a launcher was made."""
        if request.claim:
            return
        try:
            note_accepted(self.context.connection.storage, request.mark, job)
        except Denied:
            pass  # It was told when it was not claimed.
        except CloudError as problem:
            self.tell(f"! not noted, so that it may run again if it is deleted: {problem.message}")

    def require_wanted(self, request: Request, sent: Attempt | None = None) -> None:
        """Raise Cancelled where somebody has cancelled the attempt, after ending what was `sent`. Raises CloudError."""
        if read_claim(self.context.connection.storage, request.mark) is not Claim.CANCELLED:
            return
        for name in (sent.job.name, *sent.copies) if sent else ():
            with suppress(Refused, Conflict, NotFound):
                self.context.vertex.cancel(name)
        raise cancelled(request, sent=sent is not None)

    def withdraw(self, request: Request) -> None:
        """Note that the request is not sent after all. An earlier attempt's entry stays."""
        if self._begun:
            self._note(request, SendState.REFUSED)

    def send(self, request: Request) -> Attempt:
        """Send the request that was begun, and return the job.

        Raises AnswerUnknown when its acceptance can't be told, CloudError when it was refused.
        """
        try:
            return self._sent(request)
        except KeyboardInterrupt as problem:
            raise self._unknown(request, None) from problem

    def earlier(self, request: Request) -> Attempt | None:
        """Return the attempt that an earlier call made, looking for a while where its answer may have been lost. Raises
        the errors of `begin`."""
        entry = self.journal.read(request.entry)
        if entry and entry.state is SendState.ACCEPTED:
            return self._accepted(request, entry)
        if entry and entry.state is SendState.SENDING:
            damage = entry.error if isinstance(entry, DamagedEntry) else None
            known = (
                f"! {damage.what} ({damage.why})" if damage else f"request {request.id} was being sent at {entry.when}"
            )
            self.tell(f"{known}; looking for its job")
            age = (self.context.clock.now() - datetime.fromisoformat(entry.when)).total_seconds() - _NOTED_WITHIN
            attempt = self._search(request, self.policy.look_for - max(age, 0.0))
            if damage and attempt is None and not request.runs_once:
                raise damage  # No claim tells whether it ran, and was deleted since.
            return attempt
        jobs = self._look_up(request)
        return self._chosen(request, jobs) if jobs else None

    def _accepted(self, request: Request, entry: JournalEntry) -> Attempt:
        job = self.context.vertex.found(entry.job)
        if job is None:
            raise _gone(request, f"{entry.job} was accepted {entry.when} and has been deleted since")
        return Attempt(same(request, job), fresh=False)

    def _sent(self, request: Request) -> Attempt:
        clock, policy = self.context.clock, self.policy
        begin, wait, unreachable = clock.monotonic(), policy.first_wait, 0
        while True:
            if clock.monotonic() - self._noted_at > _NOTED_WITHIN / 2:
                # The time for which a list may hide its job is counted from here.
                self._note(request, SendState.SENDING)
            try:
                job = self.context.vertex.at(request.region).create(request.kind, request.body)
                break
            except CloudError as problem:
                unreachable += isinstance(problem, Unreachable)
                asked = problem.answer.retry_after if problem.answer else None
                wait = min(policy.longest_wait, max(wait, asked or 0.0))
                step = after(problem, policy, clock.monotonic() - begin + wait, unreachable)
                if request.kind.id_parameter and isinstance(problem, Conflict):
                    step = "look"  # The job is there: an earlier sending made it.
                if step == "look":
                    self.tell(f"{problem.why}; looking whether the job was made")
                    attempt = self._search(request, self.policy.look_for)
                    if not attempt:
                        raise self._unknown(request, problem) from problem
                    return replace(attempt, fresh=True)
                if step != "resend":
                    self._refused(request, problem)
                    raise
                self.tell(f"not accepted yet: {problem.message}; again in {wait:.0f} s")
                clock.sleep(wait)
                wait *= 2
        self._note(request, SendState.ACCEPTED, job.name)
        return Attempt(job, fresh=True)

    def _refused(self, request: Request, problem: CloudError) -> None:
        self._note(request, SendState.REFUSED)
        if QUOTA_TOO_SMALL in problem.message:
            from slipway.google.quota.metrics import request_command
            from slipway.using.jobs.waiting import draws

            drawn = {need.metric: need.amount for need in draws(request.job)}
            short = [
                request_command(metric, amount) for metric, amount in drawn.items() if f"/{metric}" in problem.message
            ]
            problem.fix = (
                "\nand ".join(f"ask for more: {command}" for command in short) or "see what is short: slipway quota"
            )
        account = request.kind.spec_of(request.body).get("serviceAccount", "")
        if account and account in problem.message:
            way = account_remedy(self.context.catalog, account, request.template)
            problem.fix = f"{problem.fix}\n{way}".lstrip()

    def _search(self, request: Request, within: float) -> Attempt | None:
        """Look for the job for `within` seconds and at least once, because a list may lag behind an answer.

        None means that the job does not exist; AnswerUnknown is raised where a list can't be read at the end.
        """
        clock, failed = self.context.clock, None
        for _ in poll(clock.sleep, self.policy.look_every, within=within, now=clock.monotonic):
            try:
                if jobs := self._look_up(request):
                    return self._chosen(request, jobs)
                failed = None
            except CloudError as problem:
                self.tell(f"could not look: {problem.why}")
                failed = problem
        if failed:
            raise self._unknown(request, failed) from failed
        return None

    def _chosen(self, request: Request, jobs: list[VertexJob]) -> Attempt:
        job = claimant(self.context.connection.storage, jobs)
        copies = tuple(copy.name for copy in jobs if copy is not job)
        self._note(request, SendState.ACCEPTED, job.name)
        return Attempt(same(request, job), fresh=False, copies=copies)

    def _note(self, request: Request, state: SendState, job: str = "") -> None:
        clock = self.context.clock
        when, self._noted_at = clock.now().isoformat(timespec="seconds"), clock.monotonic()
        entry = JournalEntry(
            request_id=request.entry, template=request.template, state=state, when=when, job=job, body=request.body
        )
        # Only an entry before its sending must survive a power cut; later states can be looked up again.
        self.journal.write(entry, durable=state is SendState.SENDING)

    def _unknown(self, request: Request, problem: CloudError | None) -> AnswerUnknown:
        why = problem.why if problem else "interrupted while sending"
        return AnswerUnknown(
            f"sent, but whether {request.body.get('displayName', 'the job')} was accepted is unknown",
            why=f"{why}; no job of request {request.id} is listed",
            risk=f"looks again first; {request.when_twice}",
        )


def _age(job: VertexJob) -> tuple[datetime, str]:
    return job.create_time or datetime.max.replace(tzinfo=UTC), job.name


def cancelled(request: Request, *, sent: bool = False) -> Cancelled:
    return Cancelled(
        f"{request.body.get('displayName', 'the job')} was cancelled{'' if sent else ', and is not sent'}",
        why=f"slipway jobs cancel ended this submission, request {request.id}",
        fix="submit it by another request id to run it",
    )


def _gone(request: Request, why: str) -> JobGoneError:
    return JobGoneError(f"request {request.id} was submitted before, and its job is gone", why=why)


def about_earlier(request: Request, attempt: Attempt) -> str:
    if attempt.fresh:
        return ""
    before = f"submitted before with request id {request.id}"
    if not attempt.job.ended or attempt.job.state == "JOB_STATE_SUCCEEDED":
        return f"{before}: nothing is sent again"
    if attempt.given_up:
        return f"{before}, and given up for what comes next"
    other = f"another request id, such as {request.id[:60]}-2, runs it once more"
    return f"{before}, and {attempt.job.outcome}: nothing is sent again; {other}"


def about_copies(request: Request, attempt: Attempt) -> str:
    if not attempt.copies:
        return ""
    end = "" if request.runs_once else f"; to end one: slipway jobs cancel {attempt.copy_ids[0]}"
    return f"other jobs of this request exist, and {request.when_twice}: {', '.join(attempt.copy_ids)}{end}"
