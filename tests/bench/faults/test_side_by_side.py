"""Playing side by side: lanes, workers that live on, and being interrupted once and twice. # N2"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from bench.errors import BenchError
from bench.faults.side_by_side import Crowd, Lane


class Player:
    def __init__(self, name: str, play: Callable[[int], None]) -> None:
        self.name, self._play, self.closed = name, play, False

    def play(self, task: int) -> tuple[bool, str]:
        self._play(task)
        return task >= 0, f"{self.name} {task}"

    def close(self) -> None:
        self.closed = True


class Room:
    """A crowd, its players, and what was told."""

    def __init__(self, play: Callable[[int], None] = lambda task: None) -> None:
        self.players, self.told, self.halted = list[Player](), list[str](), threading.Event()

        def new(name: str) -> Player:
            self.players.append(Player(name, play))
            return self.players[-1]

        self.crowd = Crowd[int](0, new, self.halted.set, self.told.append)


def test_each_lane_has_workers_of_its_own_which_live_on_until_the_end() -> None:
    room = Room()
    assert room.crowd.play(Lane("engine", [1, 2, 3], 1), Lane("cli", [-4], 4)) == 1
    assert room.crowd.play(Lane("engine", [5], 2), Lane("cli", [], 2)) == 0
    assert sorted(player.name for player in room.players) in (["cli1", "engine2"], ["cli2", "engine1"])
    assert len(room.told) == 5
    assert not any(player.closed for player in room.players)
    room.crowd.close()
    assert all(player.closed for player in room.players)


def test_a_worker_that_breaks_is_replaced() -> None:
    def play(task: int) -> None:
        if task == 1:
            raise BenchError("it broke")

    room = Room(play)
    assert room.crowd.play(Lane("engine", [1, 2], 1)) == 1
    assert [player.closed for player in room.players] == [True, False]


class Interrupting(list[int]):
    """Tasks whose reading is where Ctrl-C comes: while the crowd is still being started."""

    def __iter__(self) -> Iterator[int]:
        os.kill(os.getpid(), signal.SIGINT)
        return super().__iter__()


def test_interrupted_while_it_starts_it_plays_to_the_end_what_has_begun() -> None:
    """The first Ctrl-C used to count as the second then."""
    begun, ended = threading.Event(), list[int]()

    def play(task: int) -> None:
        begun.set()
        while not any("once more" in line for line in room.told) and not room.halted.is_set():
            time.sleep(0.01)
        ended.append(task)

    room = Room(play)
    with pytest.raises(KeyboardInterrupt):
        room.crowd.play(Lane("engine", [1], 1), Lane("cli", Interrupting([2]), 1))
    assert not room.halted.is_set()
    assert not begun.is_set() or ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "as it was"


def interrupt() -> None:
    """Ctrl-C while the main thread waits, of which the thread that calls this hears: the system may give it to any, and
    the one that waits is not woken by it then."""
    while sys._current_frames()[threading.main_thread().ident or 0].f_code.co_name != "wait":
        time.sleep(0.01)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_interrupted_once_it_plays_what_it_plays_to_its_end_and_twice_it_stops_that_too() -> None:
    """The second used to leave clouds, engines and jobs behind."""
    ended, both = list[int](), threading.Barrier(2)

    def play(task: int) -> None:
        if task in (1, 2):
            both.wait()
        if task == 1:
            interrupt()
        while task in (1, 2) and not any("once more" in line for line in room.told):
            time.sleep(0.01)
        if task == 2:
            interrupt()
            assert room.halted.wait(60)
        ended.append(task)

    room = Room(play)
    with pytest.raises(KeyboardInterrupt):
        room.crowd.play(Lane("engine", [1, 3, 4], 1), Lane("cli", [2], 1))
    assert room.halted.is_set()
    assert 2 in ended and 4 not in ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "as it was"
