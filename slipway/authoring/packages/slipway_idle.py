"""Ends a command whose GPUs nobody uses, where its template asks for that: it is told, and then ended as by a notice.

Each machine of a job looks at its own GPUs, by `nvidia-smi`. What can't be measured ends nothing.
"""

from __future__ import annotations

import subprocess
import threading
import time
from typing import Callable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_results import say

IDLE = "SLIPWAY_IDLE"
ENDED = 75  # EX_TEMPFAIL of sysexits: told apart from a user's code.
LOOK_S = 10.0
QUERY = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits")


USE_THEM = (
    "slipway jobs show has their use; what it wrote to $SLIPWAY_OUTPUT is kept. Where it waits for data, see `inputs`; "
    "where it needs no GPU, take a machine without; else its template's `idle` says what is idle"
)


class IdleError(Exception):
    """The command was ended, as nobody used its GPUs: what happened, why, and what to do."""


def use_of_gpus() -> float | None:
    """The use of the machine's busiest GPU, a share; None where it is not known. Raises OSError without nvidia-smi."""
    try:
        lines = subprocess.run(QUERY, capture_output=True, text=True, timeout=LOOK_S, check=True).stdout.split()
        return max(map(float, lines)) / 100
    except (subprocess.SubprocessError, ValueError):
        return None


def span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


class Idleness:
    """The time for which a machine's GPUs were used for less than `below`, of which `after` seconds are the most.

    `why`: once the command was ended, the reason.
    """

    def __init__(
        self,
        below: float,
        after: float,
        read: Callable[[], float | None] = use_of_gpus,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.below, self.after, self.read, self.clock = below, after, read, clock
        self.since: float | None = None
        self.told, self.why = False, ""

    @classmethod
    def asked_for(cls, environ: Mapping[str, str]) -> Idleness | None:
        """Limit that the template sets, as `0.05 1800`; None without one."""
        below, _, after = environ.get(IDLE, "").partition(" ")
        return cls(float(below), float(after)) if after else None

    def over(self) -> bool:
        """Look once, and tell whether the command is to be ended."""
        use, now = self.read(), self.clock()
        if use is None or use >= self.below:
            self.since, self.told = None, False
            return False
        self.since = now if self.since is None else self.since
        idle = now - self.since
        said = f"the GPUs of this machine were used for less than {self.below:.0%} for {span(idle)}"
        if idle >= self.after:
            self.why = said
            return True
        if not self.told and idle >= self.after / 2:
            self.told = True
            say(f"{said}: the job is ended in {span(self.after - idle)}, unless they are used")
        return False

    def watch(self, command: Command, ended: threading.Event) -> None:
        """Look until the command has ended, or is to be ended."""
        try:
            while not ended.wait(min(LOOK_S, self.after / 6)):
                if self.over():
                    if command.ending():  # By itself, as the last look was taken.
                        self.why = ""
                        return
                    say(f"{self.why}: ends the command")
                    command.end()
                    return
        except OSError as error:
            say(f"the use of GPUs is not measured, so that idle ones do not end the job: {error}")
