"""The interruption of what a session runs, from anywhere."""

from __future__ import annotations

from slipway.authoring.packages.slipway_exchange import stop_name
from slipway.base.errors import ResourceError
from slipway.using.context import Context
from slipway.using.sessions.session import LastRun, Session, ended, last_run
from slipway.using.submission.cancelling import not_ones_own


def interrupt_run(context: Context, session: Session, *, kill: bool = False) -> LastRun:
    """Interrupt the run of a session as Ctrl-C does, or kill it, and return it. The session goes on. Raises
    ResourceError for a session that runs nothing, PolicyError for an agent that has not started it, and CloudError."""
    if refused := not_ones_own([session.job], context):
        raise refused
    storage = context.connection.storage
    last = last_run(storage, session)
    if last.closed:
        raise ended(session.job, f"it ended {last.closed}")
    if not last.goes_on:
        raise ResourceError(
            f"the session {session.name} runs nothing",
            why=f"run {last.number} has ended" if last.number else "nothing was sent to it",
            fix=f"slipway session runs {session.name}",
        )
    for count in (1, 2) if kill else (1,):
        at = session.object(stop_name(last.number, count))
        storage.create(at, context.user.encode(), "text/plain", again=True)
    return last
