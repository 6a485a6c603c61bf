"""The provider's time: waits that a cancel ends, and deadlines."""

import time
from collections.abc import Callable
from threading import Event


class CancelledError(Exception):
    """The engine asked to stop."""

    def __init__(self) -> None:
        super().__init__("cancelled while it was under way; what the cloud has begun goes on there")


class Pace:
    """The clock, and the interval between two looks at an operation (seconds). `speed` makes the clock go faster.

    `silence` is how long an answer may take: real seconds, as a busy machine's answers come no sooner for a fast clock.
    """

    def __init__(
        self,
        poll: float = 10.0,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[Event, float], object] = Event.wait,
        speed: float = 1.0,
        silence: float = 300.0,
    ) -> None:
        self.poll = poll
        self.silence = silence
        self._speed = speed
        self._now = now
        self._wait = wait
        self._stop = Event()

    def now(self) -> float:
        """Return the seconds on a clock that only goes forward."""
        return self._now() * self._speed

    def pause(self, seconds: float) -> None:
        """Wait that many seconds. Raises CancelledError."""
        self._wait(self._stop, seconds / self._speed)
        if self._stop.is_set():
            raise CancelledError

    def cancel(self) -> None:
        """End all waiting, now and later."""
        self._stop.set()
