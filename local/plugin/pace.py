"""The provider's time: waits, and deadlines."""

import time
from collections.abc import Callable


class Pace:
    """The clock, and the interval between two looks at an operation (seconds). `speed` makes the clock go faster.

    `silence` is how long an answer may take: real seconds, as a busy machine's answers come no sooner for a fast clock.
    """

    def __init__(
        self,
        poll: float = 10.0,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
        speed: float = 1.0,
        silence: float = 300.0,
    ) -> None:
        self.poll = poll
        self.silence = silence
        self._speed = speed
        self._now = now
        self._wait = wait

    def now(self) -> float:
        """Return the seconds on a clock that only goes forward."""
        return self._now() * self._speed

    def pause(self, seconds: float) -> None:
        """Wait that many seconds."""
        self._wait(seconds / self._speed)
