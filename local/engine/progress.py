"""Progress on a terminal or in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

# The part before it names the step, the part after it changes from second to second.
SEPARATOR = " · "

_LOG_EVERY_S = 10.0


class Printer:
    """Prints progress lines: one that is rewritten on a terminal; in a log each step at once, then every 10 s."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._step = ""
        self._said = clock()
        self._open = False

    def __call__(self, line: str) -> None:
        """Show `line`, which is `step` or `step · detail`."""
        step = line.split(SEPARATOR, 1)[0]
        if self._terminal:
            if step != self._step:
                self.close()
            self._stream.write(f"\r\x1b[K{line}")
            self._open = True
        elif step != self._step or self._clock() - self._said >= _LOG_EVERY_S:
            self._stream.write(f"{line}\n")
            self._said = self._clock()
        self._step = step
        self._stream.flush()

    def close(self) -> None:
        """End an unfinished line, so that what comes next has its own."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
        self._open = False
