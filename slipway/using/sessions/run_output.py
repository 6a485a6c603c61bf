"""A run of a session as its command's own output, with Ctrl-C handed on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from slipway.base.errors import Interrupted
from slipway.base.formatting import clock
from slipway.using.context import Context
from slipway.using.jobs.follower import Event, Progress, Trouble
from slipway.using.sessions.following import RunFollower
from slipway.using.sessions.sending import SentRun
from slipway.using.sessions.session import Session


def followed(context: Context, session: Session, run: SentRun, note: Callable[[str], None]) -> int:
    """Show what a run writes until it has ended, and return its exit code; Ctrl-C interrupts it, then kills it, and
    then leaves it alone. Raises the errors of `RunFollower.code`, and Interrupted."""
    told: list[str] = []

    def tell(event: Event) -> None:
        if isinstance(event, Trouble):
            note(event.text)
        elif isinstance(event, Progress) and event.job.waits:
            why = event.why(context.now) or "for its machines"
            if told[-1:] != [why]:  # A running clock alone is not worth a line.
                told.append(why)
                since = event.job.create_time
                age = f" {clock((context.now - since).total_seconds())}" if since else ""
                note(f"{session.name}  waits{age}  {why}")

    follower = RunFollower(context, session, run, Output(several=len(session.replicas) > 1).write, tell)
    interrupted = False
    while True:
        try:
            if interrupted:
                interrupted = False
                if not follower.stop():
                    back = f"slipway jobs logs {session.job.typed} --follow"
                    raise Interrupted(f"run {run.number} is being killed, and nobody waits for its end", fix=back)
            return follower.code()
        except KeyboardInterrupt:
            interrupted = True


class Output:
    """What a run writes, unchanged; of several replicas line by line, after the replica's name."""

    def __init__(self, *, several: bool) -> None:
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
        stream.write(text.encode(errors="surrogateescape").decode(errors="replace"))
