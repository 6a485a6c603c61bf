"""A submission from its request to its job: packing a folder's code, preflight, choosing a candidate, sending, and
falling back while it waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from slipway.base.errors import AnswerUnknown, ConfigError
from slipway.base.formatting import counted, join
from slipway.google.failures import CloudError, Conflict, Denied, NotFound, Refused
from slipway.google.jobs import CANCELLED, VertexJob
from slipway.google.storage import Location
from slipway.model.labels import AGENT_LABEL, CAPACITY_TYPE_LABEL, label_value
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, bucket_of, read_claim
from slipway.using.jobs.claimant import JobGoneError, OtherJobError
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate, likely
from slipway.using.submission.checks import Checks
from slipway.using.submission.choice import Choice, JudgedCandidate, about_replaced, replaced
from slipway.using.submission.confirming import confirm
from slipway.using.submission.costs import crossing, possible, spending, spending_of, unplanned_departure
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.experiment_run import create_run, end_run, prepare_experiment
from slipway.using.submission.hold import HeldError, Hold
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.request import Request, attempt_id
from slipway.using.submission.sender import Attempt, Sender, cancelled
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionDisplay, SubmissionResult

if TYPE_CHECKING:
    from slipway.authoring.packages.working_tree import WorkingTree

COMMAND = "command"
"""The parameter with the command of `slipway run`."""
Planned = TypeVar("Planned")
_ANY_PACKAGE = "gs://any/code.tar.gz"
"""The code of a request that is only checked."""


@dataclass(frozen=True)
class Submitter:
    context: Context
    journal: SubmissionJournal
    show: SubmissionDisplay
    policy: RetryPolicy

    def submit(self, prepared: PreparedSubmission, request_id: str, *, repeated: bool) -> SubmissionResult:
        """Make exactly one job. `repeated`: the id may have been used before.

        With a wait planned for its candidate, the call lasts until the job starts, or moves it on. Raises ConfigError
        for an id that was used for another request, JobGoneError for an id whose job was deleted since, PolicyError
        when no candidate can run or nobody confirms the cost, AnswerUnknown, Cancelled for a job that began while it
        was being given up, and CloudError.
        """
        with self.journal.held(request_id):
            submitter, first, number, hold = self, 0, 0, Hold(self.show, self.policy)
            while True:
                attempt = under(self.journal, prepared, attempt_id(request_id, number))
                try:
                    if prepared.races:
                        return submitter._race(attempt, repeated)
                    delivered = submitter._send(attempt, first, repeated, hold.overdue, first_attempt=number == 0)
                except HeldError as held:
                    anew = hold.wait(submitter.context, attempt, first, held.judged)
                    submitter, prepared, first = replace(self, context=anew.context), anew.prepared, anew.first
                    continue
                number += 1
                if delivered is not None:
                    submitted, place, claim = delivered
                    self.show.sent(submitted)
                    following = attempt_id(request_id, number)
                    candidate = hold.left(attempt.candidates[place], self.context.clock.monotonic())
                    result, later = submitter._wait_or_fall_back(attempt, submitted, candidate, place, claim, following)
                    if later is None:
                        return result
                    job = replace(result.attempt.job, state=CANCELLED)
                    if job.experiment_run and (problem := end_run(self.context, job)):
                        self.show.note(problem)
                    submitter, prepared, first = replace(self, context=later.context), later.prepared, later.first

    def _race(self, prepared: PreparedSubmission, repeated: bool) -> SubmissionResult:
        from slipway.using.submission.race import RaceSender  # Most submissions do without its import.

        return RaceSender(self.context, self.journal, self.show, self.policy).send(prepared, repeated=repeated)

    def _send(
        self, prepared: PreparedSubmission, first: int, repeated: bool, overdue: Collection[str], *, first_attempt: bool
    ) -> tuple[SubmissionResult, int, Claim] | None:
        """Return the job of this attempt, by a candidate from `first` on or made before, the place of its candidate,
        and the holder of its claim. `Checks` are for the `first_attempt` of a submission: one that has given up its
        place in a queue moves on.

        None for an attempt that was given up before and whose job is deleted or not listed: a job that showed up now
        would not run. Raises HeldError where nothing may be sent now.
        """
        candidates = prepared.candidates[first:]
        sender = Sender(context=self.context, journal=self.journal, tell=self.show.note, policy=self.policy)
        first_choice = likely(candidates)
        request = first_choice.request
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
            claimed = threads.submit(self._claim, prepared, request, repeated)
            beginning = threads.submit(sender.begin, request, repeated=repeated)
            try:
                checks = Checks.begin(self.context, prepared, [prepared.values], threads) if first_attempt else None
                preflight = Preflight(self.context, candidates, threads, prepared.template.name)
                earlier, gone = None, None
                try:
                    earlier = beginning.result()
                except JobGoneError as problem:
                    gone = problem
                bucket = bucket_of(earlier.job, self.context.catalog) if earlier else ""
                if bucket not in ("", request.bucket):  # It was sent from another machine, by another catalog.
                    request = request.claimed_in(bucket)
                    claimed = threads.submit(self._claim, prepared, request, repeated)
                try:
                    claim = claimed.result()
                except CloudError:
                    if prepared.moves or not (earlier or gone):
                        raise
                    claim = Claim.FREE  # Nothing is sent, and nothing given up.
                if not earlier and claim is Claim.STARTED:
                    earlier = sender.started(request)
                if not earlier and claim is Claim.SENT and request.claim:
                    raise sender.claimed_by(request)
                if earlier:
                    if earlier.job.race:
                        raise raced_before(request, earlier.job)
                    if claim is Claim.CANCELLED and not earlier.job.ended:
                        sender.require_wanted(request, earlier)
                    sender.note_accepted(request, earlier.job)
                    place = place_of(prepared, earlier.job)
                    sent_by, catalog = prepared.candidates[place], prepared.catalog
                    if sent_by in candidates and replaced(catalog, earlier.job, sent_by):
                        with suppress(CloudError):
                            (there,) = preflight.judge([sent_by])
                            self.show.note(about_replaced(catalog, earlier.job, there))
                    found = replace(earlier, given_up=claim is Claim.GIVEN_UP)
                    result = SubmissionResult(request=request, attempt=found, choice=None, context=self.context)
                    return result, place, claim
                if gone and not (claim is Claim.GIVEN_UP and request.claim):
                    raise gone
                if claim is Claim.CANCELLED:
                    raise cancelled(request)
                if claim is Claim.GIVEN_UP:
                    sender.withdraw(request)
                    return None
                choice = preflight.choice(prepared, candidates, may_wait=first > 0, overdue=overdue)
                if choice.held:
                    raise HeldError(choice.taken)
                candidate = choice.taken.candidate
                if candidate is not first_choice:
                    request = candidate.request
                    sender.begin(request, repeated=False)
                self.show.chosen(prepared, choice)
                if checks:
                    checks.check([candidate], self.show.note)
                self._confirm_costs(prepared, choice, first_attempt=first_attempt)
                if checks and (costs := crossing(prepared, possible(prepared, choice), checks.most)):
                    confirm(self.context, self.show, costs)
                experiment = threads.submit(prepare_experiment, self.context, request)
                create_run(self.context, request, experiment.result)
                claimed_now = sender.claim(request)
                if claimed_now is Claim.GIVEN_UP:
                    sender.withdraw(request)
                    return None
                if isinstance(claimed_now, Attempt):
                    result = SubmissionResult(request=request, attempt=claimed_now, choice=None, context=self.context)
                    return result, prepared.candidates.index(candidate), claim
                if not first_attempt:
                    sender.require_wanted(request)
            except BaseException:
                sender.withdraw(request)
                raise
        try:
            attempt = sender.send(request)
        except CloudError as problem:
            if isinstance(problem, Refused | Conflict | NotFound) and problem.fix == problem.usual:
                problem.fix = way_on(problem, choice.taken) or problem.fix
            raise
        sender.note_accepted(request, attempt.job)
        if repeated or not first_attempt:
            # A cancel that came after the last look has not seen the job.
            try:
                sender.require_wanted(request, attempt)
            except Denied:
                pass
            except CloudError as problem:
                self.show.note(f"! not known whether {attempt.job.called} was cancelled meanwhile: {problem.message}")
        sent = SubmissionResult(request=request, attempt=attempt, choice=choice, context=self.context)
        return sent, prepared.candidates.index(candidate), claim

    def _confirm_costs(self, prepared: PreparedSubmission, choice: Choice, *, first_attempt: bool) -> None:
        """Have costs above the stack's limit confirmed, and ask about a pool that is left for billed machines."""
        if costs := spending_of(prepared, choice):
            confirm(self.context, self.show, costs)
        elif first_attempt and (departure := unplanned_departure(prepared, choice)):
            self.show.leaves_pool(departure)

    def _claim(self, prepared: PreparedSubmission, request: Request, repeated: bool) -> Claim:
        """Return the holder of the claim of an id that may have been used before.

        Where nothing can be given up, a caller who may not read claims can submit all the same. A passing fault does
        not make the claim free: a job sent under a taken claim ends well without having run.
        """
        if not repeated:
            return Claim.FREE
        try:
            return read_claim(self.context.connection.storage, request.mark)
        except Denied:
            if prepared.moves:
                raise
            return Claim.FREE

    def _wait_or_fall_back(
        self,
        prepared: PreparedSubmission,
        submitted: SubmissionResult,
        candidate: Candidate,
        place: int,
        claim: Claim,
        following: str,
    ) -> tuple[SubmissionResult, LaterOffers | None]:
        """Stay with a job that may fall back, or was about to; return the later offers after a job given up.
        `candidate`: the one at `place`, with the wait that is left of it; `following`: the request id of the next
        attempt."""
        later = LaterOffers.after(self.context, prepared, place)
        if claim is not Claim.GIVEN_UP and (not later.candidates or candidate.wait is None):
            return submitted, None
        resumed = submitted.choice is None and not submitted.attempt.job.start_time
        # The sender may have been asked to confirm less.
        if resumed and (costs := spending(prepared, later.candidates)):
            confirm(self.context, self.show, costs)
        from slipway.using.submission.fallback import FallbackLoop  # Most submissions do without its import.

        loop = FallbackLoop(
            context=self.context,
            show=self.show,
            policy=self.policy,
            request=submitted.request,
            candidate=candidate,
            later=later,
            following=following,
        )
        attempt, given_up_for = loop.run(submitted.attempt, claim)
        return replace(submitted, attempt=attempt), given_up_for


def under(journal: SubmissionJournal, prepared: PreparedSubmission, request_id: str) -> PreparedSubmission:
    """Return the submission under a request id, with its claim where the request was sent with first."""
    named = prepared.under(request_id)
    ids = [candidate.request.entry for candidate in named.candidates] if prepared.races else [request_id]
    asked = next((entry.asked for entry in map(journal.read, ids) if entry), None)
    return prepared.under(request_id, bucket_of(asked, prepared.catalog)) if asked else named


def raced_before(request: Request, job: VertexJob) -> OtherJobError:
    return OtherJobError(
        f"request id {request.id} was used before, for a race in {join(job.race)}",
        why=f"{job.called} runs in the first of them that has its machines",
        fix=({"race": tuple(job.race)}, f" finds it, and so does slipway jobs wait {job.typed}"),
    )


def way_on(problem: CloudError, taken: JudgedCandidate) -> str:
    """Return what passes by itself of a refusal that names no way on; empty where nothing is known to. A cluster that
    is being made or rebooted is tried all the same, as no document says that it takes no jobs."""
    cluster = taken.candidate.offer.cluster
    if not problem.not_accepted or not cluster or taken.verdict.outcome is not Outcome.WAITS:
        return ""
    return f"wait until cluster {cluster} is RUNNING (slipway pools), then submit it again"


def place_of(prepared: PreparedSubmission, job: VertexJob) -> int:
    """Return the place of the candidate of an earlier job, or of a candidate of its capacity type and shape where its
    cluster was replaced since; the last place for a job of no candidate that the template still has."""
    type_, clusters = job.labels.get(CAPACITY_TYPE_LABEL, ""), prepared.catalog.clusters
    offers = [candidate.offer for candidate in prepared.candidates]
    places = [
        place
        for place, offer in enumerate(offers)
        if offer.capacity_type == type_ and offer.fits_shape(job.shape) and offer.region in ("", job.region)
    ]
    for place in places:
        offer, cluster = offers[place], clusters.get(offers[place].cluster)
        own = not job.persistent_resource_id and (offer.region or prepared.catalog.region) == job.region
        if cluster.id == job.persistent_resource_id if cluster else own:
            return place
    return places[0] if places else len(offers) - 1


def with_code(
    context: Context,
    asked: SubmissionRequest,
    folder: str | os.PathLike[str] | None,
    plan: Callable[[SubmissionRequest], Planned],
    *,
    tell: Callable[[str], None],
    upload: bool = True,
    swept: Mapping[str, Collection[str | None]] = MappingProxyType({}),
    tree: WorkingTree | None = None,
) -> Planned:
    """Return the plan of `asked` with the code of a folder, or of what one is made of, packed in place of the
    template's, if any. It is uploaded once it is planned, so nothing is written for a submission with a mistake; `tell`
    is told what was packed.
    `swept` has the values of each parameter that points of a sweep give, None for the other points; `tree` has the
    folder's files where they are not on this disk.

    Raises PolicyError where that is not allowed, ConfigError, and the errors of `plan`.
    """
    if context.agent:
        labels = {**asked.overrides.labels, AGENT_LABEL: label_value(context.agent)}
        asked = replace(asked, overrides=replace(asked.overrides, labels=labels))
    if folder is None:
        _check_without_folder(context, asked, tell)
        return plan(asked)
    from slipway.authoring.packages.code_folder import CodeFolder, code_folder
    from slipway.authoring.packages.packing import modules, pack, runs_any_folder
    from slipway.google.catalog.lookup import find_template
    from slipway.using.submission.code_check import check_commands, image_needs

    catalog = context.catalog
    template = find_template(catalog, asked.template)
    typed, of_image = os.fsdecode(folder), modules(template) == ("",)
    there = nullcontext(CodeFolder(Path(typed), Path(typed).name))
    with there if tree else code_folder(typed, context.connection.storage, tell) as source:
        tree = tree or source.tree(tell)
        notes: list[str] = []
        script = ""
        if runs_any_folder(template):
            try:
                script = check_commands(template, asked, source, tree, swept, notes.append)
            except ConfigError:
                # A mistyped parameter may be why it is another command than the one that was meant.
                plan(replace(asked, overrides=replace(asked.overrides, package=_ANY_PACKAGE, of_folder=True)))
                raise
    code = pack(catalog, template, tree, source.name, script)
    labels = {**asked.overrides.labels, **code.labels}
    overrides = replace(
        asked.overrides,
        package=str(code.location),
        code=code.digest,
        of_folder=True,
        requirements=code.package.requirements,
        labels=labels,
    )
    planned = plan(replace(asked, overrides=overrides))
    for line in notes:
        tell(line)
    uncommitted = "" if source.source else ", never committed"
    state = f" @ {code.revision.short}" if code.revision.commit else uncommitted
    launcher = "" if of_image else " with slipway's launcher"
    size = f"{len(code.package.content) / 1000:,.0f} kB{launcher}"
    tell(f"code {source.shown}{state}  {counted(code.count, 'file')}, {size}  →  {code.location}")
    if of_image:
        for line in image_needs(template, tree.files):
            tell(line)
    if upload:
        _upload(context, code.location, code.package.content)
    return planned


def _check_without_folder(context: Context, asked: SubmissionRequest, tell: Callable[[str], None]) -> None:
    """Tell what a command of the image lacks, as check_program does."""
    command, template = asked.params.get(COMMAND), context.catalog.templates.get(asked.template)
    if isinstance(command, str) and template:
        from slipway.using.submission.code_check import check_program  # Most submissions do without its import.

        check_program(template, asked, command, tell)


def _upload(context: Context, location: Location, content: bytes) -> None:
    """Upload content that is named by its hash, so that a lost answer is repeated."""
    storage = context.connection.storage
    for attempt in range(3):
        try:
            storage.create(location, content, "application/gzip")
            return
        except CloudError as problem:
            if attempt == 2 or (problem.status and problem.status < 500 and problem.status != 429):
                raise
            context.clock.sleep(2.0**attempt)


def journal_of(context: Context) -> SubmissionJournal:
    return SubmissionJournal.find(
        context.folder, context.environ, context.catalog.project, context.catalog.identity.label
    )


def deliver(
    context: Context,
    show: SubmissionDisplay,
    prepared: PreparedSubmission,
    request_id: str,
    *,
    repeated: bool,
    again: str,
) -> SubmissionResult:
    """Make exactly one job, as `Submitter.submit` does. `again`: how to submit once more, as a call or a command."""
    policy = RetryPolicy(look_for=context.look_for, no_contact=context.no_contact)
    submitter = Submitter(context=context, journal=journal_of(context), show=show, policy=policy)
    try:
        return submitter.submit(prepared, request_id, repeated=repeated)
    except AnswerUnknown as problem:
        problem.to_go_on(again)
        raise
