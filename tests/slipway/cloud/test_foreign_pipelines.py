"""Training pipelines that others made: their inputs are any JSON, and one of them does not hide all the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import Garbled
from slipway.cloud.jobs import VertexJob
from slipway.cloud.session import Session
from slipway.cloud.vertex import Vertex
from slipway.jobs.cost import job_cost
from slipway.jobs.demand import Demand
from slipway.jobs.waiting import wait_reason
from slipway.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.machines.table import MachineError
from slipway.quota.metrics import needs_of

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TASK = {"args": ["--seed=1"], "env": [{"name": "TEAM", "value": "ml"}]}
POOL = {
    "machineSpec": {
        "machineType": "n1-standard-4",
        "acceleratorType": "NVIDIA_TESLA_T4",
        "acceleratorCount": 1,
        "reservationAffinity": {"values": ["projects/p/zones/z/reservations/r"]},
    },
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "replicaCount": "2",
    "pythonPackageSpec": {"executorImageUri": "i", "packageUris": ["gs://b/x"], "pythonModule": "m", **TASK},
    "containerSpec": {"imageUri": "i", "command": ["python"], **TASK},
}
INPUTS = {
    "workerPoolSpecs": [POOL],
    "persistentResourceId": "cpu",
    "scheduling": {"strategy": "SPOT", "maxWaitDuration": "3s"},
    "baseOutputDirectory": {"outputUriPrefix": "gs://b/x"},
    "serviceAccount": "trainer@acme.iam.gserviceaccount.com",
    "experimentRun": "contexts/run",
    "tensorboard": "tensorboards/1",
}
BODY = {
    "name": "projects/1/locations/us-central1/trainingPipelines/7",
    "displayName": "theirs",
    "state": "PIPELINE_STATE_RUNNING",
    "createTime": "2026-11-20T10:00:00Z",
    "startTime": "2026-11-20T10:01:00Z",
    "trainingTaskInputs": INPUTS,
    "trainingTaskMetadata": {"backingCustomJob": "projects/1/locations/us-central1/customJobs/8"},
}
FREE = ("trainingTaskInputs", "trainingTaskMetadata")
"""What may be any JSON of what the service answers."""
ODD: tuple[Any, ...] = (None, 5, 2.5, True, "text", "", [], [None], [5], [[]], [{}], {}, {"a": 1}, {"a": None})


def listed(kind: JobKind, *bodies: Mapping[str, Any]) -> list[VertexJob]:
    """What `Vertex.jobs` makes of them."""

    class Pages:
        def pages(self, *_: Any) -> Iterator[Mapping[str, Any]]:
            return iter(bodies)

    return list(Vertex(cast(Session, Pages()), Endpoints(), "p", "us-central1").jobs(kind))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all that is in some JSON."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def with_odd(body: Any, at: tuple[Any, ...], odd: Any) -> Any:
    if not at:
        return odd
    changed = body.copy()
    changed[at[0]] = with_odd(body[at[0]], at[1:], odd)
    return changed


def told(job: VertexJob) -> str:
    """All that lists, quota and prices make of a job."""
    try:
        needs = needs_of(job.machines, preemptible=job.preemptible)
    except MachineError:
        needs = ()
    facts = (job_cost(job, "us-central1", NOW), Demand.of(job), needs, wait_reason(job, None, "cpu", [], NOW))
    names = (job.capacity_type, *sorted(job.packages | job.reservations | job.buckets), *job.log_ids, job.parameters)
    return f"{facts} {names} {json.dumps([asdict(pool) for pool in job.worker_pools])}"


@pytest.mark.parametrize("at", [at for at in places(BODY) if at and at[0] in FREE], ids=str)
def test_whatever_its_inputs_are_it_is_listed_and_so_are_the_others(at: tuple[Any, ...]) -> None:
    for odd in ODD:
        job, other = listed(PIPELINE, with_odd(BODY, at, odd), BODY)
        assert (job.display_name, job.state, job.create_time) == ("theirs", "JOB_STATE_RUNNING", other.create_time)
        assert other.replicas == 2
        assert told(job)


def test_what_it_leaves_out_may_be_null_and_the_rest_is_read() -> None:
    inputs = {
        "worker_pool_specs": [{"replica_count": 3, "disk_spec": None, "python_package_spec": None}],
        "scheduling": None,
        "persistent_resource_id": "cpu",
        "network": None,
    }
    (job,) = listed(PIPELINE, {**BODY, "trainingTaskInputs": inputs})
    assert (job.replicas, job.persistent_resource_id, job.strategy, job.max_wait) == (3, "cpu", "", None)


def test_one_that_is_no_custom_task_has_no_machines() -> None:
    tables = {"targetColumn": "price", "transformations": [{"auto": {"column_name": None}}], "trainBudget": 1000}
    (job,) = listed(PIPELINE, {**BODY, "trainingTaskInputs": tables})
    assert (job.machines, job.persistent_resource_id) == ((), "")


@pytest.mark.parametrize("kind", [CUSTOM_JOB, TUNING_JOB], ids=repr)
def test_a_job_whose_spec_the_service_knows_is_not_read_without_it(kind: JobKind) -> None:
    with pytest.raises(Garbled):
        listed(kind, {"name": f"projects/1/{kind.collection}/7", kind.spec: {"workerPoolSpecs": [None]}})
