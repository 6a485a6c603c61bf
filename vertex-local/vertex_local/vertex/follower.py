"""The threads behind jobs: each looks at its work again and again, and does what is due."""

import logging
import threading
from collections.abc import Callable, Mapping

from ..world import World

_log = logging.getLogger("vertex_local.vertex")
_BUSY_S, _TROUBLE_S = 0.1, 2.0

Step = Callable[[], bool]
"""A look at all work of a kind, which returns whether any is under way. Every step can be repeated after a kill."""


class Follower:
    """A thread that takes steps, by name, in quick succession while there is work. `woken` ends a pause, which lasts
    `idle` seconds where there is none."""

    def __init__(
        self, world: World, steps: Mapping[str, Step], woken: threading.Event, idle: Callable[[], float] = lambda: 0.5
    ) -> None:
        self._world, self._steps, self._woken, self._idle = world, steps, woken, idle
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread, not the jobs."""
        self._ending.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._ending.is_set():
            self._woken.clear()
            pause = min(self._taken(name, step) for name, step in self._steps.items())
            if not self._ending.is_set():
                self._world.clock.wait(pause, self._woken)

    def _taken(self, name: str, step: Step) -> float:
        """Take a step; return how long to wait. No error ends the thread: the next look finds the same work."""
        trouble = f"{name}:"
        try:
            busy = step()
        except Exception as error:
            _log.exception("%s could not do its work", name)
            self._world.trouble = f"{trouble} {error}, at {self._world.now()}"
            return _TROUBLE_S
        if self._world.trouble.startswith(trouble):
            self._world.trouble = ""
        return _BUSY_S if busy else self._idle()
