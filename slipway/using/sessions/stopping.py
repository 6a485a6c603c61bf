"""The end of a session that its owner asks for."""

from __future__ import annotations

from collections.abc import Callable

from slipway.authoring.packages.slipway_exchange import stop_name
from slipway.using.context import Context
from slipway.using.sessions.sending import close
from slipway.using.sessions.session import Session, last_run
from slipway.using.submission.cancelling import cancel_submissions, not_ones_own, with_copies


def stop_session(context: Context, session: Session, tell: Callable[[str], None]) -> None:
    """Interrupt what the session runs, and end it; one that waits for its machines is cancelled. Raises ResourceError
    where it ended meanwhile, PolicyError for an agent that has not started it, and CloudError."""
    if refused := not_ones_own([session.job], context):
        raise refused
    if session.job.waits:
        if problems := cancel_submissions(context, [with_copies(context, session.job, tell)], tell).problems:
            raise problems[0]
        return
    storage = context.connection.storage
    while True:
        last = last_run(storage, session)
        if last.closed:
            return
        if last.goes_on and last.request:
            tell(f"interrupts run {last.number}: {last.request.command}")
            stop = session.object(stop_name(last.number, 1))
            storage.create(stop, context.user.encode(), "text/plain", again=True)
        if close(context, session, last):
            return
