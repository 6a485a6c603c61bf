"""Playing side by side: lanes, workers that live on, and being interrupted. # N2"""

import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from bench.errors import BenchError
from bench.faults.report import Entry
from bench.faults.side_by_side import Crowd, Lane


class Player:
    def __init__(self, name: str, play: Callable[[int], None]) -> None:
        self.name, self._play, self.closed = name, play, False

    def play(self, task: int) -> Entry:
        self._play(task)
        return Entry("points", str(task), "survived" if task >= 0 else "lost")

    def close(self) -> None:
        self.closed = True


class Room:
    """A crowd, its players, and what was kept."""

    def __init__(self, play: Callable[[int], None] = lambda task: None, until: float = float("inf")) -> None:
        self.players, self.kept, self.halted = list[Player](), list[Entry](), threading.Event()

        def new(name: str) -> Player:
            self.players.append(Player(name, play))
            return self.players[-1]

        self.crowd = Crowd[int](until, new, self.halted.set, self.kept.append, lambda line: None)


def test_each_lane_has_workers_of_its_own_which_live_on_until_the_end() -> None:
    room = Room()
    assert room.crowd.play(Lane("engine", [1, 2, 3], 1), Lane("cli", [-4], 4)) == 1
    assert room.crowd.play(Lane("engine", [5], 2), Lane("cli", [], 2)) == 0
    assert sorted(player.name for player in room.players) in (["cli1", "engine2"], ["cli2", "engine1"])
    assert sorted(entry.key for entry in room.kept) == ["-4", "1", "2", "3", "5"]
    assert not any(player.closed for player in room.players)
    room.crowd.close()
    assert all(player.closed for player in room.players)


def test_a_worker_that_breaks_is_replaced_and_nothing_is_begun_once_the_time_is_over() -> None:
    def play(task: int) -> None:
        if task == 1:
            raise BenchError("it broke")

    room = Room(play)
    assert room.crowd.play(Lane("engine", [1, 2], 1)) == 1
    assert [player.closed for player in room.players] == [True, False]
    late = Room(until=time.monotonic() - 1)
    assert late.crowd.play(Lane("engine", [1, 2], 2)) == 0 and late.kept == []


def interrupt() -> None:
    """Ctrl-C while the main thread waits, of which the thread that calls this hears: the system may give it to any."""
    while sys._current_frames()[threading.main_thread().ident or 0].f_code.co_name != "play":
        time.sleep(0.01)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_interrupted_it_ends_what_it_plays_and_begins_nothing() -> None:
    """Clouds, engines and jobs used to stay behind."""
    both = threading.Barrier(2)

    def play(task: int) -> None:
        both.wait()
        if task == 1:
            interrupt()
        assert room.halted.wait(60)
        raise BenchError("the bench is being stopped")

    room = Room(play)
    with pytest.raises(KeyboardInterrupt):
        room.crowd.play(Lane("engine", [1, 3, 4], 1), Lane("cli", [2], 1))
    assert room.halted.is_set()
    assert room.kept == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "as it was"
