"""Plays many things with a few workers side by side, with progress, a bound in time, and a new one for a broken one."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bench.errors import BenchError

Task = TypeVar("Task", contravariant=True)
Tell = Callable[[str], None]


class Worker(Protocol[Task]):
    """`play` does one task and keeps what became of it: whether it went well, and a line to tell."""

    def play(self, task: Task) -> tuple[bool, str]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Bounds:
    """`minutes` after which nothing new is begun (0: never), and how many `workers`."""

    minutes: float
    workers: int


class Crowd(Generic[Task]):
    def __init__(self, bounds: Bounds, worker: Callable[[str], Worker[Task]], tell: Tell) -> None:
        self._bounds, self._worker, self._tell = bounds, worker, tell
        self._lock, self._over = threading.Lock(), threading.Event()
        self._made, self._done, self._bad = 0, 0, 0

    def play(self, tasks: Sequence[Task]) -> int:
        """Plays them in their order; how many did not go well."""
        waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)
        began = time.monotonic()
        until = began + 60 * self._bounds.minutes if self._bounds.minutes else float("inf")
        threads = [
            threading.Thread(target=self._go, args=(waiting, len(tasks), began, until))
            for _ in range(min(self._bounds.workers, len(tasks)))
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            # Interrupted: what is being played is played to its end, so that nothing it started stays.
            self._over.set()
            for thread in threads:
                thread.join()
            raise
        return self._bad

    def _go(self, waiting: queue.SimpleQueue[Task], count: int, began: float, until: float) -> None:
        mine = self._new()
        try:
            while time.monotonic() < until and not self._over.is_set():
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    good, said = mine.play(task)
                except (BenchError, AssertionError, OSError, ValueError, LookupError) as error:
                    # How the stage stands is not known any more. It is not in the journal, so a later run plays it.
                    good, said = False, f"could not be played: {task}: {type(error).__name__}: {error}"
                    mine.close()
                    mine = self._new()
                self._count(good, said, count, began)
        finally:
            mine.close()

    def _new(self) -> Worker[Task]:
        with self._lock:
            self._made += 1
            name = f"w{self._made}"
        return self._worker(name)

    def _count(self, good: bool, said: str, count: int, began: float) -> None:
        with self._lock:
            self._done += 1
            self._bad += not good
            rest = (time.monotonic() - began) / self._done * (count - self._done) / 60
            self._tell(f"{self._done}/{count}  {said}  (some {rest:.0f} min left)")
