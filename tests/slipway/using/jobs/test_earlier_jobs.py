"""How long earlier jobs waited: from what is listed, from what is comparable, and from no less than three."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.earlier_jobs import Expected, Times, wait_times, with_wait_times
from slipway.using.jobs.verdict import Outcome, Verdict
from tests.slipway.using.submission.conftest import HEAD, N1, NOW, cluster, demand, job, pool

THERE = cluster(pool(replicas=2, used=2, most=2))
ONE = demand(("workers", "workers", N1, 1))
_names = count()


def earlier(
    seconds: float | None,
    *,
    capacity_type: str = "pool",
    on: str = "cpu-1",
    days: float = 1,
    machine: MachineSpec = N1,
) -> VertexJob:
    """A job made so many days ago that started after `seconds`, or never, and has ended."""
    made = NOW - timedelta(days=days)
    start = None if seconds is None else made + timedelta(seconds=seconds)
    labels = {"slipway-capacity-type": capacity_type}
    one = job(f"job-{next(_names)}", machine=machine, on=on, state="JOB_STATE_SUCCEEDED")
    return replace(one, create_time=made, start_time=start, end_time=NOW, labels=labels)


def holder(machines: int = 2, until: datetime | None = None) -> VertexJob:
    """A job of somebody else's that was there all the time."""
    return replace(job("holder", machines), labels={}, start_time=NOW - timedelta(days=40), end_time=until)


def waits(
    *jobs: VertexJob,
    capacity_type: str = "pool",
    on: PersistentResource | None = THERE,
    outcome: Outcome = Outcome.FULL,
) -> Times | None:
    return wait_times(jobs, Expected(capacity_type, ONE, outcome, on), NOW)


def spot(*jobs: VertexJob) -> Times | None:
    return waits(*jobs, capacity_type="spot", on=None, outcome=Outcome.BESIDE)


def test_the_range_is_from_the_shortest_to_the_longest_wait() -> None:  # Z3, N9
    found = waits(holder(), earlier(240), earlier(540), earlier(300))
    assert found == Times(240, 540, 3)
    assert str(found) == "4–9 min (3 earlier runs in 30 days)"


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
        earlier(9999, machine=replace(N1, accelerator="NVIDIA_TESLA_T4", accelerator_count=1)),
    ],
)
def test_what_is_not_comparable_is_left_out(other: VertexJob) -> None:
    assert waits(holder(), earlier(1), other, earlier(2), earlier(3)) == Times(1, 3, 3)


def test_a_wait_is_told_of_a_pool_that_was_as_it_is_now() -> None:  # N9
    """Beside *pool full* no wait that was measured on a free pool; nor beside *scales up* one on machines it keeps."""
    three = [earlier(one) for one in (2, 3, 4)]
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
    verdict = Verdict(outcome, "the verdict", ("why",), holder="somebody")
    said = "the verdict (here: 4–9 min, 11 times in 30 days)" if told else "the verdict"
    assert with_wait_times(verdict, capacity_type, Times(240, 540, 11)) == replace(verdict, text=said)
    assert with_wait_times(verdict, capacity_type, None) == verdict
