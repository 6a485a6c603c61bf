"""When a full pool may have room, from how long such jobs ran before: a range, or nothing. # N16, N9"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.google.jobs import VertexJob
from slipway.using.jobs.usual_end import UsualRoom, usual_room
from tests.slipway.using.submission.conftest import N1, NOW, cluster, demand, job, pool

LABELS = {"slipway-capacity-type": "pool", "slipway-template": "tune"}


def holder(name: str, minutes: float, machines: int = 1, template: str = "tune") -> VertexJob:
    return replace(job(name, machines, minutes=minutes), labels={**LABELS, "slipway-template": template})


def ended(minutes: float, machines: int = 1, template: str = "tune") -> VertexJob:
    """A job of yesterday that ran for so long."""
    begin = NOW - timedelta(days=1)
    one = replace(holder(f"{template}-{minutes}-{machines}", 0, machines, template), state="JOB_STATE_SUCCEEDED")
    return replace(one, start_time=begin, end_time=begin + timedelta(minutes=minutes))


def room(*active: VertexJob, runs: tuple[VertexJob, ...], asks: int = 1) -> tuple[float, float | None] | None:
    """The range in minutes from now, on a pool of two machines that are busy."""
    there = cluster(pool(replicas=2, used=2, most=2))
    found = usual_room(demand(("workers", "workers", N1, asks)), there, active, runs, NOW)
    if found is None:
        return None
    minutes = [None if at is None else (at - NOW).total_seconds() / 60 for at in (found.earliest, found.latest)]
    assert minutes[0] is not None
    return minutes[0], minutes[1]


HOUR = tuple(ended(minutes) for minutes in (60, 70, 80, 90))


def test_the_first_of_the_jobs_to_end_makes_room() -> None:
    assert room(holder("a", 30), holder("b", 10), runs=HOUR) == (40, 60)
    assert room(holder("a", 30), holder("b", 10), runs=HOUR, asks=2) == (60, 80)


def test_a_job_that_runs_longer_than_some_is_compared_with_those_that_did_too() -> None:
    assert room(holder("a", 65, 2), runs=tuple(ended(minutes, 2) for minutes in (10, 20, 70, 80, 90))) == (5, 25)


@pytest.mark.parametrize(
    ("active", "runs"),
    [
        ((holder("a", 30, 2),), HOUR),  # Nobody knows how long it runs on two machines.
        ((holder("a", 30), holder("b", 30, template="other")), HOUR),  # b may end at any moment.
        ((holder("a", 85), holder("b", 85)), HOUR),  # They run longer than such jobs do.
        ((), HOUR),  # Who holds the machines is not listed.
        ((holder("a", 30, 2),), tuple(ended(minutes, 2) for minutes in (60, 70))),
        (
            (replace(holder("a", 30, 2), persistent_resource_id="other"),),
            tuple(ended(minutes, 2) for minutes in (60, 70, 80)),
        ),
    ],
)
def test_nothing_is_said_where_it_is_not_known(active: tuple[VertexJob, ...], runs: tuple[VertexJob, ...]) -> None:
    assert room(*active, runs=runs) is None


def test_an_unknown_end_leaves_the_range_open() -> None:
    """Both have to end, and one of them may run for ever."""
    assert room(holder("a", 30), holder("b", 30, template="other"), runs=HOUR, asks=2) == (40, None)


@given(st.lists(st.floats(1, 500), min_size=1, max_size=12), st.integers(0, 120))
def test_the_range_is_after_now_and_in_order(minutes: list[float], age: int) -> None:
    found = room(holder("a", age, 2), runs=tuple(ended(one, 2) for one in minutes))
    assert found is None or (found[0] > 0 and found[1] is not None and found[0] <= found[1])


def test_a_pool_with_room_says_nothing() -> None:
    there = cluster(pool(replicas=2, used=1, most=2))
    assert usual_room(demand(("workers", "workers", N1, 1)), there, (holder("a", 30),), HOUR, NOW) is None


def test_the_range_in_words(snapshot: SnapshotAssertion) -> None:
    soon, late = NOW + timedelta(minutes=25), NOW + timedelta(minutes=70)
    assert str(UsualRoom(NOW, soon, late)) == snapshot
    far = UsualRoom(NOW, NOW + timedelta(hours=20), None)
    assert str(far) == "not before about 2026-11-21 08:00 UTC (in 20 h), as such jobs usually run"
