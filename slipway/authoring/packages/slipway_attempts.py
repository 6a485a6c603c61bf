"""The attempts of a job at its command: after a failure of its own it runs again, as often as its submission asks.

Each attempt but the first has a mark beside the job's claim, so that a machine that is lost, or an answer, makes none
more. All replicas of a job try together: of each mark one is the first, and the others end their command and follow.
"""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Callable, Iterable, Mapping, Sequence  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_http import StorageError

SETTINGS = "SLIPWAY_SETTINGS"
LOOK_S = 5.0


def asked_for(environ: Mapping[str, str]) -> tuple[int, Sequence[int]]:
    """The attempts after the first that the submission's record asks for, and the exit codes that have one; none for
    each that is a failure."""
    asked = json.loads(environ.get(SETTINGS, "{}"))
    return int(asked.get("retries") or 0), asked.get("retryOn") or ()


class Attempts:
    """`most` attempts after the first, of which `number` have begun; after some exit codes alone, where `on` has any.

    `take` makes a mark where there is none, `marks` has the names of those that are there, beside the claim; both raise
    StorageError. `others`: the job has other replicas.
    """

    def __init__(
        self,
        most: int,
        on: Sequence[int],
        take: Callable[[str], object],
        marks: Callable[[], Iterable[str]],
        *,
        others: bool,
    ) -> None:
        self.most, self.on, self.take, self.marks, self.others = most, on, take, marks, others
        self.number = self.begun() if most else 0

    def begun(self) -> int:
        return sum(name.rpartition("/")[2].startswith("retry-") for name in self.marks())

    @property
    def left(self) -> bool:
        return self.number < self.most

    def called(self) -> bool:
        """Tell whether another replica has begun the next attempt, as far as can be told now."""
        with contextlib.suppress(StorageError):
            return self.left and self.others and self.begun() > self.number
        return False

    def again(self, command: Command, code: int, *, chief: bool) -> bool:
        """Begin the next attempt, or join it, and tell whether there is one: after a failure, and never once the
        machine has given notice. A helper that did well waits for what becomes of the others."""
        if code == 0 and self.others and not chief and not command.stopped:
            pause = threading.Event()
            while not command.noticed and self.left and not self.called():
                pause.wait(LOOK_S)
        elif code == 0 and not command.stopped:
            return False
        if command.noticed or not self.left:
            return False
        if self.on and code not in (0, *self.on) and not command.stopped:
            return False
        self.number += 1
        self.take(f"retry-{self.number}")
        return not command.noticed
