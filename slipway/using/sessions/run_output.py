"""A run of a session as its command's own output, with Ctrl-C handed on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from slipway.base.errors import Interrupted
from slipway.base.formatting import clock
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.jobs.follower import Event, Progress, Trouble
from slipway.using.jobs.roles import who_of
from slipway.using.sessions.following import Preparing, RunFollower
from slipway.using.sessions.sending import SentRun
from slipway.using.sessions.session import Session


def followed(context: Context, session: Session, run: SentRun, note: Callable[[str], None]) -> int:
    """Show what a run writes until it has ended, and return its exit code; Ctrl-C interrupts it, then kills it, and
    then leaves it alone. Raises the errors of `RunFollower.code`, and Interrupted."""
    told: list[str] = []

    def tell(event: Event | Preparing) -> None:
        if isinstance(event, Preparing):
            note(f"{session.name}  waits  {event.why}")
        elif isinstance(event, Trouble):
            note(event.text)
        elif isinstance(event, Progress) and event.job.waits:
            why = event.why(context.now) or "for its machines"
            if told[-1:] != [why]:  # A running clock alone is not worth a line.
                told.append(why)
                since = event.job.create_time
                age = f" {clock((context.now - since).total_seconds())}" if since else ""
                note(f"{session.name}  waits{age}  {why}")

    output = Output(session.job)
    follower = RunFollower(context, session, run, output.write, tell)
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
        finally:
            output.end()


class Output:
    """Output of a run, unchanged; of several replicas line by line, after the name that its log has for each."""

    def __init__(self, job: VertexJob) -> None:
        self._job = job
        self._begun: dict[tuple[str, int], str] = {}

    def write(self, replica: str, stream: int, text: str) -> None:
        if self._job.replicas > 1:
            *lines, self._begun[replica, stream] = (self._begun.get((replica, stream), "") + text).split("\n")
            text = "".join(f"{who_of(replica, self._job)}  {line}\n" for line in lines)
        _put(sys.stdout if stream == 1 else sys.stderr, text)

    def end(self) -> None:
        """Write the lines that nothing has ended."""
        for (replica, stream), begun in self._begun.items():
            if begun:
                self.write(replica, stream, "\n")


def _put(stream: TextIO, text: str) -> None:
    """Write text whose lone surrogates stand for bytes."""
    if binary := getattr(stream, "buffer", None):
        stream.flush()
        binary.write(text.encode(errors="surrogateescape"))
        binary.flush()
    else:
        stream.write(text.encode(errors="surrogateescape").decode(errors="replace"))
