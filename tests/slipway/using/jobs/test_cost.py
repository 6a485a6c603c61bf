"""How long a job waited and ran, and what its machines cost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.google.jobs import VertexJob
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.cost import job_cost, needs_events
from slipway.using.jobs.log import EventKind, JobEvent, JobEvents

A2 = MachineSpec("a2-highgpu-1g")
BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
JOB = VertexJob.read(
    {
        "name": "projects/1/locations/us-central1/customJobs/4711",
        "displayName": "digits-1",
        "state": "JOB_STATE_SUCCEEDED",
        "jobSpec": {
            "persistentResourceId": "cpu-1",
            "workerPoolSpecs": [
                {"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": "2"},
                {},
            ],
        },
        "createTime": "2026-11-20T12:00:00.123456789Z",
        "startTime": "2026-11-20T12:00:02.123456Z",
        "endTime": "2026-11-20T13:00:02.123456Z",
    }
)


def test_wait_and_run_are_the_services_own_times_and_an_hour_costs_the_machines_price() -> None:  # B4
    cost_of_job = job_cost(JOB, "us-central1", BEGIN + timedelta(days=1))
    assert (cost_of_job.wait, cost_of_job.run) == (2.0, 3600.0)
    assert cost_of_job.per_hour.complete and cost_of_job.cost == cost_of_job.per_hour and cost_of_job.per_hour.known > 0
    assert cost_of_job.paid_anyway and cost_of_job.capacity_type == "pool"


def test_what_still_lasts_is_counted_until_now() -> None:
    waiting = replace(JOB, state="JOB_STATE_QUEUED", start_time=None, end_time=None)
    cost_of_job = job_cost(waiting, "us-central1", BEGIN + timedelta(seconds=60))
    assert (
        cost_of_job.wait is not None
        and 59 < cost_of_job.wait < 60
        and cost_of_job.run is None
        and cost_of_job.cost is None
    )
    ended = job_cost(replace(JOB, start_time=None), "us-central1", BEGIN + timedelta(days=9))
    assert ended.wait == 3602.0 and ended.run is None, "it never started"


def test_spot_costs_less_than_a_pools_machines_and_is_not_paid_anyway() -> None:
    gpu = replace(JOB, worker_pools=(replace(JOB.worker_pools[0], machine=A2),))
    spot = job_cost(replace(gpu, persistent_resource_id="", strategy="SPOT"), "us-central1", BEGIN)
    pool = job_cost(gpu, "us-central1", BEGIN)
    assert spot.capacity_type == "spot" and not spot.paid_anyway
    assert spot.cost is not None and pool.cost is not None and spot.cost.known < pool.cost.known


SPOT = replace(JOB, persistent_resource_id="", strategy="SPOT")
"""It ran from 12:00:02 to 13:00:02."""


def told(*events: tuple[EventKind, float | None], trial: str = "", **more: Any) -> JobEvents:
    """Events at minutes after 12:00."""
    moments = ((kind, None if minute is None else BEGIN + timedelta(minutes=minute)) for kind, minute in events)
    return JobEvents(tuple(JobEvent(kind, at, "", "", trial, "") for kind, at in moments), **more)


@pytest.mark.parametrize(
    ("events", "without", "untold"),
    [
        pytest.param(told(), 0, False, id="never preempted"),
        pytest.param(None, 0, True, id="nobody looked"),
        pytest.param(told(why="denied"), 0, True, id="not to be read"),
        pytest.param(told(("preemption", 10), ("running", 20), more=True), 0, True, id="more than was read"),
        pytest.param(told(("preemption", 10), ("restart", 10), ("running", 20)), 600, False, id="once"),
        pytest.param(
            told(("preemption", 10), ("running", 20), ("preemption", 30), ("preemption", 31), ("running", 35)),
            900,
            False,
            id="twice, of several replicas",
        ),
        pytest.param(told(("preemption", 10), ("restart", 11)), 0, True, id="nobody says that it ran again"),
        pytest.param(told(("preemption", None), ("running", 20)), 0, True, id="nobody says when"),
        pytest.param(
            told(("preemption", 10), ("running", 20), ("preemption", 50)), 600, True, id="not since the last one"
        ),
    ],
)
def test_time_without_machines_is_not_counted_where_events_tell_it(
    events: JobEvents | None, without: float, untold: bool
) -> None:  # X2, X7
    cost_of_job = job_cost(SPOT, "us-central1", BEGIN, events)
    assert (cost_of_job.without, cost_of_job.untold, cost_of_job.run) == (without, untold, 3600.0)
    assert cost_of_job.cost == replace(cost_of_job.per_hour * (Decimal(3600 - without) / 3600), at_most=untold)


def test_a_job_that_waits_for_machines_again_costs_nothing_meanwhile() -> None:  # X7
    """Its state tells that, whatever the log says."""
    waiting = replace(SPOT, state="JOB_STATE_PENDING", end_time=None)
    cost_of_job = job_cost(waiting, "us-central1", BEGIN + timedelta(minutes=90), told(("preemption", 10)))
    assert cost_of_job.without == 80 * 60 and not cost_of_job.untold


def test_each_trials_time_without_machines_is_its_own() -> None:  # X7
    trials = tuple(Trial(str(n), "SUCCEEDED", {}, {}, "", BEGIN, BEGIN + timedelta(minutes=30)) for n in (1, 2))
    tuning = replace(SPOT, kind=TUNING_JOB, trials=2, tried=trials)
    first, second = told(("preemption", 10), trial="1"), told(("running", 12), trial="2")
    again = told(("running", 20), trial="1")
    cost_of_job = job_cost(tuning, "us-central1", BEGIN, JobEvents((*first.all, *second.all, *again.all)))
    assert cost_of_job.without == 600 and not cost_of_job.untold
    assert cost_of_job.cost == job_cost(SPOT, "us-central1", BEGIN).per_hour * (Decimal(3600 - 600) / 3600)


@pytest.mark.parametrize("job", [JOB, replace(SPOT, strategy="FLEX_START"), replace(SPOT, strategy="STANDARD")])
def test_of_machines_that_nobody_takes_away_no_events_are_needed(job: VertexJob) -> None:
    assert not needs_events(job) and not job_cost(job, "us-central1", BEGIN).untold


@pytest.mark.parametrize("labels", [{"slipway-capacity-type": "reservation"}, {}], ids=["ours", "anybody's"])
@pytest.mark.parametrize("kind", ["SPECIFIC_RESERVATION", "ANY_RESERVATION"])
def test_a_job_on_reserved_machines_is_called_so_and_shown_no_price(labels: dict[str, str], kind: str) -> None:  # Z6
    spec = {"machineType": "a2-highgpu-1g", "reservationAffinity": {"reservationAffinityType": kind}}
    worker = {"machineSpec": spec, "replicaCount": "1"}
    body = {"labels": labels, "startTime": "2026-11-20T12:00:00Z", "jobSpec": {"workerPoolSpecs": [worker]}}
    cost_of_job = job_cost(VertexJob.read(body), "us-central1", BEGIN + timedelta(hours=1))
    assert cost_of_job.capacity_type == "reservation" and not cost_of_job.paid_anyway
    assert cost_of_job.per_hour.unknown and cost_of_job.cost is not None and cost_of_job.cost.unknown


def test_a_tuning_job_costs_the_time_of_its_trials_together() -> None:  # Z3
    cost = job_cost(JOB, "us-central1", BEGIN).cost
    assert cost is not None
    half = BEGIN + timedelta(minutes=30)
    trials = tuple(Trial(str(n), "SUCCEEDED", {}, {}, "", BEGIN, half) for n in range(3))
    tuning = replace(JOB, kind=TUNING_JOB, trials=2, tried=trials)
    assert job_cost(tuning, "us-central1", BEGIN).cost == cost * Decimal("1.5")
    assert job_cost(tuning, "us-central1", BEGIN).per_hour == cost * 2
    assert job_cost(tuning, "us-central1", BEGIN).busy == 2700, "of both trials' machines together"
    untimed = replace(tuning, tried=(Trial("1", "SUCCEEDED", {}, {}, ""),))
    assert job_cost(untimed, "us-central1", BEGIN).cost == cost * 2
