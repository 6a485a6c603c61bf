"""The notice by SIGTERM: the machine is about to go, or torchrun begins again with other machines.

Not every loss is announced, so what counts is the last checkpoint; after a notice there is one more.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

STOPPED = 128 + signal.SIGTERM


class Notice:
    """`came` is looked at between steps, as half a step would be in the model and not in its number."""

    def __init__(self) -> None:
        self.came = False
        signal.signal(signal.SIGTERM, self._take)

    def _take(self, _: int, __: FrameType | None) -> None:
        self.came = True

    def sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.came and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))
