"""The charges of a stack: shares of its pools' cost, jobs by their people, and a month of all that. # N19"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.model.cluster import Adoption
from slipway.model.prices import Price, hourly
from slipway.operating.history.charges import IdleRow, idle_charges, job_charges
from slipway.operating.history.ledger import ledger
from slipway.operating.history.model import History, MachinesUsed, PastJob, Sample
from slipway.operating.history.timeline import timelines
from slipway.operating.history.usage import usage
from tests.slipway.operating.whatif.past import CPU, SINCE, cluster, history, job, pool, sampled

EACH = hourly(CPU, "us-central1")
FIXED = cluster("cpu", replace(pool("all", 4, 4), price_per_hour=EACH))
GROWING = cluster("cpu", replace(pool("all", 1, 4), price_per_hour=EACH))
HOUR = 3600.0
DAY = timedelta(days=1)


def ran(begin: float, hours: float | None, machines: int = 1, *, on: object = FIXED, **more: object) -> PastJob:
    """A job on the pool, in hours since SINCE; with None it goes on."""
    end = None if hours is None else hours * HOUR
    busy = (24 - begin) * HOUR if hours is None else end
    used = (MachinesUsed(CPU, machines, "all"),)
    return job(f"j{begin}", begin * HOUR, 0, end, on=on, machines=used, **{"busy": busy, **more})  # type: ignore[arg-type]


def day(jobs: Iterable[PastJob], of: object = FIXED, samples: tuple[Sample, ...] = ()) -> History:
    return history(jobs, (of,), days=1, samples=samples)  # type: ignore[arg-type]


def idle(of: History, begin: datetime | None = None, end: datetime | None = None) -> IdleRow:
    (found,) = idle_charges(timelines(of), of.jobs, begin or of.since, end or of.until, of.until)
    return found


def hours(of: History, begin: datetime | None = None, end: datetime | None = None) -> float:
    return sum(charge.hours for charge in job_charges(of.jobs, begin or of.since, end or of.until, of.until))


def test_machines_that_no_job_had_are_idle() -> None:
    past = day([ran(2, 10, 3), ran(4, 2)])
    row = idle(past)
    assert (row.machine_hours, row.live_machine_hours, row.known_hours, row.unknown_hours) == (96 - 30 - 2, 96, 24, 0)
    assert row.cost == EACH * Decimal(64)
    assert hours(past) == 32


def test_a_job_that_goes_on_has_its_machines_until_now() -> None:
    past = day([ran(20, None, 4)])
    assert idle(past).machine_hours == 80 and hours(past) == 16


def test_where_nobody_recorded_machines_idle_ones_are_unknown() -> None:
    past = day([ran(1, 1, on=GROWING)], GROWING, sampled(((0, 2), (HOUR, 3)), GROWING))
    row = idle(past)
    assert (row.live_machine_hours, row.known_hours, row.unknown_hours) == (2 + 3 * 2, 3, 21), (
        "a record holds for two hours"
    )
    assert row.machine_hours == 2 + 2 + 3


def test_a_cost_lacks_what_nobody_recorded_where_that_is_noticed() -> None:
    seen = sampled([(hour * HOUR, 2) for hour in range(24)], GROWING)
    assert idle(day([], GROWING, seen)).cost == EACH * 48
    row = idle(day([], GROWING, seen[1:]))
    assert row.unknown_hours == 1 and row.cost == replace(EACH * 46, complete=False)
    late = replace(seen[0], at=SINCE + timedelta(minutes=10))
    assert idle(day([], GROWING, (late, *seen[1:]))).cost.complete, "ten minutes of a day"
    assert idle(day([], replace(GROWING, adopted=Adoption("team-a")))).cost == Price(), "whoever made it pays for it"


def test_jobs_that_could_not_be_read_may_have_had_what_idles() -> None:
    past = replace(day([ran(0, 24, 3)]), jobs_unread=frozenset({"us-central1"}))
    row = idle(past)
    assert row.at_most and row.cost == replace(EACH * 24, at_most=True)
    assert not idle(replace(past, jobs_unread=frozenset({"us-east4"}))).at_most
    busy = idle(replace(past, jobs=(ran(0, 24, 4),)))
    assert not busy.at_most and busy.cost == Price(), "less than none can't be"


def test_trials_hold_machines_for_their_own_time() -> None:  # Z3
    past = day([ran(0, 10, 4, busy=5 * HOUR)])
    assert hours(past) == 20 and idle(past).machine_hours == 96 - 20


def test_a_run_of_which_nobody_knows_its_preemptions_costs_at_most_that() -> None:  # X7
    spot = replace(ran(0, 1), capacity_type="spot", cluster_id="", cluster="", lost=None)
    (charge,) = job_charges((spot,), SINCE, SINCE + DAY, SINCE + DAY)
    assert charge.cost.at_most and charge.cost.known < EACH.known
    assert not list(job_charges((ran(-9, 1),), SINCE, SINCE + DAY, SINCE + DAY)), "it ended before"


RUNS = st.lists(
    st.one_of(
        st.tuples(st.floats(-20, 30), st.floats(0, 30), st.integers(1, 3)),
        st.tuples(st.floats(-20, 23), st.none(), st.integers(1, 3)),
    ),
    max_size=8,
)


@given(RUNS, st.lists(st.tuples(st.floats(0, 24), st.integers(0, 4)), max_size=6), st.booleans())
def test_parts_of_a_time_are_the_whole(
    runs: list[tuple[float, float | None, int]], live: list[tuple[float, int]], fixed: bool
) -> None:
    """By day or all at once, the same is charged; and what is idle is never more than what is up."""
    of = FIXED if fixed else GROWING
    jobs = [ran(begin, length, count, on=of) for begin, length, count in dict.fromkeys(runs)]
    past = day(jobs, of, sampled(sorted({at * HOUR: count for at, count in live}.items()), of))
    cuts = [past.since, *(past.since + timedelta(hours=at) for at in (5, 5.5, 17)), past.until]
    parts = list(pairwise(cuts))
    whole = idle(past)
    assert sum(hours(past, *part) for part in parts) == pytest.approx(hours(past))
    assert sum(idle(past, *part).machine_hours for part in parts) == pytest.approx(whole.machine_hours, abs=1e-6)
    assert sum(idle(past, *part).live_machine_hours for part in parts) == pytest.approx(whole.live_machine_hours)
    assert whole.known_hours + whole.unknown_hours == pytest.approx(24)
    assert 0 <= whole.machine_hours <= whole.live_machine_hours + 1e-6
    if fixed and not live:
        assert whole.machine_hours >= 96 - hours(past) - 1e-6, "nobody pays for less than there was"
        assert whole.unknown_hours == 0


TWO, ELASTIC = cluster("cpu", pool("workers", 2, 2)), cluster("gpu", pool("workers", 1, 4))
BESIDE = job("beside", 0, 0, 7200, capacity_type="spot", user="ben", team="speech")
ON_POOL = job("pool", 3600, 0, 3600, on=TWO, user="ada", team="vision")


def test_it_is_what_usage_tells_of_the_month() -> None:
    past = history([BESIDE, ON_POOL], [TWO], days=1)
    found, used = ledger(past), usage(past, "team")
    assert (found.month, found.complete) == ("2026-10", True)
    assert found.spent == pytest.approx(float(used.total.cost.known), abs=1e-3)
    assert found.teams == pytest.approx({row.name: float(row.cost.known) for row in used.rows}, abs=1e-3)
    assert set(found.users) == {"ada", "ben"} and sum(found.teams.values()) < found.spent
    assert found.forecast == pytest.approx(found.spent * 31, rel=1e-3), "each day of the month as the first"


def test_machines_that_nobody_counted_leave_it_incomplete() -> None:
    seen = sampled([(0, 3), (3600, 3), (7200, 1)], ELASTIC)
    book = ledger(history([], [ELASTIC], days=0.5, samples=seen))
    assert book.spent == pytest.approx((2 * 3 + 2 * 1) * 0.5) and not book.complete
    minutes = sampled([(600 if not hour else 3600.0 * hour, 1) for hour in range(24)], ELASTIC)
    counted = history([], [ELASTIC], days=1, samples=minutes)
    assert ledger(counted).complete and not ledger(replace(counted, unread=("samples",))).complete


def test_whoever_made_an_adopted_cluster_pays_for_it_and_nothing_of_another_month_counts() -> None:
    theirs = replace(cluster("theirs", pool("workers", 3, 3)), adopted=Adoption("team-a"))
    there = job("there", 0, 0, 7200, on=theirs, user="eve", team="other")
    assert ledger(history([ON_POOL, there], [TWO, theirs], days=1)) == ledger(history([ON_POOL], [TWO], days=1))
    later = replace(history([], [TWO]), since=SINCE + timedelta(days=20), until=SINCE + timedelta(days=32))
    assert ledger(later).month == "2026-11" and ledger(later).spent == pytest.approx(24.0)


def test_a_stack_of_two_days_is_not_forecast_by_the_days_before_it() -> None:
    """The stack's first week looked cheaper than it was, by as much as the stack was younger than a week."""
    past = history([], [TWO], days=9)
    begun = SINCE + timedelta(days=7)
    book = ledger(replace(past, deployments=tuple(replace(deployment, at=begun) for deployment in past.deployments)))
    assert book.spent == pytest.approx(24 * 2) and book.forecast == pytest.approx(24 * (31 - 7))
    young = replace(
        past,
        deployments=tuple(replace(deployment, at=past.until - timedelta(hours=1)) for deployment in past.deployments),
    )
    assert ledger(young).forecast is None
