"""Run a command on a session's machine, with this folder as it is now.

Only changed files travel. Ctrl-C interrupts the command, and a second time kills it; the exit code is the command's.

\b
  slipway session run train.py --lr 0.1
  slipway session run -- python train.py --lr 0.2
"""

from __future__ import annotations

from pathlib import Path

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import catalog_option, folder_option, word_option
from slipway.using.context import Context
from slipway.using.sessions.run_output import followed
from slipway.using.sessions.sending import begin_run
from slipway.using.sessions.session import find_session
from slipway.using.submission.own_command import command_line


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND…")
@word_option("--session", "name", metavar="SESSION", help="Which, where you have several.")
@click.option("--resume", is_flag=True, help="Go on with the $SLIPWAY_OUTPUT of the run before, not an empty one.")
@folder_option
@catalog_option
def command(*, words: tuple[str, ...], name: str | None, resume: bool, code: str, catalog: str | None) -> int:
    context, line = Context(catalog), command_line(words, Path(code))
    with screen.terminable("a run may have been sent", "slipway session list"):
        session, run = begin_run(context, lambda: find_session(context, name), line, code, screen.note, resume=resume)
    with screen.terminable(f"run {run.number} goes on", f"slipway jobs logs {session.job.typed} --follow"):
        return followed(context, session, run, screen.note)
