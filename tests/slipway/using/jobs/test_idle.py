"""Idle accelerators: for how long, what it cost, and what nobody measured. # Z5 N19"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from slipway.google.jobs import VertexJob
from slipway.google.monitoring import ACCELERATOR, CPU, Point, Series
from slipway.google.worker_pools import WorkerPool
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import UNKNOWN, Price
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.idle import IdleAccelerators, idle_accelerators, idle_words
from slipway.using.jobs.utilization import Utilization, rows_of
from tests.builders import jobs

BEGIN = datetime(2025, 1, 17, 13, 11, 59, tzinfo=UTC)
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
L4 = MachineSpec("g2-standard-12", "NVIDIA_L4", 1, Disk("pd-ssd", 100))
CPUS = MachineSpec("n1-standard-8", disk=Disk("pd-ssd", 100))


def job(*pools: WorkerPool, minutes: float = 58) -> VertexJob:
    made = jobs.job(
        "gemma2-lora",
        on="h100-1",
        state="SUCCEEDED",
        worker_pools=pools or (WorkerPool(H100, 1),),
        create_time=BEGIN - timedelta(minutes=16),
        start_time=BEGIN,
        end_time=BEGIN + timedelta(minutes=minutes),
    )
    return replace(made, name="projects/1/locations/us-central1/customJobs/7")


def series(
    values: dict[float, float],
    accelerator: str = "0",
    task: str = "workerpool0-0",
    of: str = "7",
    metric: str = ACCELERATOR,
) -> Series:
    """Values by the minute in which they were measured."""
    return Series(
        metric,
        of,
        task,
        accelerator,
        tuple(Point(BEGIN + timedelta(minutes=at), value) for at, value in values.items()),
    )


def minutes(first: int, last: int, value: float) -> dict[float, float]:
    return dict.fromkeys(map(float, range(first, last + 1)), value)


def idle(listed: list[Series], of: VertexJob | None = None, period: int = 0) -> IdleAccelerators | None:
    of = of or job()
    usage = Utilization(rows_of(listed, of), period)
    return idle_accelerators(usage, of, job_cost(of, of.region, BEGIN + timedelta(days=1)))


def known(accelerators: IdleAccelerators | None) -> IdleAccelerators:
    assert accelerators is not None
    return accelerators


def test_half_a_fine_tune_of_eight_h100_is_idle_time_and_so_is_half_of_its_price() -> None:
    course = {**minutes(0, 31, 0.02), **minutes(32, 58, 0.97)}
    row = known(idle([series(course, str(gpu)) for gpu in range(8)]))
    assert (row.count, row.accelerators, row.unused) == (8, ("NVIDIA_H100_80GB",), 0)
    assert (row.idle_seconds, row.measured_seconds, row.paid_seconds) == (31 * 60, 58 * 60, 58 * 60)
    assert row.share == pytest.approx(31 / 58)
    assert float(row.cost.known) == pytest.approx(float(row.of_cost.known) * 31 / 58)


def test_what_nobody_measured_is_neither_idle_nor_busy() -> None:
    """Samples of minutes 5 to 10 and 30 to 40 alone: those in between are missing."""
    row = known(idle([series({**minutes(5, 10, 0.0), **minutes(30, 40, 0.5)})]))
    assert (row.idle_seconds, row.measured_seconds) == (6 * 60, 17 * 60)
    assert row.paid_seconds - row.measured_seconds == 41 * 60
    assert idle_words(row) == "8 H100 idle for at least 6 of 58 min, 41 min not measured: at least $10 of $98"


@pytest.mark.parametrize(
    "found",
    [[], [series({}, metric=CPU)], [series(minutes(0, 9, 0.0), metric=CPU)], [series({-5.0: 0.0, 90.0: 0.0})]],
    ids=["nothing", "no points", "the CPU alone", "samples of another time"],
)
def test_without_samples_nothing_is_known(found: list[Series]) -> None:
    assert idle([series for series in found if series.points]) is None


def test_a_job_without_accelerators_has_none_that_are_idle() -> None:
    assert idle([series(minutes(0, 58, 0.0))], job(WorkerPool(CPUS, 2))) is None


def test_only_machines_with_accelerators_count_and_each_by_its_price() -> None:
    """A CPU for the chief; of two workers one does nothing, and it is half of the GPUs' money."""
    mixed = job(WorkerPool(CPUS, 1), WorkerPool(L4, 2), minutes=60)
    row = known(
        idle([series(minutes(0, 60, value), task=f"workerpool1-{n}") for n, value in enumerate((0.0, 0.8))], mixed)
    )
    alone = known(idle([series(minutes(0, 60, 0.0))], job(WorkerPool(L4, 1), minutes=60)))
    assert (row.count, row.idle_seconds, row.unused) == (2, 1800, 1)
    assert row.cost.known == alone.of_cost.known < row.of_cost.known / 2


def test_a_service_that_does_not_tell_accelerators_apart_measures_all_of_a_machine() -> None:
    row = known(idle([series(minutes(0, 58, 0.0), accelerator="")]))
    assert (row.count, row.idle_seconds, row.unused) == (8, 58 * 60, 8)
    assert row.cost.known == pytest.approx(row.of_cost.known)


@pytest.mark.parametrize(
    ("of_cost", "says"),
    [
        (UNKNOWN, "(53 %)"),
        (Price(Decimal(98), at_most=True), ": at most $52 of $98"),
        (Price(Decimal(98), complete=False), ": $52 of $98 and more"),
        (Price(Decimal("5.1")), ": $52.00 of $5.10"),
    ],
)
def test_money_is_told_as_far_as_it_is_known(of_cost: Price, says: str) -> None:
    row = known(idle([series({**minutes(0, 31, 0.0), **minutes(32, 58, 1.0)})]))
    told = idle_words(replace(row, cost=Price(Decimal(52)), of_cost=of_cost))
    assert told.endswith(says)
