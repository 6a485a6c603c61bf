"""`slipway usage` as people run it, on a local cloud whose clock is moved. # N19"""

import csv
import io
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli.terminal import usage_table
from slipway.model.budget import Budget, Ledger
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import hourly
from slipway.operating.history.model import History, MachinesUsed, PoolKey, PoolSample, Sample
from slipway.operating.history.usage import usage
from tests.slipway.operating.whatif.past import CPU, SINCE, cluster, history, job, pool

from .stack import Stack

pytestmark = pytest.mark.smoke

LONG_ENOUGH = ("-p", "code=import time; time.sleep(1)")
"""A shorter job on the smallest machine costs less than the last digit of a cost."""


def test_a_days_usage_agrees_with_what_jobs_show_of_each_job(moved: Stack) -> None:
    with moved.settings(quota={"custom_model_training_preemptible_cpus": 100}):
        for who, words in (("Ada", ()), ("Grace", ()), ("Grace", ("--capacity", "spot"))):
            moved.well("submit", "hello", *LONG_ENOUGH, *words, "--wait", SLIPWAY_USER=who)
    moved.well("record", role="deployer")
    moved.cloud.rest("POST", "/vertex-local/clock", {"advance": 3600})

    def told() -> Any:
        return moved.run("usage", "--since", "1d", "--output", "json").json

    moved.until(lambda: told()["idle"][0]["machineHours"] > 0.5)  # The date of answers follows the clock in a second.
    found = told()
    assert (found["kind"], found["by"], found["unread"]) == ("usage", "user", [])
    rows = {row["name"]: row for row in found["rows"]}
    assert {name: row["jobs"] for name, row in rows.items()} == {"ada": 1, "grace": 2}
    jobs = moved.run("jobs", "list", "--output", "json").json["jobs"]
    for name, row in rows.items():
        of_jobs = sum(Decimal(job["cost"]) for job in jobs if job["user"] == name)
        assert float(row["cost"]) == pytest.approx(float(of_jobs), abs=1e-5)
    assert rows["ada"]["besideCost"] == "0" and Decimal(rows["grace"]["besideCost"]) > 0

    (idle,) = found["idle"]
    assert idle["pool"] == "cpu/workers" and idle["unknownHours"] < 0.1
    assert 0.95 < idle["machineHours"] <= idle["liveMachineHours"] < 1.1, "one machine for the hour since the record"
    file = io.StringIO(moved.run("usage", "--since", "1d", "--by", "team", "--output", "csv").out)
    *parts, total = csv.DictReader(file)
    costs = (sum(float(row["cost"]) for row in parts), float(total["cost"]))
    assert costs == pytest.approx((float(found["total"]["cost"]),) * 2, rel=0.01), "a moment later"
    shown = moved.run("usage", "--since", "1d")
    names = [row["name"] for row in found["rows"]]  # The dearest first: how long a job runs differs.
    assert [line.split("  ")[0] for line in shown.out.splitlines()[1:]] == [*names, "idle cpu/workers", "total"]
    assert "does not tell who made a job" in shown.err


def test_what_nothing_is_counted_by_is_said_before_anything_is_read(standing: Stack) -> None:
    refused = standing.run("usage", "--by", "teams")
    assert refused.code == 2 and "--by team" in refused.err
    nothing = standing.well("usage", "--since", "1h", "--by", "label:cost-center")
    assert "not recorded" in nothing.out


H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
BIG = cluster("h100", replace(pool("workers", 1, 4, H100), price_per_hour=hourly(H100, "us-central1")))
SMALL = cluster("cpu", replace(pool("all", 2, 2, CPU), price_per_hour=hourly(CPU, "us-central1")))
NEW = cluster("new", pool("all", 0, 2, CPU))


def test_the_screen(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """Hostile names show as text."""
    row = MachinesUsed(H100, 1)
    jobs = [
        job("a", 0, 40, 7200, on=BIG, machines=(MachinesUsed(H100, 2, "workers"),), team="vision", busy=7200.0),
        job("b", 3600, 1320, 3600, on=SMALL, machines=(MachinesUsed(CPU, 2, "all"),), team="language", busy=3600.0),
        job("c", 0, 5, 600, machines=(row,), capacity_type="spot", team="vision", busy=600.0, lost=None),
        job("d", 9, 5, 60, on=SMALL, machines=(MachinesUsed(CPU, 1, "all"),), team="x\x1b[31m", busy=60.0),
        job("e", 9, 5, 60, machines=(MachinesUsed(CPU, 1),), capacity_type="reservation", busy=60.0),
    ]
    keys = {PoolKey(BIG.id, "workers"): PoolSample(2, 0), PoolKey(SMALL.id, "all"): PoolSample(2, 0)}
    records = tuple(Sample(SINCE + timedelta(hours=hour), keys) for hour in range(20))
    past = history(jobs, (BIG, SMALL, NEW), days=1, samples=records)
    for region in ("us-east4", "us-central1"):
        unread = replace(past, unread=(f"jobs in {region}: denied",), jobs_unread=frozenset({region}))
        usage_table.show(usage(unread, "team"), {})
        told = capsys.readouterr()
        assert f"{told.out}\n{told.err}" == snapshot(name=region)
    signs_of: tuple[tuple[History, set[str]], ...] = (
        (replace(past, samples=()), {"not recorded", "≤", "+ and ?"}),
        (history((), (BIG,), days=1), {"not recorded", "?"}),
        (history(jobs[1:2], (SMALL,), days=1, samples=records), set()),
    )
    for known, signs in signs_of:
        usage_table.show(usage(known, "label:x"), {})
        told = capsys.readouterr()
        assert {line.partition(":")[0] for line in told.err.splitlines()} == signs, told
    usage_table.show(usage(past, "pool"), {"h100": "vision"})
    names = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    usage_table.show(usage(past, "pool"), {}, replace(usage(past).total, name="sessions", jobs=2, machine_hours=2.05))
    assert "of these, sessions: 2 jobs, 2.0 machine hours, $" in capsys.readouterr().out
    assert "h100/workers (vision)" in names and "idle h100/workers (vision)" in names and "cpu/all" in names
    usage_table.show_csv(usage(unread, "team"))
    told = capsys.readouterr()
    assert f"{told.out}\n{told.err}" == snapshot(name="csv")


def test_what_is_spent_of_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger(SINCE, "2026-11", 900.0, forecast=1234.0, complete=False)
    usage_table.show_budget(Budget(stack=1000.0), ledger, "dev")
    told = capsys.readouterr()
    share, forecast = told.out.splitlines()
    assert share.startswith("! stack dev has spent $900 ") and forecast.endswith("as the last week was: $1,234")
    assert told.err.startswith("at least: some of this month is not known")
    usage_table.show_budget(Budget(stack=1000.0), replace(ledger, forecast=None, complete=True), "dev")
    assert capsys.readouterr() == (f"{share}\n", "")


@pytest.mark.parametrize("since", ["401d", "9999999999d", "soon", "-1d"])
def test_a_time_before_anything_is_kept_is_refused(standing: Stack, since: str) -> None:
    for verb in ("usage", "board"):
        done = standing.run(verb, "--since", since)
        assert done.code == 2 and "fault of slipway" not in done.err
