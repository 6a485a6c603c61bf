"""Sending one submission from the terminal, resuming one that was interrupted while it waited, and dry runs."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cli.submission_display import TerminalDisplay
from slipway.cloud.failures import CloudError
from slipway.errors import AnswerUnknown, SlipwayError
from slipway.submission.candidates import Candidate, PreparedSubmission
from slipway.submission.choice import choose, passed_over
from slipway.submission.journal import SubmissionJournal
from slipway.submission.preflight import Preflight
from slipway.submission.request import new_request_id
from slipway.submission.sender import RetryPolicy
from slipway.submission.submitter import SubmissionDisplay, SubmissionResult, Submitter

if TYPE_CHECKING:
    from slipway.cli.submit_arguments import SubmitArguments


def send(
    context: Context, typed: SubmitArguments, prepared: PreparedSubmission, request_id: str | None, *, json: bool
) -> tuple[SubmissionResult, str]:
    """The job, and the submission's request id. Raises what `Submitter.submit` raises, Detached on Ctrl-C."""
    catalog = context.catalog
    journal = SubmissionJournal.find(context.folder, context.environ, catalog.project, catalog.stack)
    if not prepared.moves:
        id_ = request_id or new_request_id()
        terminal = TerminalDisplay(context, json=json, again=typed.again(id_))
        return deliver(context, terminal, typed, prepared, journal, id_, repeated=request_id is not None), id_
    return _send_and_wait(context, typed, prepared, journal, request_id, json=json)


def _send_and_wait(
    context: Context,
    typed: SubmitArguments,
    prepared: PreparedSubmission,
    journal: SubmissionJournal,
    request_id: str | None,
    *,
    json: bool,
) -> tuple[SubmissionResult, str]:
    """A submission that may wait for long: recorded, so that the same command goes on with it after a kill."""
    from slipway.submission.journal import InterruptedSubmissions

    ledger = InterruptedSubmissions(journal.folder)
    earlier = (
        None if request_id else next((one for one in ledger.find(typed.words) if journal.free(one.request_id)), None)
    )
    if earlier:
        screen.note(f"goes on with the same submission of {earlier.when}, request id {earlier.request_id}")
    id_ = request_id or (earlier.request_id if earlier else new_request_id())
    ledger.begin(typed.words, id_, earlier.when if earlier else context.now.isoformat(timespec="seconds"))
    terminal = TerminalDisplay(context, json=json, again=typed.again(id_))
    try:
        submitted = deliver(context, terminal, typed, prepared, journal, id_, repeated=bool(request_id or earlier))
    except KeyboardInterrupt:
        from slipway.cli.watching import Detached

        raise Detached(
            "stopped waiting; what was sent stays where it is, and nothing moves it on",
            fix=f"the same command goes on, or: {typed.again(id_)}",
        ) from None
    except SlipwayError as problem:
        if problem.exit_code in (2, 5) and not terminal.any_sent:
            ledger.end(id_)
        raise
    ledger.end(id_)
    if earlier and not submitted.attempt.fresh:
        screen.note(screen.faint("  to run it once more, give the command again", sys.stderr))
    if submitted.attempt.job.ended:
        from slipway.cli.ending import end_run_of, ending_of

        if kept := end_run_of(context, submitted.attempt.job):
            screen.note(kept)
        ending = ending_of(context, submitted.attempt.job)
        if ending:  # While it was waited for, and there is nothing left that could run.
            raise ending
    return submitted, id_


def deliver(
    context: Context,
    show: SubmissionDisplay,
    typed: SubmitArguments,
    prepared: PreparedSubmission,
    journal: SubmissionJournal,
    id_: str,
    *,
    repeated: bool,
) -> SubmissionResult:
    """Exactly one job, as `Submitter.submit` makes it and with what it raises."""
    policy = RetryPolicy(look_for=context.look_for)
    submitter = Submitter(context.connection, context.hurried, journal, show, policy, context.clock)
    try:
        return submitter.submit(prepared, id_, repeated=repeated)
    except AnswerUnknown as problem:
        problem.to_go_on(typed.again(id_))
        raise


def forecast(context: Context, prepared: PreparedSubmission) -> Candidate | None:
    """On stderr, so that stdout holds the request alone. The candidate that would be taken, None where that is not
    known.

    Raises what sending would raise before it sends.
    """
    with ThreadPoolExecutor(8, thread_name_prefix="preflight") as threads:
        preflight = Preflight(
            context.hurried, context.catalog, prepared.candidates, context.now, threads, prepared.template.name
        )
        try:
            choice = choose(prepared.template.name, preflight.judge(prepared.candidates))
        except CloudError as problem:
            screen.note(f"not sent; whether it would start is not known: {problem.message}")
            return None
    label, text = choice.taken.candidate.label, choice.taken.verdict.text
    screen.note(f"not sent; {text if text.startswith(f'{label}:') else f'{label}: {text}'}")
    for one in choice.passed:
        screen.note(f"  {passed_over(one)}")
    return choice.taken.candidate
