"""Sending one submission from the terminal, and going on with one that was interrupted while it waited."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cli.submitting import Terminal
from slipway.errors import SlipwayError
from slipway.submit import naming
from slipway.submit.journal import Journal
from slipway.submit.options import Prepared
from slipway.submit.sending import Manners
from slipway.submit.submitting import Show, Submitted, Submitter

if TYPE_CHECKING:
    from slipway.cli.submit import Typed


def send(
    context: Context, typed: Typed, prepared: Prepared, request_id: str | None, *, json: bool
) -> tuple[Submitted, str]:
    """The job, and the submission's request id. Raises what `Submitter.submit` raises, Detached on Ctrl-C."""
    catalog = context.catalog
    journal = Journal.find(context.folder, context.environ, catalog.project, catalog.stack)
    if not prepared.moves:
        id_ = request_id or naming.new_request_id()
        terminal = Terminal(context, json=json, again=typed.again(id_))
        return deliver(context, terminal, typed, prepared, journal, id_, repeated=request_id is not None), id_
    return _staying(context, typed, prepared, journal, request_id, json=json)


def _staying(
    context: Context, typed: Typed, prepared: Prepared, journal: Journal, request_id: str | None, *, json: bool
) -> tuple[Submitted, str]:
    """A submission that may wait for long: written down, so that the same command goes on with it after a kill."""
    from slipway.submit.unfinished import Ledger

    ledger = Ledger(journal.folder)
    earlier = (
        None if request_id else next((one for one in ledger.find(typed.words) if journal.free(one.request_id)), None)
    )
    if earlier:
        screen.note(f"goes on with the same submission of {earlier.when}, request id {earlier.request_id}")
    id_ = request_id or (earlier.request_id if earlier else naming.new_request_id())
    ledger.begin(typed.words, id_, earlier.when if earlier else context.now.isoformat(timespec="seconds"))
    terminal = Terminal(context, json=json, again=typed.again(id_))
    try:
        submitted = deliver(context, terminal, typed, prepared, journal, id_, repeated=bool(request_id or earlier))
    except KeyboardInterrupt:
        from slipway.cli.following import Detached

        raise Detached(
            "stopped waiting; what was sent stays where it is, and nothing moves it on",
            fix=f"the same command goes on, or: {typed.again(id_)}",
        ) from None
    except SlipwayError as problem:
        if problem.exit_code in (2, 5) and not terminal.any_sent:
            ledger.end(id_)
        raise
    ledger.end(id_)
    if earlier and not submitted.sent.fresh:
        screen.note(screen.faint("  to run it once more, give the command again", sys.stderr))
    if submitted.sent.job.ended:
        from slipway.cli.ending import end_run_of, ending_of

        if kept := end_run_of(context, submitted.sent.job):
            screen.note(kept)
        ending = ending_of(context, submitted.sent.job)
        if ending:  # While it was waited for, and there is nothing left that could run.
            raise ending
    return submitted, id_


def deliver(
    context: Context,
    show: Show,
    typed: Typed,
    prepared: Prepared,
    journal: Journal,
    id_: str,
    *,
    repeated: bool,
) -> Submitted:
    """Exactly one job, as `Submitter.submit` makes it and with what it raises."""
    manners = Manners(look_for=context.look_for)
    submitter = Submitter(context.connection, context.hurried, journal, show, manners, context.clock)
    return submitter.submit(prepared, id_, typed.again(id_), repeated=repeated)
