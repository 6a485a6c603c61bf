"""A submission sent from the terminal, and what to type where it ends early."""

from __future__ import annotations

from itertools import count, takewhile

from slipway.base.errors import AnswerUnknown, Cancelled, SlipwayError
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.arguments import SubmitArguments
from slipway.front.cli.terminal.submission import TerminalDisplay
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.jobs.claimant import JobGoneError, OtherJobError
from slipway.using.submission.candidate import likely
from slipway.using.submission.delivery import RetryPolicy, SendState
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.request import attempt_id, new_request_id
from slipway.using.submission.sender import Attempt, Sender
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import deliver, journal_of, under


def send(
    context: Context, typed: SubmitArguments, prepared: PreparedSubmission, request_id: str | None, *, json: bool
) -> tuple[SubmissionResult, str]:
    """Return the job, and the submission's request id, by which it goes on after a kill. Raises the errors of
    `Submitter.submit`, and Detached on Ctrl-C where a sent job waits and would be moved on."""
    id_ = request_id or new_request_id()
    again = typed.again(id_)
    terminal = TerminalDisplay(context, json=json, again=again, yes=typed.yes)
    repeated = request_id is not None
    if not prepared.moves:
        return deliver(context, terminal, prepared, id_, repeated=repeated, again=again), id_
    journal = journal_of(context)
    resumed = repeated and journal.read(id_) is not None
    try:
        submitted = deliver(context, terminal, prepared, id_, repeated=repeated, again=again)
    except KeyboardInterrupt:
        if not (terminal.any_sent or resumed):
            raise
        from slipway.front.cli.terminal.watching import Detached

        stays = "the first to have its machines runs it" if prepared.races else "nothing moves it on"
        raise Detached(
            f"stopped waiting; what was sent stays where it is, and {stays}", fix=f"to go on: {again}"
        ) from None
    except JobGoneError as problem:
        _tell_what_goes_on(context, journal, id_, problem)
        raise
    except (AnswerUnknown, Cancelled, OtherJobError):  # Each says itself how to go on.
        raise
    except SlipwayError as problem:
        if terminal.any_sent or resumed:
            # The same command without the id would send a second job beside one that may still wait.
            ways = [problem.fix, f"to go on: {again}"]
            if _withdrawn(journal, id_):
                ways.append(f"to begin with the first capacity type again: {typed.again(None)}")
            problem.fix = "\n".join(filter(None, ways))
        raise
    if submitted.attempt.job.ended:  # It was waited for, and may have ended meanwhile.
        from slipway.using.submission.ending import require_success
        from slipway.using.submission.experiment_run import end_run

        if kept := end_run(context, submitted.attempt.job):
            screen.note(kept)
        require_success(context, submitted.attempt.job)
    return submitted, id_


def _withdrawn(journal: SubmissionJournal, request_id: str) -> bool:
    """Tell whether every sent job has been given up, and the next one was refused. After any other trouble a job may
    still wait, and another id would send a second one."""
    last, number = None, 1  # Attempts count from 0: each later one was begun after its predecessor was given up.
    while entry := journal.read(attempt_id(request_id, number)):
        last, number = entry, number + 1
    return last is not None and last.state is SendState.REFUSED


def _tell_what_goes_on(context: Context, journal: SubmissionJournal, request_id: str, problem: SlipwayError) -> None:
    """Add to `problem` the unfinished jobs of the submission: another request id would send a run beside them."""
    from slipway.using.submission.lookup import going_on

    try:
        unfinished = going_on(context, journal, request_id)
    except SlipwayError as unknown:
        problem.why += f"\nwhether another job of it goes on is not known: {unknown.why or unknown.what}"
        problem.fix = "try again in a minute, or see: slipway jobs list"
        return
    if not unfinished:
        return
    problem.why += f"\n{join(job.typed for job in unfinished)} {'has' if len(unfinished) == 1 else 'have'} not ended"
    cancel = "\n".join(f"slipway jobs cancel {job.typed}" for job in unfinished)
    problem.fix = (
        f"to keep it:  slipway jobs wait {unfinished[-1].typed}\n"
        f"else cancel it, and once it has ended submit it by another request id:\n{cancel}"
    )


def last_sent(context: Context, prepared: PreparedSubmission, id_: str) -> VertexJob | None:
    """Return the job of the last attempt of a submission; None where none is known. Raises the errors of
    `Sender.sent_before`."""
    journal = journal_of(context)
    sender = Sender(context, journal, screen.note, RetryPolicy())

    def attempt(number: int) -> Attempt | None:
        return sender.sent_before(likely(under(journal, prepared, attempt_id(id_, number)).candidates).request)

    attempts = list(takewhile(bool, map(attempt, count())))
    return attempts[-1].job if attempts and attempts[-1] else None
