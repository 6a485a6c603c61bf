"""The sending of a race: a submission whose candidates are all sent at once, under one claim.

Each leg is recorded, sent and looked for as a single job is, by an entry of its own in the journal. After a kill the
same command sends what is missing, unless a leg has begun or somebody has cancelled it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from slipway.base.errors import AnswerUnknown, ConfigError, PolicyError, SlipwayError, WaitTimeout
from slipway.google.failures import CloudError
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, bucket_of, read_claim
from slipway.using.jobs.claimant import JobGoneError, OtherJobError, holder
from slipway.using.jobs.follower import TRANSIENT
from slipway.using.jobs.race import Race, end, follow
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.checks import Checks
from slipway.using.submission.choice import Choice, refusal
from slipway.using.submission.confirming import confirm
from slipway.using.submission.costs import crossing, spending_of
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.hold import HeldError
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.request import Request
from slipway.using.submission.same_request import same
from slipway.using.submission.sender import Attempt, Sender, cancelled
from slipway.using.submission.submission_result import SubmissionDisplay, SubmissionResult


@dataclass(frozen=True)
class RaceSender:
    context: Context
    journal: SubmissionJournal
    show: SubmissionDisplay
    policy: RetryPolicy

    def send(self, prepared: PreparedSubmission, *, repeated: bool) -> SubmissionResult:
        """Send a job in each region that can have it, wait until the first one runs, and cancel the others. Raises as
        `Submitter.submit`."""
        for candidate in prepared.candidates:
            _require_claim(candidate.request)
        sent, gone, unseen = self._earlier(prepared.candidates) if repeated else ({}, {}, set())
        if sent:  # It may have been sent from another machine, by another catalog.
            bucket = next(bucket_of(attempt.job, prepared.catalog) for attempt in sent.values())
            prepared = prepared.under(prepared.request_id, bucket)
        request = prepared.candidates[0].request
        claim = read_claim(self.context.connection.storage, request.mark) if repeated else Claim.FREE
        if claim is Claim.CANCELLED:
            self._end(sent)
            raise cancelled(request)
        if claim is not Claim.FREE and not sent:
            sent[request.region] = self._started(request)
        if gone and not sent:
            raise next(iter(gone.values()))
        left = [candidate for candidate in prepared.candidates if candidate.region not in {*sent, *gone}]
        choice, race = None, Race(tuple(attempt.job for attempt in sent.values()))
        # A region that takes none for now is asked again while the others wait, and once more when they have ended.
        while claim is Claim.FREE and left and race.open:
            before = len(sent)
            chosen, left = self._send_legs(prepared, left, sent, unseen, told=choice is not None)
            choice = chosen or choice
            race = self._follow(sent, self.policy.resend_for if left else None)
            if race.over and len(sent) == before:
                break
        stands = (race if choice else self._follow(sent)).stands
        attempt = Attempt(stands, fresh=any(attempt.fresh for attempt in sent.values()))
        return SubmissionResult(request=request, attempt=attempt, choice=choice, context=self.context)

    def _follow(self, sent: Mapping[str, Attempt], seconds: float | None = None) -> Race:
        """Return the race when it is over, or as it was sent after so many seconds."""
        jobs = tuple(attempt.job for attempt in sent.values())
        try:
            return follow(self.context, jobs[0], self.show.note, known=[job.name for job in jobs], timeout=seconds)
        except WaitTimeout:
            return Race(jobs)

    def _sender(self) -> Sender:
        return Sender(context=self.context, journal=self.journal, tell=self.show.note, policy=self.policy)

    def _earlier(self, candidates: Sequence[Candidate]) -> tuple[dict[str, Attempt], dict[str, JobGoneError], set[str]]:
        """Return the legs that an earlier call made and the errors of those that were deleted, by region, and the
        regions that do not answer."""
        sent, gone, unseen = dict[str, Attempt](), dict[str, JobGoneError](), set[str]()
        for candidate in candidates:
            try:
                attempt = self._sender().earlier(candidate.request)
            except JobGoneError as problem:
                gone[candidate.region] = problem
                continue
            except (AnswerUnknown, *TRANSIENT):
                unseen.add(candidate.region)
                continue
            if attempt and not attempt.job.race:
                raise OtherJobError(
                    f"request id {candidate.request.id} was used before, for a job that races for nothing",
                    why=f"{attempt.job.called} is in {attempt.job.region} alone",
                    fix="leave --race out to find it, or use another request id",
                )
            if attempt:
                sent[candidate.region] = attempt
        return sent, gone, unseen

    def _started(self, request: Request) -> Attempt:
        """Return the leg that has taken the claim, where neither the journal nor a list leads to one."""
        job = holder(self.context.vertex, self.context.connection.storage, request.mark, request.kind, request.id)
        if job is None:
            raise JobGoneError(
                f"request {request.id} was submitted before, and its job is gone",
                why=f"one has started, as {request.mark} tells, and was deleted since: nobody can tell how it ended",
            )
        return Attempt(same(request, job), fresh=False)

    def _send_legs(
        self,
        prepared: PreparedSubmission,
        left: Sequence[Candidate],
        sent: dict[str, Attempt],
        unseen: set[str],
        *,
        told: bool,
    ) -> tuple[Choice | None, list[Candidate]]:
        """Send the legs that are `left`, as far as their regions can have them, and add them to `sent`. In the regions
        that are `unseen` one may be there. Return those that are held, or whose regions took none for now, too. `told`:
        their choice and its costs are, and the inputs are checked."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
            checks = None if told else Checks.begin(self.context, prepared, [prepared.values], threads)
            try:
                choice = choose_legs(self.context, prepared, left, threads)
            except PolicyError:
                if not sent:
                    raise
                return None, []
            if choice.held and sent:
                return None, list(left)  # Those that wait go on, and it is looked at again.
            if choice.held:
                raise HeldError(choice.taken)
            candidates = [leg.candidate for leg in choice.legs]
            if checks:
                self.show.chosen(prepared, choice)
                checks.check(candidates, self.show.note)
                for costs in filter(None, (spending_of(prepared, choice), crossing(prepared, candidates, checks.most))):
                    confirm(self.context, self.show, costs)
        # What takes none just now is tried again after the others, which it does not keep waiting.
        queue, again = deque(sorted(candidates, key=lambda each: each.region in unseen)), set(unseen)
        problems: list[SlipwayError] = []
        unknown: list[AnswerUnknown] = []
        later: list[Candidate] = []
        # A person may have cancelled it, or a leg may have begun, while another was sent.
        while queue and (not sent or self._wanted(queue[0].request, sent)):
            candidate = queue.popleft()
            try:
                attempt = self._send_leg(candidate.request, again=candidate.region in again)
            except (CloudError, AnswerUnknown, JobGoneError) as problem:
                if isinstance(problem.__cause__, KeyboardInterrupt):
                    raise
                if isinstance(problem, CloudError) and problem.worth_again and candidate.region not in again:
                    queue.append(candidate)
                    again.add(candidate.region)
                    continue
                self.show.note(f"! {candidate.label}: {problem.what}: {problem.why}")
                if isinstance(problem, AnswerUnknown):
                    unknown.append(problem)
                elif candidate.region in unseen:
                    unknown.append(_not_known(candidate.request, problem))
                else:
                    problems.append(problem)
                    later += [candidate] if isinstance(problem, CloudError) and problem.worth_again else []
                continue
            sent[candidate.region] = attempt
            result = SubmissionResult(request=candidate.request, attempt=attempt, choice=choice, context=self.context)
            self.show.sent(result)
        if not sent:
            raise [*unknown, *problems][0]
        if self._wanted(candidates[0].request, sent) and unknown:
            raise unknown[0]  # Typed again, the command sends what is missing.
        return choice, later

    def _send_leg(self, request: Request, *, again: bool) -> Attempt:
        """Send a leg, or return the one that is there where it is tried `again`; else it is not waited for."""
        policy = self.policy if again else replace(self.policy, resend_for=0.0)
        sender = replace(self._sender(), policy=policy)
        return sender.begin(request, repeated=again) or sender.send(request)

    def _wanted(self, request: Request, sent: Mapping[str, Attempt]) -> bool:
        """Tell whether no leg has begun. Raises Cancelled where somebody has cancelled the race, after ending it."""
        claim = read_claim(self.context.connection.storage, request.mark)
        if claim is Claim.CANCELLED:
            self._end(sent)
            raise cancelled(request, sent=True)
        return claim is Claim.FREE

    def _end(self, sent: Mapping[str, Attempt]) -> None:
        names = [name for attempt in sent.values() for name in (attempt.job.name, *attempt.copies)]
        end(self.context, names, self.show.note)


def choose_legs(
    context: Context, prepared: PreparedSubmission, legs: Sequence[Candidate], threads: ThreadPoolExecutor
) -> Choice:
    """Choose the legs that their regions can have, each by its own region's quota. Raises PolicyError where there is
    none, and CloudError."""
    preflight = Preflight(context, legs, threads, prepared.template.name, all_at_once=True)
    judged = list(preflight.judge(legs))
    can = [leg for leg in judged if leg.verdict.outcome is not Outcome.NEVER]
    if not can:
        raise refusal(prepared.template.name, judged, [])
    return Choice(can[0], legs=tuple(can), hopeless=tuple(leg for leg in judged if leg not in can))


def _not_known(request: Request, problem: SlipwayError) -> AnswerUnknown:
    return AnswerUnknown(
        f"whether {request.body.get('displayName', 'the job')} waits in {request.region} is unknown",
        why=f"{problem.what}: {problem.why}",
        risk=f"looks again first; {request.when_twice}",
    )


def _require_claim(request: Request) -> None:
    if request.claim and request.runs_once:
        return
    raise ConfigError(
        f"{request.template} can't race",
        why="it has no launcher, which ends all jobs but the first before their code",
        fix="leave --race out, or have the launcher in its image (docs/own-image.md)",
    )
