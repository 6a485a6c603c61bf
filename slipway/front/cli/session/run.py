"""Run a command on a session's machine, with this folder as it is now.

Only changed files travel. Ctrl-C interrupts the command, and a second time kills it; the exit code is the command's.

\b
  slipway session run train.py --lr 0.1
  slipway session run -- python train.py --lr 0.2
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

import click

from slipway.authoring.packages.folder_check import about, require_named
from slipway.authoring.packages.source_package import require_no_key
from slipway.authoring.packages.working_tree import IGNORES, WorkingTree, read
from slipway.base.formatting import counted, size
from slipway.front.cli.run import command_line
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import catalog_option, word_option
from slipway.using.context import Context
from slipway.using.jobs.follower import Event, Progress, Trouble
from slipway.using.sessions.following import RunFollower
from slipway.using.sessions.sending import send
from slipway.using.sessions.session import Session, find_session, last_run


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND…")
@word_option("--session", "name", metavar="SESSION", help="Which, where you have several.")
@word_option(
    "--code",
    metavar="DIR",
    default=".",
    shell_complete=click.Path(file_okay=False).shell_complete,
    help="Another folder than this one.",
)
@catalog_option
def command(*, words: tuple[str, ...], name: str | None, code: str, catalog: str | None) -> int:
    context, folder = Context(catalog), Path(code)
    line = command_line(words, folder)
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read, folder)
        session = find_session(context, name)
        last = last_run(context.connection.storage, session)
        tree = reading.result()
    _check(tree, folder.resolve(), line, first=last.number == 0)
    run = send(context, session, last, line, tree)
    changed = f"{counted(run.changed, 'file')} changed, {size(run.bytes)}" if run.changed else "no file changed"
    screen.note(f"run {run.number}  {changed}")
    if run.requires_others:
        screen.note("requirements.txt is another: slipway session run -- pip install -r requirements.txt")
    follower = RunFollower(context, session, run, Writer(len(session.replicas) > 1).write, _tells(context, session))
    while True:
        try:
            return follower.code()
        except KeyboardInterrupt:
            if not follower.stop():
                raise


def _check(tree: WorkingTree, folder: Path, line: str, *, first: bool) -> None:
    """Hold the folder against the command; of what is not packed, the first run tells."""
    require_named(tree, folder, line)
    require_no_key(tree.files, f"the folder {folder.name}", f"leave the file out, by a line in {IGNORES}")
    for told in about(tree, folder, line) if first else ():
        screen.note(told)


class Writer:
    """A writer of what a run wrote: unchanged, or of several replicas line by line, after the replica's name."""

    def __init__(self, several: bool) -> None:
        self._several = several
        self._begun: dict[tuple[str, int], str] = {}

    def write(self, replica: str, stream: int, text: str) -> None:
        if self._several:
            *lines, self._begun[replica, stream] = (self._begun.get((replica, stream), "") + text).split("\n")
            text = "".join(f"{replica}  {line}\n" for line in lines)
        _put(sys.stdout if stream == 1 else sys.stderr, text)


def _put(stream: TextIO, text: str) -> None:
    """Write text whose lone surrogates stand for bytes."""
    if binary := getattr(stream, "buffer", None):
        stream.flush()
        binary.write(text.encode(errors="surrogateescape"))
        binary.flush()
    else:
        stream.write(text)


def _tells(context: Context, session: Session) -> Callable[[Event], None]:
    from slipway.front.cli.terminal.watching import PlainDisplay, state_at

    show = PlainDisplay(context.clock, quiet=True)

    def tell(event: Event) -> None:
        if isinstance(event, Progress) and event.job.waits:
            show.state(state_at(event, session.name, ""))
        elif isinstance(event, Trouble):
            show.note(event.text)

    return tell
