"""Waits and ends that earlier jobs tell of: from what is comparable, no less than three, and a range. # N16"""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.earlier_jobs import Times, wait_times
from slipway.using.jobs.usual_end import UsualRoom, usual_room
from slipway.using.jobs.verdict import Outcome
from tests.builders.place import NOW
from tests.builders.pools import CPU, HEAD, resource_pool
from tests.slipway.using.submission.conftest import cluster, demand, job

THERE = cluster(resource_pool(replicas=2, used=2, high=2))
ONE = demand(("workers", "workers", CPU, 1))
_names = count()


def earlier(
    seconds: float | None,
    *,
    capacity_type: str = "pool",
    on: str = "cpu-1",
    days: float = 1,
    machine: MachineSpec = CPU,
) -> VertexJob:
    """A job made so many days ago that started after `seconds`, or never, and has ended."""
    made = NOW - timedelta(days=days)
    start = None if seconds is None else made + timedelta(seconds=seconds)
    labels = {"slipway-capacity-type": capacity_type}
    ended = job(f"job-{next(_names)}", machine=machine, on=on, state="SUCCEEDED")
    return replace(ended, create_time=made, start_time=start, end_time=NOW, labels=labels)


def holder(machines: int = 2, until: datetime | None = None) -> VertexJob:
    """A job of somebody else's that was there all the time."""
    return replace(job("holder", machines), labels={}, start_time=NOW - timedelta(days=40), end_time=until)


def waits(
    *jobs: VertexJob,
    capacity_type: str = "pool",
    on: PersistentResource | None = THERE,
    outcome: Outcome = Outcome.FULL,
) -> Times | None:
    return wait_times(jobs, capacity_type, ONE, outcome, on, NOW)


def spot(*jobs: VertexJob) -> Times | None:
    return waits(*jobs, capacity_type="spot", on=None, outcome=Outcome.BESIDE)


def test_the_range_is_from_the_shortest_to_the_longest_wait() -> None:  # Z3, N9
    seconds = waits(holder(), earlier(240), earlier(540), earlier(300))
    assert seconds == Times(240, 540, 3)
    assert str(seconds) == "4–9 min (3 earlier runs in 30 days)"


@pytest.mark.parametrize(
    ("shortest", "longest", "said"),
    [(2, 40, "2–40 s"), (960, 3 * 3600, "16 min–3 h"), (300, 302, "5 min"), (3600, 11520, "1 h–3 h 12 min")],
)
def test_units_are_said_once_where_they_are_the_same(shortest: float, longest: float, said: str) -> None:
    assert Times(shortest, longest, 7).between == said


def test_fewer_than_three_say_nothing() -> None:  # N9
    assert waits(holder(), earlier(240), earlier(540)) is None
    assert spot() is None


@pytest.mark.parametrize(
    "other",
    [
        earlier(9999, capacity_type="spot"),
        earlier(9999, on="cpu-2"),
        earlier(9999, days=31),
        earlier(None),
        replace(earlier(9999), create_time=None),
        replace(earlier(9999), labels={}),
        earlier(9999, machine=HEAD),
        earlier(9999, machine=replace(CPU, accelerator="NVIDIA_TESLA_T4", accelerator_count=1)),
    ],
)
def test_what_is_not_comparable_is_left_out(other: VertexJob) -> None:
    assert waits(holder(), earlier(1), other, earlier(2), earlier(3)) == Times(1, 3, 3)


def test_a_wait_is_told_of_a_pool_that_was_as_it_is_now() -> None:  # N9
    """Beside *pool full* no wait that was measured on a free pool; nor beside *scales up* one on machines it keeps."""
    three = [earlier(ended) for ended in (2, 3, 4)]
    full, grows = Outcome.FULL, Outcome.SCALES
    assert waits(*three, outcome=full) is None and waits(*three, outcome=grows) is None
    assert waits(holder(2), *three, outcome=full) == Times(2, 4, 3)
    assert waits(holder(1), *three, outcome=full) is None
    assert waits(holder(1), *three, outcome=grows) == Times(2, 4, 3)
    assert waits(holder(2), *three, outcome=grows) is None
    assert waits(holder(2, until=NOW - timedelta(days=2)), *three, outcome=full) is None


@pytest.mark.parametrize(
    ("capacity_type", "outcome", "told"),
    [
        ("pool", Outcome.SCALES, True),
        ("pool", Outcome.FULL, True),
        ("pool", Outcome.STARTS, False),
        ("pool", Outcome.UNKNOWN, False),
        ("spot", Outcome.BESIDE, True),
        ("flex-start", Outcome.BESIDE, True),
        ("flex-start", Outcome.WAITS, True),
        ("flex-start", Outcome.NEVER, False),
        ("on-demand", Outcome.BESIDE, False),
    ],
)
def test_the_range_stands_where_machines_are_waited_for(capacity_type: str, outcome: Outcome, told: bool) -> None:
    on = THERE if capacity_type == "pool" else None
    there = [holder(1 if outcome is Outcome.SCALES else 2)] if on else []
    three = [earlier(wait, capacity_type=capacity_type, on=on.id if on else "") for wait in (240, 300, 540)]
    times = waits(*there, *three, capacity_type=capacity_type, on=on, outcome=outcome)
    assert times == (Times(240, 540, 3) if told else None)
    assert Times(240, 540, 11).here == "(here: 4–9 min, 11 times in 30 days)"


LABELS = {"slipway-capacity-type": "pool", "slipway-template": "tune"}


def taker(name: str, minutes: float, machines: int = 1, template: str = "tune") -> VertexJob:
    return replace(job(name, machines, minutes=minutes), labels={**LABELS, "slipway-template": template})


def ended(minutes: float, machines: int = 1, template: str = "tune") -> VertexJob:
    """A job of yesterday that ran for so long."""
    begin = NOW - timedelta(days=1)
    ended = replace(taker(f"{template}-{minutes}-{machines}", 0, machines, template), state="JOB_STATE_SUCCEEDED")
    return replace(ended, start_time=begin, end_time=begin + timedelta(minutes=minutes))


def room(*active: VertexJob, runs: tuple[VertexJob, ...], asks: int = 1) -> tuple[float, float | None] | None:
    """The range in minutes from now, on a pool of two machines that are busy."""
    there = cluster(resource_pool(replicas=2, used=2, high=2))
    usual = usual_room(demand(("workers", "workers", CPU, asks)), there, active, runs, NOW)
    if usual is None:
        return None
    minutes = [None if at is None else (at - NOW).total_seconds() / 60 for at in (usual.earliest, usual.latest)]
    assert minutes[0] is not None
    return minutes[0], minutes[1]


HOUR = tuple(ended(minutes) for minutes in (60, 70, 80, 90))


def test_the_first_of_the_jobs_to_end_makes_room() -> None:
    assert room(taker("a", 30), taker("b", 10), runs=HOUR) == (40, 60)
    assert room(taker("a", 30), taker("b", 10), runs=HOUR, asks=2) == (60, 80)


def test_a_job_that_runs_longer_than_some_is_compared_with_those_that_did_too() -> None:
    assert room(taker("a", 65, 2), runs=tuple(ended(minutes, 2) for minutes in (10, 20, 70, 80, 90))) == (5, 25)


@pytest.mark.parametrize(
    ("active", "runs"),
    [
        ((taker("a", 30, 2),), HOUR),  # Nobody knows how long it runs on two machines.
        ((taker("a", 30), taker("b", 30, template="other")), HOUR),  # b may end at any moment.
        ((taker("a", 30, template=""),), tuple(ended(minutes, template="") for minutes in (60, 70, 80))),
        ((), HOUR),  # Who holds the machines is not listed.
        ((taker("a", 30, 2),), tuple(ended(minutes, 2) for minutes in (60, 70))),
        (
            (replace(taker("a", 30, 2), persistent_resource_id="other"),),
            tuple(ended(minutes, 2) for minutes in (60, 70, 80)),
        ),
    ],
)
def test_nothing_is_said_where_it_is_not_known(active: tuple[VertexJob, ...], runs: tuple[VertexJob, ...]) -> None:
    assert room(*active, runs=runs) is None


def test_an_unknown_end_leaves_the_range_open() -> None:
    """Both have to end, and one of them may run for ever."""
    assert room(taker("a", 30), taker("b", 30, template="other"), runs=HOUR, asks=2) == (40, None)


@given(st.lists(st.floats(1, 500), min_size=1, max_size=12), st.integers(0, 120))
def test_the_range_is_after_now_and_in_order(minutes: list[float], age: int) -> None:
    usual = room(taker("a", age, 2), runs=tuple(ended(minute, 2) for minute in minutes))
    assert usual is None or (usual[0] > 0 and usual[1] is not None and usual[0] <= usual[1])


def test_a_pool_with_room_says_nothing() -> None:
    there = cluster(resource_pool(replicas=2, used=1, high=2))
    assert usual_room(demand(("workers", "workers", CPU, 1)), there, (taker("a", 30),), HOUR, NOW) is None


def test_the_range_in_words() -> None:
    soon, late = NOW + timedelta(minutes=25), NOW + timedelta(minutes=70)
    said = "not before about 09:25 UTC (in 25 min–1 h 10 min), as such jobs usually run"
    assert str(UsualRoom(NOW, soon, late)) == said
    far = UsualRoom(NOW, NOW + timedelta(hours=20), None)
    assert str(far) == "not before about 2026-11-22 05:00 UTC (in 20 h), as such jobs usually run"
