"""What a stack has spent in a month: pools by the machines that were up, jobs by whose they are. # N19"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.model.cluster import Adoption
from slipway.operating.history.ledger import ledger
from slipway.operating.history.model import History
from slipway.operating.history.usage import usage
from tests.slipway.operating.whatif.past import SINCE, cluster, history, job, pool, sampled

FIXED, ELASTIC = cluster("cpu", pool("workers", 2, 2)), cluster("gpu", pool("workers", 1, 4))
BESIDE = job("beside", 0, 0, 7200, capacity_type="spot", user="ben", team="speech")
ON_POOL = job("pool", 3600, 0, 3600, on=FIXED, user="ada", team="vision")


def test_it_is_what_usage_tells_of_the_month() -> None:
    past = history([BESIDE, ON_POOL], [FIXED], days=1)
    found, used = ledger(past), usage(past, "team")
    assert (found.month, found.complete) == ("2026-10", True)
    assert found.spent == pytest.approx(float(used.total.cost.known), abs=1e-3)
    assert found.teams == pytest.approx({one.name: float(one.cost.known) for one in used.rows}, abs=1e-3)
    assert set(found.users) == {"ada", "ben"} and sum(found.teams.values()) < found.spent
    assert found.forecast == pytest.approx(found.spent * 31, rel=1e-3), "each day of the month as the first"


def test_machines_that_nobody_counted_leave_it_incomplete() -> None:
    seen = sampled([(0, 3), (3600, 3), (7200, 1)], ELASTIC)
    found = ledger(history([], [ELASTIC], days=0.5, samples=seen))
    assert found.spent == pytest.approx((2 * 3 + 2 * 1) * 0.5) and not found.complete


def test_minutes_that_nobody_counted_leave_it_complete() -> None:
    seen = sampled([(600 if not hour else 3600.0 * hour, 1) for hour in range(24)], ELASTIC)
    assert ledger(history([], [ELASTIC], days=1, samples=seen)).complete


def test_whoever_made_an_adopted_cluster_pays_for_it() -> None:
    theirs = replace(cluster("theirs", pool("workers", 3, 3)), adopted=Adoption("team-a"))
    there = job("there", 0, 0, 7200, on=theirs, user="eve", team="other")
    past = history([ON_POOL, there], [FIXED, theirs, replace(ELASTIC, adopted=Adoption("team-a"))], days=1)
    found = ledger(past)
    assert found == ledger(history([ON_POOL], [FIXED], days=1)) and found.complete
    idle = {one.pool: one for one in usage(past).idle}
    assert idle["theirs/workers"].machine_hours == 3 * 24 - 2 and not idle["theirs/workers"].cost.known
    assert {one.name for one in usage(past).rows} == {"ada", "eve"}, "a job has its share, as jobs show tells it"


def test_nothing_of_another_month_counts() -> None:
    past = history([], [FIXED], days=2)
    later = History(**{**vars(past), "until": SINCE + timedelta(days=32), "since": SINCE + timedelta(days=20)})
    found = ledger(later)
    assert found.month == "2026-11" and found.spent == pytest.approx(24.0)


def test_the_very_beginning_of_a_month_has_no_forecast() -> None:
    assert ledger(history([], [FIXED], days=0.2)).forecast is None


def test_a_stack_of_two_days_is_not_forecast_by_the_days_before_it() -> None:
    """Its first week looked cheaper than it was, by as much as the stack was younger than a week."""
    past = history([], [FIXED], days=9)
    begun = SINCE + timedelta(days=7)
    found = ledger(replace(past, deployments=tuple(replace(one, at=begun) for one in past.deployments)))
    assert found.spent == pytest.approx(24 * 2) and found.forecast == pytest.approx(24 * (31 - 7))
    young = replace(
        past, deployments=tuple(replace(one, at=past.until - timedelta(hours=1)) for one in past.deployments)
    )
    assert ledger(young).forecast is None


def test_a_part_that_could_not_be_read_is_told() -> None:
    assert not ledger(replace(history([], [FIXED], days=1), unread=("samples",))).complete
