"""The one loop that waits: how long it pauses, and when it gives up. # N9"""

from __future__ import annotations

from math import inf

import pytest

from slipway.clock import poll


class Time:
    """A clock that pauses and looks alone move."""

    def __init__(self) -> None:
        self.seconds, self.pauses = 100.0, list[float]()

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        self.pauses.append(seconds)

    def now(self) -> float:
        return self.seconds


@pytest.mark.parametrize(
    ("first", "longest", "within", "pauses"),
    [
        (1.0, 4.0, 12.0, [1.0, 2.0, 4.0, 4.0, 1.0]),
        (5.0, 0.0, 12.0, [5.0, 5.0, 2.0]),
        (1.0, 4.0, 0.0, []),
    ],
)
@pytest.mark.parametrize("clock", [True, False])
def test_pauses_double_and_never_exceed_what_is_left(
    first: float, longest: float, within: float, pauses: list[float], clock: bool
) -> None:
    time = Time()
    spent = list(poll(time.pause, first, longest, within=within, now=time.now if clock else None))
    assert time.pauses == pauses and spent == [0.0, *(sum(pauses[:n]) for n in range(1, len(pauses) + 1))]


def test_what_a_look_takes_counts_by_a_clock_alone() -> None:
    time, looks = Time(), 0
    for _ in poll(time.pause, 1.0, within=10.0, now=time.now):
        looks, time.seconds = looks + 1, time.seconds + 6.0
    assert looks == 2
    turns = poll(time.pause, 1.0, 2.0, within=inf)
    assert [next(turns) for _ in range(4)] == [0.0, 1.0, 3.0, 5.0]
