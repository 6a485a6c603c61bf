"""Plays many things with a few workers side by side, with progress, a bound in time, and a new one for a broken one."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bench.errors import BenchError
from bench.faults.processes import deaf, held

Task = TypeVar("Task")
Given = TypeVar("Given", contravariant=True)
Tell = Callable[[str], None]
_LOOK_S = 0.5


class Worker(Protocol[Given]):
    """`play` does one task and keeps what became of it: whether it went well, and a line to tell."""

    def play(self, task: Given) -> tuple[bool, str]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Lane(Generic[Task]):
    """Tasks that are played in their order, by so many workers of this lane alone, which are kept by its name."""

    name: str
    tasks: Sequence[Task]
    workers: int


@dataclass
class _Count:
    """Of the tasks of all lanes."""

    all: int
    began: float
    done: int = 0
    bad: int = 0


class Crowd(Generic[Task]):
    """Its workers live until it is closed, with the stages that they have made."""

    def __init__(
        self, minutes: float, worker: Callable[[str], Worker[Task]], halt: Callable[[], None], tell: Tell
    ) -> None:
        """`minutes` after which nothing new is begun (0: never); `halt` ends at once whatever the workers do."""
        self._worker, self._halt, self._tell = worker, halt, tell
        self._until = time.monotonic() + 60 * minutes if minutes else float("inf")
        self._lock, self._over = threading.Lock(), threading.Event()
        self._idle: dict[str, list[Worker[Task]]] = {}
        self._made = 0

    def play(self, *lanes: Lane[Task]) -> int:
        """Plays all lanes side by side; how many did not go well."""
        count = _Count(sum(len(lane.tasks) for lane in lanes), time.monotonic())
        # Not by joining: a thread whose join was interrupted is taken for ended (CPython 3.11).
        ended = list[threading.Event]()
        try:
            self._run(lanes, count, ended)
        except BaseException:
            self._over.set()
            with deaf():
                while not all(one.is_set() for one in ended):
                    self._halt()
                    for one in ended:
                        one.wait(_LOOK_S)
            raise
        return count.bad

    def close(self) -> None:
        for worker in [one for row in self._idle.values() for one in row]:
            worker.close()
        self._idle = {}

    def _run(self, lanes: Sequence[Lane[Task]], count: _Count, ended: list[threading.Event]) -> None:
        try:
            # A thread that is interrupted between its start and its place in `ended` would be waited for by nobody.
            with held():
                for lane in lanes:
                    self._start(lane, count, ended)
            _until_all(ended)
        except BaseException:
            # Interrupted: what is being played is played to its end, and counts.
            self._over.set()
            self._tell("what is being played is played to its end; Ctrl-C once more stops it at once")
            _until_all(ended)
            raise

    def _start(self, lane: Lane[Task], count: _Count, ended: list[threading.Event]) -> None:
        waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in lane.tasks:
            waiting.put(task)
        for _ in range(min(lane.workers, len(lane.tasks))):
            mine = threading.Event()
            thread = threading.Thread(target=self._go, args=(lane.name, waiting, count, mine), daemon=True)
            thread.start()
            ended.append(mine)

    def _go(self, lane: str, waiting: queue.SimpleQueue[Task], count: _Count, ended: threading.Event) -> None:
        try:
            self._play(lane, waiting, count)
        finally:
            ended.set()

    def _play(self, lane: str, waiting: queue.SimpleQueue[Task], count: _Count) -> None:
        mine = self._new(lane)
        while time.monotonic() < self._until and not self._over.is_set():
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                good, said = mine.play(task)
            except (BenchError, AssertionError, OSError, ValueError, LookupError) as error:
                # How the stage stands is not known any more. It is not in the journal, so a later run plays it.
                good, said = False, f"could not be played: {task}: {type(error).__name__}: {error}"
                mine.close()
                mine = self._new(lane)
            self._count(good, said, count)
        with self._lock:
            self._idle.setdefault(lane, []).append(mine)

    def _new(self, lane: str) -> Worker[Task]:
        with self._lock:
            if idle := self._idle.get(lane):
                return idle.pop()
            self._made += 1
            name = f"{lane}{self._made}"
        return self._worker(name)

    def _count(self, good: bool, said: str, count: _Count) -> None:
        with self._lock:
            count.done += 1
            count.bad += not good
            rest = (time.monotonic() - count.began) / count.done * (count.all - count.done) / 60
            self._tell(f"{count.done}/{count.all}  {said}  (some {rest:.0f} min left)")


def _until_all(ended: Sequence[threading.Event]) -> None:
    """Looks up now and then: a Ctrl-C that another thread was given does not wake this one, which alone acts on it."""
    for one in ended:
        while not one.wait(_LOOK_S):
            pass
