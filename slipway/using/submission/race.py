"""The sending of a race: a submission whose candidates are all sent at once, under one claim.

Each leg is recorded, sent and looked for as a single job is, by an entry of its own in the journal; between two tries
the claim is read, which ends the sending. After a kill the same command sends what is missing, unless a leg has begun
or somebody has cancelled it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NoReturn

from slipway.base.errors import AnswerUnknown, ConfigError, PolicyError, SlipwayError, WaitTimeout
from slipway.base.formatting import join
from slipway.google.failures import CloudError
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, bucket_of, read_claim
from slipway.using.jobs.claimant import JobGoneError, OtherJobError, holder
from slipway.using.jobs.follower import TRANSIENT, WATCHING
from slipway.using.jobs.race import Race, end, follow
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.checks import Checks
from slipway.using.submission.choice import Choice, refusal
from slipway.using.submission.confirming import confirm
from slipway.using.submission.costs import crossing, spending_of
from slipway.using.submission.delivery import RetryPolicy, SendState
from slipway.using.submission.hold import HeldError
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.race_legs import PendingLeg, next_leg
from slipway.using.submission.request import Request
from slipway.using.submission.same_request import same
from slipway.using.submission.sender import Attempt, Sender, cancelled
from slipway.using.submission.submission_result import SubmissionDisplay, SubmissionResult


@dataclass
class _Legs:
    """The legs of one call, by region."""

    sent: dict[str, Attempt] = field(default_factory=dict)
    #: The errors of legs that were deleted.
    gone: dict[str, JobGoneError] = field(default_factory=dict)
    #: The legs that may wait in their regions, and are not known to.
    lost: dict[str, PendingLeg] = field(default_factory=dict)

    def keep_lost(self, leg: PendingLeg) -> None:
        self.lost[leg.candidate.region] = leg


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
        legs = self._earlier(prepared.candidates) if repeated else _Legs()
        if legs.sent:  # It may have been sent from another machine, by another catalog.
            bucket = next(bucket_of(attempt.job, prepared.catalog) for attempt in legs.sent.values())
            prepared = prepared.under(prepared.request_id, bucket)
        request = prepared.candidates[0].request
        begun = repeated and self._begun(request, legs)
        choice, race = (None, None) if begun else self._send_until_decided(prepared, legs)
        stands = (race or self._follow(legs.sent)).stands
        self._end_lost(legs, stands.name)
        attempt = Attempt(stands, fresh=any(attempt.fresh for attempt in legs.sent.values()))
        return SubmissionResult(request=request, attempt=attempt, choice=choice, context=self.context)

    def _begun(self, request: Request, legs: _Legs) -> bool:
        """Tell whether a leg of an earlier call has begun, which is in `legs` then. Raises Cancelled, and JobGoneError
        where all legs were deleted."""
        claim = read_claim(self.context.connection.storage, request.mark)
        if claim is Claim.CANCELLED:
            self._end_cancelled(request, legs, sent=False)
        if claim is not Claim.FREE and not legs.sent:
            legs.sent[request.region] = self._started(request)
        if legs.gone and not legs.sent:
            raise next(iter(legs.gone.values()))
        return claim is not Claim.FREE

    def _send_until_decided(self, prepared: PreparedSubmission, legs: _Legs) -> tuple[Choice | None, Race | None]:
        """Send the legs that are missing, and return the choice of the first ones with the race when it is over; None
        for both where none was to be sent."""
        known = {*legs.sent, *legs.gone}
        left = [candidate for candidate in prepared.candidates if candidate.region not in known]
        choice, race = None, Race(tuple(attempt.job for attempt in legs.sent.values()))
        # A region that takes none for now is asked again while the others wait, and once more when they have ended.
        while left and race.open:
            before = len(legs.sent)
            chosen, left = self._send_legs(prepared, left, legs, told=choice is not None)
            choice = chosen or choice
            race = self._follow(legs.sent, self.policy.resend_for if left else None)
            if race.over and len(legs.sent) == before:
                break
        return choice, race if choice else None

    def _follow(self, sent: Mapping[str, Attempt], seconds: float | None = None) -> Race:
        """Return the race when it is over, or as it was sent after so many seconds."""
        jobs = tuple(attempt.job for attempt in sent.values())
        try:
            return follow(self.context, jobs[0], self.show.note, known=[job.name for job in jobs], timeout=seconds)
        except WaitTimeout:
            return Race(jobs)

    def _sender(self) -> Sender:
        """Return a sender that waits for no region, and prints nothing: the other legs go on meanwhile."""
        policy = replace(self.policy, resend_for=0.0, look_for=0.0)
        return Sender(
            context=self.context.with_policy(WATCHING), journal=self.journal, tell=lambda _: None, policy=policy
        )

    def _earlier(self, candidates: Sequence[Candidate]) -> _Legs:
        """Return the legs that an earlier call made; as lost where a region does not tell."""
        legs = _Legs()
        sender = Sender(context=self.context, journal=self.journal, tell=self.show.note, policy=self.policy)
        for candidate in candidates:
            try:
                attempt = sender.earlier(candidate.request)
            except JobGoneError as problem:
                legs.gone[candidate.region] = problem
                continue
            except (AnswerUnknown, *TRANSIENT):
                now = self.context.clock.monotonic()
                legs.keep_lost(PendingLeg(candidate, due=now, lost_at=now))
                continue
            if attempt and not attempt.job.race:
                raise OtherJobError(
                    f"request id {candidate.request.id} was used before, for a job that races for nothing",
                    why=f"{attempt.job.called} is in {attempt.job.region} alone",
                    fix=("leave out ", {"race": True}, " to find it, or use another request id"),
                )
            if attempt:
                legs.sent[candidate.region] = attempt
        return legs

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
        self, prepared: PreparedSubmission, left: Sequence[Candidate], legs: _Legs, *, told: bool
    ) -> tuple[Choice | None, list[Candidate]]:
        """Send the legs that are `left`, as far as their regions can have them, and add them to `legs`. Return those
        that are held, or whose regions took none for now, too. `told`: their choice and its costs are, and the inputs
        are checked."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
            checks = None if told else Checks.begin(self.context, prepared, [prepared.values], threads)
            try:
                choice = choose_legs(self.context, prepared, left, threads)
            except PolicyError:
                if not legs.sent:
                    raise
                return None, []
            if choice.held and legs.sent:
                return None, list(left)  # Those that wait go on, and it is looked at again.
            if choice.held:
                raise HeldError(choice.taken)
            candidates = [leg.candidate for leg in choice.legs]
            if checks:
                self.show.chosen(prepared, choice)
                checks.check(candidates, self.show.note)
                for costs in filter(None, (spending_of(prepared, choice), crossing(prepared, candidates, checks.most))):
                    confirm(self.context, self.show, costs)
        return choice, self._send_in_turn(candidates, legs, choice)

    def _send_in_turn(self, candidates: Sequence[Candidate], legs: _Legs, choice: Choice) -> list[Candidate]:
        """Try each leg when it is due, until all are sent or the claim is taken. Return those whose regions took none
        for now. Raises the errors of `_require_known`."""
        clock = self.context.clock
        pending = [leg for leg in map(self._pending, candidates) if leg.candidate.region not in legs.lost]
        pending += [legs.lost[each.region] for each in candidates if each.region in legs.lost]
        request, problems, later = candidates[0].request, list[SlipwayError](), list[Candidate]()
        while pending and self._wanted(request, legs):
            leg = next_leg(pending)
            if pause := leg.pause_before(clock.monotonic()):
                clock.sleep(pause)
                continue
            place = pending.index(leg)
            try:
                attempt = self._try(leg)
            except (CloudError, AnswerUnknown, JobGoneError) as problem:
                if isinstance(problem.__cause__, KeyboardInterrupt):
                    raise
                pending[place : place + 1] = self._after(leg, problem, legs, problems, later)
                continue
            if attempt is None:
                pending[place] = leg.after_empty_list(clock.monotonic(), self.policy)
                if not pending[place].lost:
                    legs.lost.pop(leg.candidate.region, None)
                continue
            del pending[place]
            legs.lost.pop(leg.candidate.region, None)
            legs.sent[leg.candidate.region] = attempt
            taken = SubmissionResult(
                request=leg.candidate.request, attempt=attempt, choice=choice, context=self.context
            )
            self.show.sent(taken)
        self._require_known(request, legs, problems)
        return later

    def _require_known(self, request: Request, legs: _Legs, problems: list[SlipwayError]) -> None:
        """Raise AnswerUnknown where the race is open and a leg may wait, else the first of `problems` where none
        was sent."""
        if not self._wanted(request, legs):
            if not legs.sent:  # The leg whose answer was lost has begun.
                started = self._started(request)
                legs.sent[started.job.region] = started
            return
        if legs.lost:  # Typed again, the command sends what is missing.
            raise _not_known(next(iter(legs.lost.values())), "its answer was lost")
        if not legs.sent:
            raise problems[0]

    def _pending(self, candidate: Candidate) -> PendingLeg:
        return PendingLeg(candidate, due=self.context.clock.monotonic())

    def _try(self, leg: PendingLeg) -> Attempt | None:
        """Send a leg, or look for one whose answer was lost; None where it is not listed."""
        request = leg.candidate.request
        if leg.lost:
            return self._sender().earlier(request)
        sender = self._sender()
        sender.begin(request, repeated=False)
        return sender.send(request)

    def _after(
        self,
        leg: PendingLeg,
        problem: CloudError | AnswerUnknown | JobGoneError,
        legs: _Legs,
        problems: list[SlipwayError],
        later: list[Candidate],
    ) -> list[PendingLeg]:
        """Return the leg as it is tried again after a `problem`, none where it is not; then record why."""
        now, candidate = self.context.clock.monotonic(), leg.candidate
        passes = isinstance(problem, CloudError) and problem.worth_again
        following: PendingLeg | None = None
        if leg.lost and (passes or isinstance(problem, AnswerUnknown)):
            following = leg.after_unread_list(now, self.policy)
        elif isinstance(problem, AnswerUnknown):
            following = leg.after_lost_answer(now, self.policy)
            legs.keep_lost(following)
        elif passes:
            following = leg.after_limit(now, self.policy)
        if following:
            if (leg.limited_at, leg.lost_at) != (following.limited_at, following.lost_at):
                self.show.note(f"{candidate.label}: {problem.what}: {problem.why}; tried again while the others wait")
            return [following]
        self.show.note(f"! {candidate.label}: {problem.what}: {problem.why}")
        problems.append(problem)
        later += [candidate] if passes and not leg.lost else []
        return []

    def _wanted(self, request: Request, legs: _Legs) -> bool:
        """Tell whether no leg has begun. Raises Cancelled where somebody has cancelled the race, after ending it."""
        if not (legs.sent or legs.lost):
            return True
        claim = read_claim(self.context.connection.storage, request.mark)
        if claim is Claim.CANCELLED:
            self._end_cancelled(request, legs, sent=True)
        return claim is Claim.FREE

    def _end_cancelled(self, request: Request, legs: _Legs, *, sent: bool) -> NoReturn:
        """End all legs of a cancelled race. Raises Cancelled, and AnswerUnknown where one may still wait."""
        names = [name for attempt in legs.sent.values() for name in (attempt.job.name, *attempt.copies)]
        try:
            end(self.context, names, self.show.note)
        finally:
            self._end_lost(legs)
        raise cancelled(request, sent=sent)

    def _sent_from_here(self, leg: PendingLeg) -> bool:
        entry = self.journal.read(leg.candidate.request.entry)
        return entry is not None and entry.state is not SendState.REFUSED

    def _end_lost(self, legs: _Legs, winner: str = "") -> None:
        """Cancel the legs whose answers were lost as soon as lists show them, but for the `winner`: they would wait,
        and be billed once they have machines. Raises AnswerUnknown where one may still wait."""
        clock, unknown = self.context.clock, list[AnswerUnknown]()
        pending = [leg for leg in legs.lost.values() if self._sent_from_here(leg)]
        if pending:
            places = join(leg.candidate.region for leg in pending)
            self.show.note(f"looking for what was sent to {places}, whose answer was lost, to cancel it")
        while pending:
            leg = next_leg(pending)
            pending.remove(leg)
            clock.sleep(max(0.0, leg.due - clock.monotonic()))
            try:
                following = self._end_lost_leg(leg, winner)
            except AnswerUnknown as problem:
                unknown.append(problem)
                continue
            if following and following.lost:
                pending.append(following)
        if unknown:
            raise unknown[0]

    def _end_lost_leg(self, leg: PendingLeg, winner: str) -> PendingLeg | None:
        """Look once for a leg whose answer was lost, and cancel it. Return the leg as it is tried again, None if that
        is not necessary. Raises AnswerUnknown where it is given up."""
        clock, not_ended = self.context.clock, _not_known
        try:
            attempt = self._sender().earlier(leg.candidate.request)
            if attempt is None:
                return leg.after_empty_list(clock.monotonic(), self.policy)
            not_ended = _not_cancelled
            end(self.context, sorted({attempt.job.name, *attempt.copies} - {winner}), self.show.note)
        except JobGoneError:
            return None
        except (AnswerUnknown, *TRANSIENT) as problem:
            following = leg.after_unread_list(clock.monotonic(), self.policy)
            if following is None:
                raise not_ended(leg, problem.why) from problem
            return following
        return None


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


def _not_known(leg: PendingLeg, why: str) -> AnswerUnknown:
    request = leg.candidate.request
    return AnswerUnknown(
        f"{request.body.get('displayName', 'the job')} may wait in {request.region} and is not listed there",
        why=why,
        risk=f"looks again, and cancels it once another region has won; {request.when_twice}",
    )


def _not_cancelled(leg: PendingLeg, why: str) -> AnswerUnknown:
    request = leg.candidate.request
    return AnswerUnknown(
        f"{request.body.get('displayName', 'the job')} waits in {request.region} and could not be cancelled",
        why=why,
        risk="cancels it, and starts nothing else",
    )


def _require_claim(request: Request) -> None:
    if request.claim and request.runs_once:
        return
    raise ConfigError(
        f"{request.template} can't race",
        why="it has no launcher, which ends all jobs but the first before their code",
        fix=("leave out ", {"race": True}, ", or have the launcher in its image (docs/own-image.md)"),
    )
