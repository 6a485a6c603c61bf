"""Many tasks with a few workers side by side, with progress, a time bound, and a new worker for a broken one."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bench.errors import BenchError
from bench.faults.processes import deaf
from bench.faults.report import GOOD, Entry

Task = TypeVar("Task")
Given = TypeVar("Given", contravariant=True)
_LOOK_S = 0.5


class Worker(Protocol[Given]):
    def play(self, task: Given) -> Entry: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Lane(Generic[Task]):
    """Tasks in their order, with so many workers of this lane alone, which are kept by its name."""

    name: str
    tasks: Sequence[Task]
    workers: int


class Crowd(Generic[Task]):
    """Workers that live until it is closed, with the stages that they have made."""

    def __init__(
        self,
        until: float,
        worker: Callable[[str], Worker[Task]],
        halt: Callable[[], None],
        keep: Callable[[Entry], None],
        tell: Callable[[str], None],
    ) -> None:
        """Begin. No task is begun after `until`, a moment of the monotonic clock. `halt` ends whatever the workers do,
        `keep` takes the outcome of each task."""
        self._until, self._worker, self._halt, self._keep, self._tell = until, worker, halt, keep, tell
        self._lock, self._over = threading.Lock(), threading.Event()
        self._idle: dict[str, list[Worker[Task]]] = {}
        self._made = self._all = self._done = self._bad = 0

    def play(self, *lanes: Lane[Task]) -> int:
        """Play all lanes side by side; return the number of failed tasks. Interrupted tasks do not count."""
        self._all, self._done, self._bad = sum(len(lane.tasks) for lane in lanes), 0, 0
        threads = list[threading.Thread]()
        for lane in lanes:
            waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
            for task in lane.tasks:
                waiting.put(task)
            threads += [
                threading.Thread(target=self._play, args=(lane.name, waiting), daemon=True)
                for _ in range(min(lane.workers, len(lane.tasks)))
            ]
        # Without join: a thread whose join was interrupted is taken for ended (CPython 3.11).
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(_LOOK_S)
        except BaseException:
            self._over.set()
            with deaf():
                while any(thread.is_alive() for thread in threads):
                    self._halt()
                    time.sleep(_LOOK_S)
            raise
        return self._bad

    def close(self) -> None:
        for worker in [one for row in self._idle.values() for one in row]:
            worker.close()
        self._idle = {}

    def _play(self, lane: str, waiting: queue.SimpleQueue[Task]) -> None:
        mine: Worker[Task] | None = None
        while time.monotonic() < self._until and not self._over.is_set():
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                mine = mine or self._new(lane)
                entry = mine.play(task)
            except (BenchError, AssertionError, OSError, ValueError, LookupError) as error:
                # The stage's state is unknown now. The task is not in the report, so a later run plays it.
                self._count(False, f"could not be played: {task}: {type(error).__name__}: {error}")
                if mine:
                    mine.close()
                mine = None
            else:
                self._keep(entry)
                self._count(entry.outcome in GOOD, f"{entry.outcome}  {entry.key}  {entry.why}")
        if mine:
            with self._lock:
                self._idle.setdefault(lane, []).append(mine)

    def _new(self, lane: str) -> Worker[Task]:
        with self._lock:
            if idle := self._idle.get(lane):
                return idle.pop()
            self._made += 1
            name = f"{lane}{self._made}"
        return self._worker(name)

    def _count(self, good: bool, said: str) -> None:
        with self._lock:
            self._done += 1
            self._bad += not good
            self._tell(f"{self._done}/{self._all}  {said}")
