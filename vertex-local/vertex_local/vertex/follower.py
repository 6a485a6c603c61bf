"""The thread behind jobs that are made of custom jobs: it looks at those, and acts on what it sees."""

import logging
import threading
from collections.abc import Callable, Sequence

from ..world import Loop, World

_log = logging.getLogger("vertex_local.vertex")
_BUSY_S, _IDLE_S, _TROUBLE_S = 0.1, 0.5, 2.0

Step = Callable[[World], bool]
"""A look at all jobs of a kind, which returns whether any is under way. Every step can be repeated after a kill."""


class Follower:
    """A thread that takes steps, in quick succession while there is work, apart from the scheduler, which it would hold
    up."""

    def __init__(self, world: World, steps: Sequence[Step]) -> None:
        self._world, self._steps = world, steps
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="vertex-follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._ending.is_set():
            pause = _IDLE_S
            for step in self._steps:
                pause = min(pause, self._taken(step))
            self._world.clock.wait(pause, self._ending)

    def _taken(self, step: Step) -> float:
        """Take one step and return how long to wait before the next. A full disk or a bug must not end the thread."""
        trouble = f"{step.__module__}:"
        try:
            busy = step(self._world)
        except Exception as error:
            _log.exception("%s could not do its work", step.__module__)
            self._world.trouble = f"{trouble} {error}, at {self._world.now()}"
            return _TROUBLE_S
        if self._world.trouble.startswith(trouble):
            self._world.trouble = ""
        return _BUSY_S if busy else _IDLE_S


class Loops:
    """Several loops as one."""

    def __init__(self, *loops: Loop) -> None:
        self._loops = loops

    def start(self) -> None:
        for loop in self._loops:
            loop.start()

    def stop(self) -> None:
        for loop in reversed(self._loops):
            loop.stop()
