"""What a job used of its machines, as rows in the order of its replicas."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.cloud.jobs import VertexJob, WorkerPool
from slipway.cloud.monitoring import ACCELERATOR, ACCELERATOR_MEMORY, CPU, MEMORY, Point, Series
from slipway.cloud.trials import Trial
from slipway.jobs.utilization import UtilizationRow, period_of, rows_of
from slipway.kinds import TUNING_JOB
from slipway.machines.spec import MachineSpec

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
L4 = MachineSpec("g2-standard-4", "NVIDIA_L4", 1)
JOB = replace(
    VertexJob.read({"name": "projects/1/locations/r/customJobs/7", "displayName": "digits"}),
    worker_pools=(WorkerPool(L4, 1), WorkerPool(L4, 12)),
    labels={"slipway-roles": "chief_workers"},
)


def series(metric: str, task: str, accelerator: str = "", *values: float, job: str = "7") -> Series:
    points = tuple(Point(NOW + timedelta(minutes=n), value) for n, value in enumerate(values or (0.5,)))
    return Series(metric, job, task, accelerator, points)


def test_rows_stand_in_the_order_of_pools_replicas_and_accelerators() -> None:  # Z5
    found = [
        series(ACCELERATOR_MEMORY, "workerpool1-2", "0"),
        series(CPU, "workerpool1-10"),
        series(ACCELERATOR, "workerpool1-2", "1"),
        series(ACCELERATOR, "workerpool1-2", "0"),
        series(MEMORY, "workerpool0-0"),
        series(CPU, "workerpool1-2"),
        series(CPU, "workerpool0-0"),
    ]
    assert [(row.role, row.what) for row in rows_of(found, JOB)] == [
        ("chief", "cpu"),
        ("chief", "memory"),
        ("workers-2", "cpu"),
        ("workers-2", "gpu 0"),
        ("workers-2", "gpu 0 memory"),
        ("workers-2", "gpu 1"),
        ("workers-10", "cpu"),
    ]


def test_the_rows_of_trials_have_their_numbers() -> None:
    tried = tuple(
        Trial(id_, "ACTIVE", {}, {}, f"projects/1/locations/r/customJobs/{job}")
        for id_, job in (("1", "9"), ("2", "8"))
    )
    tuned = replace(JOB, kind=TUNING_JOB, tried=tried)
    found = [series(CPU, "workerpool0-0", job=job) for job in ("8", "9")]
    assert [row.role for row in rows_of(found, tuned)] == ["1/chief", "2/chief"]


def test_last_mean_and_max_are_of_the_samples() -> None:
    row = UtilizationRow.of("chief", "cpu", series(CPU, "workerpool0-0", "", 0.2, 0.9, 0.4))
    assert (row.last, round(row.mean, 9), row.max) == (0.4, 0.5, 0.9)


@pytest.mark.parametrize(
    ("length", "period"),
    [
        (timedelta(0), 0),
        (timedelta(hours=4), 0),
        (timedelta(hours=4, seconds=1), 120),
        (timedelta(hours=12), 180),
        (timedelta(days=7), 42 * 60),
    ],
)
def test_a_long_run_is_read_as_means_of_whole_minutes(length: timedelta, period: int) -> None:
    assert period_of(length) == period


def test_what_is_no_number_is_no_point() -> None:
    def point(minute: int, value: object) -> dict[str, object]:
        return {"interval": {"endTime": f"2026-11-20T12:{minute:02}:00Z"}, "value": {"doubleValue": value}}

    values = [0.5, "NaN", math.inf, None]
    found = Series.read({"points": [point(minute, value) for minute, value in enumerate(values)]})
    assert [one.value for one in found.points] == [0.5]
