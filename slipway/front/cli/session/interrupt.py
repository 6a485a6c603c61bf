"""Interrupt what a session runs, as Ctrl-C does; the session goes on.

From any terminal, also after the one that sent the run was closed.
"""

from __future__ import annotations

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_option, word_option
from slipway.using.context import Context
from slipway.using.sessions.interrupting import interrupt_run
from slipway.using.sessions.session import find_session


@click.command()
@click.argument("session", type=WORD, required=False)
@word_option("--session", "named", metavar="SESSION", help="The same, as for slipway session run.")
@click.option("--kill", is_flag=True, help="Kill the command without a chance to save, as a second Ctrl-C does.")
@catalog_option
def command(*, session: str | None, named: str | None, kill: bool, catalog: str | None) -> None:
    context = Context(catalog)
    found = find_session(context, session or named)
    last = interrupt_run(context, found, kill=kill)
    action = "is killed" if kill else "is interrupted"
    screen.out(
        f"run {last.number} of session {found.name} {action}{f': {last.request.command}' if last.request else ''}"
    )
    screen.hint(f"  slipway session runs {found.name}")
