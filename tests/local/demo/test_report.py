"""What a journey shows is arithmetic over what the service told (B4, Z3, Z8)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from journey.budget import STORAGE_AND_CALLS, budget
from local.demo.play import Run
from local.demo.report import gain, table
from slipway.base.errors import PolicyError
from slipway.google.jobs import VertexJob
from slipway.model.prices import UNKNOWN, Bounds, Price
from slipway.using.jobs.cost import job_cost

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def run(label: str, wait: float | None, took: float = 8.0) -> Run:
    body: dict[str, object] = {
        "name": "projects/1/locations/us-central1/customJobs/1",
        "displayName": f"dask-digits-{label}",
        "state": "JOB_STATE_SUCCEEDED" if wait is not None else "JOB_STATE_CANCELLED",
        "createTime": NOON.isoformat(),
        "endTime": (NOON + timedelta(seconds=(wait or 0) + took)).isoformat(),
        "jobSpec": {"persistentResourceId": "cpu-1", "workerPoolSpecs": []},
    }
    if wait is not None:
        body["startTime"] = (NOON + timedelta(seconds=wait)).isoformat()
    job = VertexJob.read(body)
    return Run(label, job, job_cost(job, "us-central1", NOON), {"accuracy": 0.9722})


def test_the_table_has_a_line_a_run_and_a_column_for_what_jobs_measure() -> None:  # B4
    lines = table([run("first", 6.4), run("second", 1.2)])
    assert len(lines) == 3 and "MEASURED" in lines[0]
    assert "6.4 s" in lines[1] and "0.972" in lines[1] and "1.2 s" in lines[2]
    first = run("first", 6.4)
    assert table([replace(first, metrics={})])[0].endswith("MACHINE COST")
    little = replace(first, account=replace(first.account, cost=Price(Decimal("0.00003"))))
    assert "under $0.0001" in table([little])[1] and "$0.0000" not in table([little])[1]


def test_the_gain_is_the_difference_and_is_named_as_what_it_is() -> None:  # B4
    line = gain(run("first", 6.0), run("second", 1.5), "a local figure")
    assert "4.5 s sooner" in line
    assert "4.0 times" in line
    assert "a local figure" in line


def test_no_gain_is_claimed_where_there_is_none() -> None:  # B4
    assert "did not start sooner" in gain(run("first", 6.0), run("second", 6.0), "here")
    assert "can't be compared" in gain(run("first", None), run("second", 1.0), "here")


def test_the_ceiling_of_money_holds_for_all_pools_at_their_maximum() -> None:  # N15
    allowed = budget(Bounds(Price(Decimal("0.5")), Price(Decimal("1.2"))), 60, Decimal(2))
    assert allowed.most == Decimal("1.2") + STORAGE_AND_CALLS
    with pytest.raises(PolicyError, match="ceiling is"):
        budget(Bounds(Price(Decimal("0.5")), Price(Decimal("2.0"))), 60, Decimal(2))


def test_no_price_no_journey() -> None:  # N15
    some = Price(Decimal("0.5"), complete=False)
    for price in (UNKNOWN, some):
        with pytest.raises(PolicyError, match="price"):
            budget(Bounds(price, price), 60, Decimal(2))
