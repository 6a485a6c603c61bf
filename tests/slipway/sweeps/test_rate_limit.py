"""A sweep sends as fast as is permitted, and no faster."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.sweeps.rate_limit import WINDOW, RateLimiter, seconds_to_send


class Limit:
    """The service's rule: so many in any minute, counted when it gets them; refused ones are not counted."""

    def __init__(self, per_minute: int) -> None:
        self._limit, self._taken = per_minute, deque[float]()

    def take(self, now: float) -> bool:
        while self._taken and self._taken[0] <= now - WINDOW:
            self._taken.popleft()
        if len(self._taken) >= self._limit:
            return False
        self._taken.append(now)
        return True


def sent(
    count: int, pace: RateLimiter, limit: Limit, *, latency: float = 0.1, others: float = 0.0
) -> tuple[float, int]:
    """Seconds until `count` are accepted one after the other, and refusals. `others` submit so many a minute."""
    now, refusals, accepted, other_at = 0.0, 0, 0, 0.0
    while accepted < count:
        if others:
            while other_at <= now:
                limit.take(other_at)
                other_at += 60 / others
        wait = pace.wait(now)
        if wait > 0:
            now += min(max(wait, 0.001), 1.0)
            continue
        pace.sent()
        if limit.take(now + latency / 2):
            accepted += 1
            pace.answered(now + latency)
        else:
            refusals += 1
            pace.refused(now + latency, None)
        now += 0.01
    return now, refusals


@pytest.mark.parametrize("limit", [1, 60, 1000])
def test_alone_it_uses_the_whole_rate_and_is_never_refused(limit: int) -> None:  # N7
    count = 5 * limit
    seconds, refusals = sent(count, RateLimiter(limit), Limit(limit))
    assert refusals == 0
    assert seconds <= 1.05 * seconds_to_send(count, limit) + 0.02 * count


@given(latency=st.floats(0.0, 5.0), limit=st.integers(1, 40))
def test_whatever_the_latency_it_is_never_refused(latency: float, limit: int) -> None:  # N7
    assert sent(3 * limit, RateLimiter(limit), Limit(limit), latency=latency)[1] == 0


def test_beside_others_it_takes_what_is_left_and_loses_nothing() -> None:  # N7
    """Others use half of the rate: the other half is used, with a refusal now and then to see whether there is more."""
    seconds, refusals = sent(300, RateLimiter(60), Limit(60), others=30)
    assert refusals < 150
    assert seconds < 1.35 * 300 / 30 * 60


def test_when_others_stop_it_takes_the_rate_back() -> None:
    pace, limit = RateLimiter(60), Limit(60)
    for _ in range(55):
        limit.take(0.0)
    seconds, _ = sent(300, pace, limit)
    assert seconds < 1.4 * 300


def test_the_service_says_when_to_come_back() -> None:
    pace = RateLimiter(60)
    pace.sent()
    pace.refused(10.0, 7.0)
    assert pace.wait(10.0) == 7.0 and pace.wait(17.0) == 0.0


def test_many_refusals_at_once_are_one_piece_of_news() -> None:
    pace = RateLimiter(0)
    for _ in range(64):
        pace.sent()
    for _ in range(64):
        pace.refused(10.0, None)
    assert pace.wait(10.0) == 1.0


def test_while_all_that_is_permitted_is_under_way_only_an_answer_can_tell() -> None:
    pace = RateLimiter(1)
    pace.sent()
    assert pace.wait(5.0) == float("inf")
    pace.answered(6.0)
    assert WINDOW <= pace.wait(6.0) <= WINDOW + 0.1


def test_without_a_limit_nothing_waits() -> None:
    pace = RateLimiter(0)
    for _ in range(1000):
        assert pace.wait(0.0) == 0.0
        pace.sent()


@pytest.mark.parametrize(
    ("count", "per_minute", "seconds"),
    [(1, 60, 0), (60, 60, 0), (61, 60, 60), (1000, 60, 960), (1000, 0, 0), (0, 60, 0)],
)
def test_what_it_will_take(count: int, per_minute: int, seconds: float) -> None:
    assert seconds_to_send(count, per_minute) == seconds
