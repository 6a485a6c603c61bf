"""One submission from its request to its job: a folder's code packed, preflight, choosing a candidate, sending, and
falling back while it waits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.cloud.storage import Location
from slipway.context import Context
from slipway.errors import AnswerUnknown
from slipway.jobs.claim import Claim, read_claim
from slipway.labels import capacity_type_label
from slipway.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest
from slipway.submission.choice import Choice, choose
from slipway.submission.fallback import FallbackDisplay, FallbackLoop, attempt_id
from slipway.submission.journal import SubmissionJournal
from slipway.submission.preflight import Preflight
from slipway.submission.request import Request
from slipway.submission.sender import Attempt, RetryPolicy, Sender


@dataclass(frozen=True)
class SubmissionResult:
    """`candidate` is what the job was sent by, None where the catalog does not list that any more. `request` is the
    attempt's. `choice` is None for a job that an earlier attempt made: nothing was chosen this time.
    """

    request: Request
    attempt: Attempt
    candidate: Candidate | None
    choice: Choice | None


class SubmissionDisplay(FallbackDisplay, Protocol):
    """Where a submission tells what it does."""

    def chosen(self, prepared: PreparedSubmission, choice: Choice) -> None: ...

    def sent(self, submitted: SubmissionResult) -> None: ...


@dataclass(frozen=True)
class Submitter:
    context: Context
    journal: SubmissionJournal
    show: SubmissionDisplay
    policy: RetryPolicy

    def submit(self, prepared: PreparedSubmission, request_id: str, *, repeated: bool) -> SubmissionResult:
        """Exactly one job. `repeated`: the id may have been used before.

        With a wait planned for its candidate it stays until the job starts, or moves it on. Raises ConfigError for an
        id that was used for something else, PolicyError when no candidate can run, AnswerUnknown, Cancelled for a job
        that began while it was being given up, and CloudError.
        """
        with self.journal.held(request_id):
            number, first = 0, 0
            while True:
                attempt = prepared.under(attempt_id(request_id, number))
                found = self._send(attempt, first, repeated)
                if found is not None:
                    submitted, claim = found
                    place = _place(attempt, submitted)
                    settled, moved = self._wait_or_fall_back(attempt, submitted, claim, place)
                    if not moved:
                        return settled
                    self._end_run(settled.attempt.job)
                    first = min(place + 1, len(attempt.candidates) - 1)
                number += 1

    def _send(self, prepared: PreparedSubmission, first: int, repeated: bool) -> tuple[SubmissionResult, Claim] | None:
        """The job of this attempt by one of the candidates from `first` on, or the one that was made before.

        None when it was given up before, and no list shows its job: one that showed up now would not run.
        """
        candidates = prepared.candidates[first:]
        sender = Sender(self.context, self.journal, self.show.note, self.policy)
        likely = next((candidate for candidate in candidates if candidate.offer.available), candidates[0])
        request = likely.request
        with ThreadPoolExecutor(8, thread_name_prefix="preflight") as threads:
            claimed = threads.submit(self._claim, prepared, request, repeated)
            beginning = threads.submit(sender.begin, request, repeated=repeated)
            try:
                preflight = Preflight(self.context, candidates, threads, prepared.template.name)
                earlier, claim = beginning.result(), claimed.result()
                if earlier:
                    sent_by = _candidate(prepared, earlier.job)
                    return self._shown(SubmissionResult(request, earlier, sent_by, None)), claim
                if claim is Claim.GIVEN_UP:
                    sender.withdraw(request)
                    return None
                choice = choose(prepared.template.name, preflight.judge(candidates), settle=first > 0)
                candidate = choice.taken.candidate
                if candidate is not likely:
                    request = candidate.request
                    sender.begin(request, repeated=False)
                self.show.chosen(prepared, choice)
                self._create_run(request)
            except BaseException:
                sender.withdraw(request)
                raise
        return self._shown(SubmissionResult(request, sender.send(request), candidate, choice)), claim

    def _create_run(self, request: Request) -> None:
        """Makes the run of an experiment that the job is to belong to. Raises CloudError."""
        if "experimentRun" in request.kind.spec_of(request.body):
            from slipway.submission.experiment_run import create_run

            create_run(self.context.connection.metadata(self.context.catalog.region), request)

    def _end_run(self, job: VertexJob) -> None:
        """A job that was given up ends its run, whose name nobody uses again."""
        if job.experiment_run:
            from slipway.submission.experiment_run import end_run

            if problem := end_run(self.context, replace(job, state="JOB_STATE_CANCELLED")):
                self.show.note(problem)

    def _shown(self, submitted: SubmissionResult) -> SubmissionResult:
        self.show.sent(submitted)
        return submitted

    def _claim(self, prepared: PreparedSubmission, request: Request, repeated: bool) -> Claim:
        """Who has the claim of an id that may have been used before.

        Where nothing can be given up, not being able to tell is no reason to stop.
        """
        if not repeated:
            return Claim.FREE
        try:
            return read_claim(self.context.connection.storage, request.mark(prepared.catalog.work_bucket))
        except CloudError:
            if prepared.moves:
                raise
            return Claim.FREE

    def _wait_or_fall_back(
        self, prepared: PreparedSubmission, submitted: SubmissionResult, claim: Claim, place: int
    ) -> tuple[SubmissionResult, bool]:
        """Stays with the job where it may be moved on, or was being moved; the second says that it was given up."""
        later, candidate = prepared.candidates[place + 1 :], submitted.candidate
        if candidate is None or not later or (candidate.wait is None and claim is not Claim.GIVEN_UP):
            return submitted, False
        loop = FallbackLoop(self.context, self.show, self.policy, submitted.request, candidate, later)
        attempt, moved = loop.run(submitted.attempt, claim)
        return replace(submitted, attempt=attempt), moved


def _candidate(prepared: PreparedSubmission, job: VertexJob) -> Candidate | None:
    """The candidate that an earlier job was sent by."""
    for candidate in prepared.candidates:
        cluster = prepared.catalog.clusters[candidate.offer.cluster].id if candidate.offer.cluster else ""
        if capacity_type_label(job.labels) == candidate.offer.capacity_type and cluster == job.persistent_resource_id:
            return candidate
    return None


def _place(prepared: PreparedSubmission, submitted: SubmissionResult) -> int:
    """The place of its candidate in the order; the last one for one that is not there."""
    if submitted.candidate is None:
        return len(prepared.candidates) - 1
    return prepared.candidates.index(submitted.candidate)


def with_code(
    context: Context, asked: SubmissionRequest, folder: Path, *, tell: Callable[[str], None], upload: bool = True
) -> SubmissionRequest:
    """`asked` with the folder's code packed in place of the template's; `tell` is told what was packed.

    Raises PolicyError where that is not allowed, and ConfigError.
    """
    from slipway.catalog.lookup import find_template
    from slipway.packages.packing import modules, pack
    from slipway.packages.working_tree import read

    catalog = context.catalog
    template = find_template(catalog, asked.template)
    modules(template)
    code = pack(catalog, template, read(folder), folder.resolve().name)
    state = f" @ {code.revision.short}" if code.revision.commit else ", never committed"
    size = len(code.package.content) / 1000
    tell(f"code {folder}{state}  {code.count} files, {size:,.0f} kB  →  {code.location}")
    if upload:
        _upload(context, code.location, code.package.content)
    overrides = replace(asked.overrides, package=str(code.location), labels={**asked.overrides.labels, **code.labels})
    return replace(asked, overrides=overrides)


def _upload(context: Context, location: Location, content: bytes) -> None:
    """The name is the content's hash: what is there already is the same, so a lost answer is simply asked again."""
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
    return SubmissionJournal.find(context.folder, context.environ, context.catalog.project, context.catalog.stack)


def deliver(
    context: Context,
    show: SubmissionDisplay,
    prepared: PreparedSubmission,
    request_id: str,
    *,
    repeated: bool,
    again: str,
) -> SubmissionResult:
    """Exactly one job, as `Submitter.submit` makes it and with what it raises. `again` is how to submit once more, in
    the words of whoever submits: a call or a command."""
    submitter = Submitter(context, journal_of(context), show, RetryPolicy(look_for=context.look_for))
    try:
        return submitter.submit(prepared, request_id, repeated=repeated)
    except AnswerUnknown as problem:
        problem.to_go_on(again)
        raise
