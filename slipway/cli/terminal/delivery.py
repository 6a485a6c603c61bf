"""A submission sent from the terminal, remembered while it waits, so that the same command resumes it."""

from __future__ import annotations

from functools import partial

from slipway.cli.terminal import screen
from slipway.cli.terminal.arguments import SubmitArguments
from slipway.cli.terminal.submission import TerminalDisplay
from slipway.context import Context
from slipway.errors import Cancelled, ConfigError, SlipwayError
from slipway.formatting import join
from slipway.jobs.claim import JobGoneError, OtherJobError
from slipway.submission.candidates import PreparedSubmission
from slipway.submission.journal import EntryState, InterruptedSubmissions, SubmissionJournal
from slipway.submission.request import attempt_id, new_request_id
from slipway.submission.submitter import SubmissionResult, deliver, journal_of


def send(
    context: Context, typed: SubmitArguments, prepared: PreparedSubmission, request_id: str | None, *, json: bool
) -> tuple[SubmissionResult, str]:
    """Return the job, and the submission's request id. A submission that may wait for long is recorded, so that the
    same command resumes it after a kill. Raises the errors of `Submitter.submit`, Detached on Ctrl-C."""
    journal = journal_of(context)
    ledger = InterruptedSubmissions(journal.folder)
    earlier = None
    if prepared.moves and not request_id:
        earlier = next((one for one in ledger.find(typed.words) if journal.free(one.request_id)), None)
    id_ = request_id or (earlier.request_id if earlier else new_request_id())
    again = typed.again(id_)
    terminal = TerminalDisplay(context, json=json, again=again, yes=typed.yes)
    deliver_it = partial(deliver, context, terminal, prepared, id_, repeated=bool(request_id or earlier), again=again)
    if not prepared.moves:
        return deliver_it(), id_
    # An earlier job may still wait, whatever goes wrong now: without the record, the same command would send a second
    # job.
    resumed = ledger.has(id_)
    if earlier:
        screen.note(f"resumes the submission of {earlier.when}, request id {earlier.request_id}")
    if not resumed:  # An id may be given with other words: those that it began with resume it.
        ledger.begin(typed.words, id_, context.now.isoformat(timespec="seconds"))
    try:
        submitted = deliver_it()
    except KeyboardInterrupt:
        if not terminal.any_sent and not resumed:
            ledger.end(id_)  # Nothing was sent that the same command could resume.
            raise
        from slipway.cli.terminal.watching import Detached

        raise Detached(
            "stopped waiting; what was sent stays where it is, and nothing moves it on",
            fix=f"the same command goes on, or: {again}",
        ) from None
    except OtherJobError as problem:
        if not resumed:
            ledger.end(id_)
        if not earlier:
            raise
        what = f"this command has sent {problem.name}, and would be another job now: nothing was sent"
        ended = f"that one has ended (slipway jobs show {problem.name}): give the command again to send it as it is now"
        other = ConfigError(what, why=problem.why, fix=ended)
        _tell_what_goes_on(context, journal, ledger, id_, other, "give the command again")
        raise other from problem
    except Cancelled:
        ledger.end(id_)  # No job of it can run any more: the same command's next one is no second run.
        raise
    except JobGoneError as problem:
        if earlier:
            problem.fix = "give the command again to run it once more"
        once_more = "submit it by another request id" if request_id else "give the command again"
        _tell_what_goes_on(context, journal, ledger, id_, problem, once_more)
        raise
    except SlipwayError as problem:
        if problem.exit_code in (2, 5) and not terminal.any_sent and not resumed:
            ledger.end(id_)
        elif problem.exit_code in (2, 5) and _withdrawn(journal, id_):
            first = f"to begin with the first capacity type again:\n{typed.again(new_request_id())}"
            problem.fix = "\n".join(filter(None, (problem.fix, first)))
        raise
    ledger.end(id_)
    if earlier and not submitted.attempt.fresh:
        screen.hint("  to run it once more, give the command again")
    if submitted.attempt.job.ended:
        from slipway.submission.ending import require_success
        from slipway.submission.experiment_run import end_run

        if kept := end_run(context, submitted.attempt.job):
            screen.note(kept)
        require_success(context, submitted.attempt.job)
    return submitted, id_


def _withdrawn(journal: SubmissionJournal, request_id: str) -> bool:
    """Tell whether every sent job has been given up, and the next one was refused. After any other trouble a job may
    still wait, and another id would send a second one."""
    last, number = None, 1
    while entry := journal.read(attempt_id(request_id, number)):
        last, number = entry, number + 1
    return last is not None and last.state is EntryState.REFUSED


def _tell_what_goes_on(
    context: Context,
    journal: SubmissionJournal,
    ledger: InterruptedSubmissions,
    request_id: str,
    problem: SlipwayError,
    then: str,
) -> None:
    """Add to `problem` the unfinished jobs of the submission, and what to type; `then`: what to do after that.

    The submission's record is removed once none of its jobs can run any more.
    """
    from slipway.submission.lookup import going_on

    try:
        left = going_on(context, journal, request_id)
    except SlipwayError as unknown:
        problem.why += f"\nwhether another job of it goes on is not known: {unknown.why or unknown.what}"
        problem.fix = "try again in a minute, or see: slipway jobs list"
        return
    if not left:
        ledger.end(request_id)
        return
    problem.why += f"\n{join(job.typed for job in left)} {'has' if len(left) == 1 else 'have'} not ended"
    cancel = "\n".join(f"slipway jobs cancel {job.typed}" for job in left)
    problem.fix = (
        f"to keep it:  slipway jobs wait {left[-1].typed}\nelse cancel it, and once it has ended {then}:\n{cancel}"
    )
