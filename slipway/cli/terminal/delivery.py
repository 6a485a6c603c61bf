"""One submission sent from the terminal, remembered while it waits, so that the same command resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from slipway.cli.terminal import screen
from slipway.cli.terminal.arguments import SubmitArguments
from slipway.cli.terminal.submission import TerminalDisplay
from slipway.cloud.jobs import VertexJob
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
    """The job, and the submission's request id. One that may wait for long is recorded, so that the same command
    resumes it after a kill. Raises what `Submitter.submit` raises, Detached on Ctrl-C.
    """
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
    # What was sent before may wait still, whatever goes wrong now: forgotten, the same command would send a second job.
    resumed = ledger.has(id_)
    if earlier:
        screen.note(f"resumes the submission of {earlier.when}, request id {earlier.request_id}")
    if not resumed:  # An id may be given with other words: those that it began with resume it.
        ledger.begin(typed.words, id_, context.now.isoformat(timespec="seconds"))
    try:
        submitted = deliver_it()
    except KeyboardInterrupt:
        if not terminal.any_sent and not resumed:
            ledger.end(id_)  # Nothing was sent that the same command could go on with.
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
        raise _another_now(context, journal, ledger, id_, problem) from problem
    except Cancelled:
        ledger.end(id_)  # Nothing of it can run any more: what the same command sends next is no second run.
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
            problem.fix = "\n".join(filter(None, (problem.fix, _from_the_first(typed))))
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
    """Whether all that was sent has been given up, and what came next was refused: any other trouble, as a rate limit
    while it is looked at, may come while a job of it waits, and another id would send a second one."""
    last, number = None, 1
    while entry := journal.read(attempt_id(request_id, number)):
        last, number = entry, number + 1
    return last is not None and last.state is EntryState.REFUSED


def _from_the_first(typed: SubmitArguments) -> str:
    """Where none of what a job was given up for takes the submission any more."""
    return (
        "the same command tries that again, and does not go back to what was given up; to begin with the first again:\n"
        f"{typed.again(new_request_id())}"
    )


def _another_now(
    context: Context,
    journal: SubmissionJournal,
    ledger: InterruptedSubmissions,
    request_id: str,
    problem: OtherJobError,
) -> SlipwayError:
    """What to do where the same words would make another job than the one that they sent. It is forgotten once nothing
    of it can run any more."""
    from slipway.submission.lookup import going_on

    what = f"this command has sent {problem.name}, and would be another job now: nothing was sent"
    try:
        left = going_on(context, journal, request_id)
    except SlipwayError as unknown:
        why = f"{problem.why}\nwhether it goes on can't be told: {unknown.why or unknown.what}"
        return ConfigError(what, why=why, fix="try again in a minute, or see: slipway jobs list")
    if left:
        return ConfigError(what, why=problem.why, fix=_keep_or_cancel(left, "to send it as it is now"))
    ledger.end(request_id)
    return ConfigError(
        what,
        why=problem.why,
        fix=f"that one has ended (slipway jobs show {problem.name}): give the command again to send it as it is now",
    )


def _tell_what_goes_on(
    context: Context,
    journal: SubmissionJournal,
    ledger: InterruptedSubmissions,
    request_id: str,
    problem: JobGoneError,
    once_more: str,
) -> None:
    """A job that is gone may have been given up, and the one that was sent after it goes on: then the submission is
    kept, and that one is told of. It is forgotten once nothing of it can run any more."""
    from slipway.submission.lookup import going_on

    try:
        left = going_on(context, journal, request_id)
    except SlipwayError as unknown:
        problem.why += f"\nwhether another job of it goes on can't be told: {unknown.why or unknown.what}"
        problem.fix = "try again in a minute, or see: slipway jobs list"
        return
    if not left:
        ledger.end(request_id)
        return
    was, has = ("was", "has") if len(left) == 1 else ("were", "have")
    problem.why += f"\n{join([job.typed for job in left])} {was} sent after it, and {has} not ended"
    problem.fix = _keep_or_cancel(left, "to run it once more", once_more)


def _keep_or_cancel(left: Sequence[VertexJob], otherwise: str, then: str = "give the command again") -> str:
    """What to type where these jobs of a submission go on; `otherwise` is what for one would cancel them, and `then`
    what to do once they have ended."""
    cancel = "\n".join(f"slipway jobs cancel {job.typed}" for job in left)
    return (
        f"to keep it:  slipway jobs wait {left[-1].typed}\n"
        f"{otherwise}, cancel it, and once it has ended {then}:\n{cancel}"
    )
