"""End a session, and what it runs; what it wrote to $SLIPWAY_OUTPUT is kept."""

from __future__ import annotations

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_option, word_option
from slipway.using.context import Context
from slipway.using.sessions.session import find_session
from slipway.using.sessions.stopping import stop_session


@click.command()
@click.argument("session", type=WORD, required=False)
@word_option("--session", "named", metavar="SESSION", help="The same, as for slipway session run.")
@catalog_option
def command(*, session: str | None, named: str | None, catalog: str | None) -> None:
    context = Context(catalog)
    found = find_session(context, session or named)
    job = found.job.typed
    with screen.interruptible(f"session {found.name} may end already", f"slipway jobs show {job}"):
        stop_session(context, found, lambda text: screen.note(f"note: {text}"))
    screen.out(f"session {found.name} ends")
    screen.hint(f"  slipway jobs wait {job}      slipway jobs download {job}")
