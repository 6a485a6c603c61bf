"""How long a job waited and ran, and what its machines cost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.cloud.jobs import Trial, VertexJob
from slipway.jobs.cost import job_cost
from slipway.kinds import TUNING_JOB
from slipway.machines.spec import MachineSpec

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


def test_wait_and_run_are_the_services_own_times() -> None:  # B4
    found = job_cost(JOB, "us-central1", BEGIN + timedelta(days=1))
    assert (found.wait, found.run) == (2.0, 3600.0)


def test_an_hour_of_two_machines_costs_their_price() -> None:
    found = job_cost(JOB, "us-central1", BEGIN)
    assert found.per_hour.complete and found.cost == found.per_hour and found.per_hour.known > 0
    assert found.paid_anyway and found.capacity_type == "pool"


def test_what_still_lasts_is_counted_until_now() -> None:
    waiting = replace(JOB, state="JOB_STATE_QUEUED", start_time=None, end_time=None)
    found = job_cost(waiting, "us-central1", BEGIN + timedelta(seconds=60))
    assert found.wait is not None and 59 < found.wait < 60 and found.run is None and found.cost is None


def test_a_job_that_never_started_waited_until_its_end() -> None:
    found = job_cost(replace(JOB, start_time=None), "us-central1", BEGIN + timedelta(days=9))
    assert found.wait == 3602.0 and found.run is None


def test_spot_costs_less_than_a_pools_machines_and_is_not_paid_anyway() -> None:
    gpu = replace(JOB, worker_pools=(replace(JOB.worker_pools[0], machine=A2),))
    spot = job_cost(replace(gpu, persistent_resource_id="", strategy="SPOT"), "us-central1", BEGIN)
    pool = job_cost(gpu, "us-central1", BEGIN)
    assert spot.capacity_type == "spot" and not spot.paid_anyway
    assert spot.cost is not None and pool.cost is not None and spot.cost.known < pool.cost.known


RESERVED: dict[str, Any] = {
    "machineSpec": {
        "machineType": "a2-highgpu-1g",
        "reservationAffinity": {
            "reservationAffinityType": "SPECIFIC_RESERVATION",
            "values": ["projects/p/zones/us-central1-a/reservations/a100"],
        },
    },
    "replicaCount": "1",
}


@pytest.mark.parametrize("labels", [{"slipway-capacity-type": "reservation"}, {}], ids=["ours", "anybody's"])
def test_a_job_on_reserved_machines_is_called_so_and_shown_no_price(labels: dict[str, str]) -> None:
    body = {"labels": labels, "startTime": "2026-11-20T12:00:00Z", "jobSpec": {"workerPoolSpecs": [RESERVED]}}
    found = job_cost(VertexJob.read(body), "us-central1", BEGIN + timedelta(hours=1))
    assert found.capacity_type == "reservation" and not found.paid_anyway
    assert found.per_hour.unknown and found.cost is not None and found.cost.unknown


def test_a_job_on_machines_of_any_reservation_is_called_so_too() -> None:  # Z6
    """The trials of a tuning job have no label of ours."""
    spec = {**RESERVED["machineSpec"], "reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}}
    body = {"startTime": "2026-11-20T12:00:00Z", "jobSpec": {"workerPoolSpecs": [{**RESERVED, "machineSpec": spec}]}}
    found = job_cost(VertexJob.read(body), "us-central1", BEGIN + timedelta(hours=1))
    assert found.capacity_type == "reservation" and found.per_hour.unknown


def test_a_tuning_job_costs_the_time_of_its_trials_together() -> None:  # Z3
    one = job_cost(JOB, "us-central1", BEGIN).cost
    assert one is not None
    half = BEGIN + timedelta(minutes=30)
    trials = tuple(Trial(str(n), "SUCCEEDED", {}, {}, "", BEGIN, half) for n in range(3))
    tuning = replace(JOB, kind=TUNING_JOB, trials=2, tried=trials)
    assert job_cost(tuning, "us-central1", BEGIN).cost == one * Decimal("1.5")
    assert job_cost(tuning, "us-central1", BEGIN).per_hour == one * 2
    untimed = replace(tuning, tried=(Trial("1", "SUCCEEDED", {}, {}, ""),))
    assert job_cost(untimed, "us-central1", BEGIN).cost == one * 2


def test_an_unknown_machine_has_no_price() -> None:
    found = job_cost(JOB, "europe-nowhere1", BEGIN)
    assert found.per_hour.unknown and found.cost is not None and found.cost.unknown


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED"])
def test_these_states_are_final(state: str) -> None:
    assert replace(JOB, state=f"JOB_STATE_{state}").ended


@pytest.mark.parametrize("state", ["QUEUED", "PENDING", "RUNNING", "CANCELLING", "PAUSED", "UPDATING", "UNSPECIFIED"])
def test_these_are_not(state: str) -> None:
    assert not replace(JOB, state=f"JOB_STATE_{state}").ended
