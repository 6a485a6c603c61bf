"""How long earlier jobs waited: from what is listed, and from no less than three."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.cloud.resources import CustomJob
from slipway.jobs.verdict import Outcome, Verdict
from slipway.submission.wait_history import WaitRange, earlier_filter, wait_range, with_wait_range

from .conftest import NOW, job


def earlier(seconds: float | None, *, capacity_type: str = "pool", on: str = "cpu-1", days: float = 1) -> CustomJob:
    """A job made so many days ago that started after `seconds`, or never."""
    made = NOW - timedelta(days=days)
    start = None if seconds is None else made + timedelta(seconds=seconds)
    return replace(job(on=on), create_time=made, start_time=start, labels={"slipway-capacity-type": capacity_type})


def test_the_range_is_from_the_shortest_to_the_longest_wait() -> None:  # Z3, N9
    found = wait_range([earlier(240), earlier(540), earlier(300)], "pool", "cpu-1", NOW)
    assert found == WaitRange(240, 540, 3)
    assert str(found) == "here: 4–9 min, 3 times in 30 days"


@pytest.mark.parametrize(
    ("shortest", "longest", "said"),
    [(2, 40, "2–40 s"), (960, 3 * 3600, "16 min–3 h"), (300, 302, "5 min"), (3600, 11520, "1 h–3 h 12 min")],
)
def test_units_are_said_once_where_they_are_the_same(shortest: float, longest: float, said: str) -> None:
    assert str(WaitRange(shortest, longest, 7)) == f"here: {said}, 7 times in 30 days"


def test_fewer_than_three_say_nothing() -> None:  # N9
    assert wait_range([earlier(240), earlier(540)], "pool", "cpu-1", NOW) is None
    assert wait_range([], "spot", "", NOW) is None


@pytest.mark.parametrize(
    "other",
    [
        earlier(9999, capacity_type="spot"),
        earlier(9999, on="cpu-2"),
        earlier(9999, days=31),
        earlier(None),
        replace(earlier(9999), create_time=None),
        replace(earlier(9999), labels={}),
    ],
    ids=["another capacity_type", "another cluster", "too old", "never started", "no creation", "not ours"],
)
def test_what_is_not_comparable_is_left_out(other: CustomJob) -> None:
    assert wait_range([earlier(1), other, earlier(2), earlier(3)], "pool", "cpu-1", NOW) == WaitRange(1, 3, 3)


@given(st.lists(st.floats(0, 86400), max_size=20))
def test_nothing_is_said_that_was_not_seen(seconds: list[float]) -> None:
    found = wait_range([earlier(one, capacity_type="spot", on="") for one in seconds], "spot", "", NOW)
    if found is None:
        assert len(seconds) < 3
    else:
        assert found.count == len(seconds)
        assert min(abs(found.shortest - one) for one in seconds) < 1e-3
        assert all(found.shortest - 1e-3 <= one <= found.longest + 1e-3 for one in seconds)


@pytest.mark.parametrize(
    ("capacity_type", "outcome", "told"),
    [
        ("pool", Outcome.SCALES, True),
        ("pool", Outcome.FULL, True),
        ("pool", Outcome.STARTS, False),
        ("pool", Outcome.NEVER, False),
        ("pool", Outcome.UNKNOWN, False),
        ("spot", Outcome.BESIDE, True),
        ("flex-start", Outcome.BESIDE, True),
        ("flex-start", Outcome.WAITS, True),
        ("flex-start", Outcome.NEVER, False),
        ("on-demand", Outcome.BESIDE, False),
    ],
)
def test_the_range_stands_where_machines_are_waited_for(capacity_type: str, outcome: Outcome, told: bool) -> None:
    verdict = Verdict(outcome, "the verdict", ("why",), holder="somebody")
    said = "the verdict (here: 4–9 min, 11 times in 30 days)" if told else "the verdict"
    assert with_wait_range(verdict, capacity_type, WaitRange(240, 540, 11)) == replace(verdict, text=said)
    assert with_wait_range(verdict, capacity_type, None) == verdict


def test_only_the_stacks_jobs_of_the_template_are_asked_for() -> None:
    assert earlier_filter("prod", "dask-digits") == (
        'labels.slipway-stack="prod" AND labels.slipway-template="dask-digits"'
    )
