"""Answers in which one value is not of the API's type: each is an error in words, or what is read can be shown.

The inputs of a training pipeline may be any JSON: one of them does not hide all the other jobs. # N4"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.base import codec
from slipway.front.cli.terminal.documents import usage_document
from slipway.front.cli.terminal.watching import cost_words
from slipway.google.answers import Json, shaped
from slipway.google.clusters import Operation, PersistentResource
from slipway.google.failures import Call, Garbled
from slipway.google.jobs import VertexJob, state_word
from slipway.google.logging import LogEntry
from slipway.google.monitoring import CPU, Series
from slipway.google.quota.metrics import needs_of
from slipway.google.quotas import QuotaInfo, QuotaPreference
from slipway.google.trials import best
from slipway.google.vertex import _read_job
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.model.machines.table import MachineError
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.log import event_kind, events_of, line
from slipway.using.jobs.roles import role_names
from slipway.using.jobs.utilization import Utilization, rows_of
from slipway.using.jobs.waiting import wait_reason
from slipway.using.submission.ending import cause_of, error_of_end
from tests.builders.documents import places, with_value

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
ODD: tuple[Any, ...] = (
    None,
    3,
    True,
    1e400,
    "odd",
    "\x1b[2J",
    [],
    ["odd"],
    [3],
    [[]],
    {},
    {"odd": 3},
    {"odd": ["odd"]},
)
SPEC = {
    "workerPoolSpecs": [
        {
            "machineSpec": {
                "machineType": "n1-standard-4",
                "acceleratorType": "NVIDIA_TESLA_T4",
                "acceleratorCount": 1,
                "reservationAffinity": {"values": ["projects/p/zones/z/reservations/r"]},
            },
            "replicaCount": "2",
            "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
            "containerSpec": {"imageUri": "python:3.11", "args": ["x"], "env": [{"name": "A", "value": "b"}]},
            "pythonPackageSpec": {"packageUris": ["gs://b/x"], "pythonModule": "m"},
        }
    ],
    "scheduling": {"strategy": "SPOT", "maxWaitDuration": "60s"},
    "persistentResourceId": "cpu",
    "serviceAccount": "t@p.iam.gserviceaccount.com",
    "baseOutputDirectory": {"outputUriPrefix": "gs://work/x"},
}
TIMES = {"createTime": "2026-11-20T11:00:00Z", "startTime": "2026-11-20T11:01:00Z", "endTime": "2026-11-20T11:30:00Z"}
TUNING = {
    "name": "projects/p/locations/us-central1/hyperparameterTuningJobs/1",
    "displayName": "tune-1",
    "state": "JOB_STATE_FAILED",
    "labels": {"slipway-template": "tune", "slipway-roles": "trial", "slipway-user": "ada"},
    **TIMES,
    "error": {"code": 3, "message": "The replica workerpool0-0 exited with a non-zero status of 1."},
    "trialJobSpec": SPEC,
    "parallelTrialCount": 2,
    "maxTrialCount": 4,
    "studySpec": {"metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}]},
    "trials": [
        {
            "id": "1",
            "state": "SUCCEEDED",
            "parameters": [{"parameterId": "lr", "value": 0.1}],
            "finalMeasurement": {"metrics": [{"metricId": "accuracy", "value": 0.9}]},
            "customJob": "projects/p/locations/us-central1/customJobs/2",
            **{key: value for key, value in TIMES.items() if key != "createTime"},
        }
    ],
}
JOB = {**{key: TUNING[key] for key in ("displayName", "labels", "error", *TIMES)}, "jobSpec": SPEC} | {
    "name": "projects/p/locations/us-central1/customJobs/1",
    "state": "JOB_STATE_PENDING",
}
FREE = {
    "trainingTaskInputs": SPEC | {"experimentRun": "contexts/run", "tensorboard": "tensorboards/1"},
    "trainingTaskMetadata": {"backingCustomJob": "projects/p/locations/us-central1/customJobs/8"},
}
PIPELINE_JOB = {key: TUNING[key] for key in ("displayName", "labels", "error", *TIMES)} | {
    "name": "projects/p/locations/us-central1/trainingPipelines/7",
    "state": "PIPELINE_STATE_RUNNING",
    **FREE,
}
CLUSTER = {
    "name": "projects/p/locations/us-central1/persistentResources/cpu",
    "displayName": "cpu",
    "state": "RUNNING",
    "labels": {"slipway-stack": "dev"},
    "createTime": TIMES["createTime"],
    "resourcePools": [
        {
            **{key: SPEC["workerPoolSpecs"][0][key] for key in ("machineSpec", "diskSpec")},  # type: ignore[index]
            "id": "workers",
            "replicaCount": "2",
            "usedReplicaCount": "1",
            "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "3"},
        }
    ],
    "error": {"code": 8, "message": "no machines"},
}
ENTRY = {
    "logName": "projects/p/logs/workerpool0-0",
    "resource": {"type": "ml_job", "labels": {"job_id": "1", "task_name": "service"}},
    "timestamp": "2026-11-20T11:02:00Z",
    "severity": "INFO",
    "labels": {"ml.googleapis.com/trial_id": "1"},
    "insertId": "a",
    "textPayload": "The Spot VM of replica workerpool0-0 was preempted.",
}
SERIES = {
    "metric": {"type": "ml.googleapis.com/training/cpu/utilization", "labels": {"accelerator_id": "0"}},
    "resource": {"labels": {"job_id": "1", "task_name": "workerpool0-0"}},
    "points": [{"interval": {"endTime": "2026-11-20T11:02:00Z"}, "value": {"doubleValue": 0.5}}],
}
QUOTA = {
    "metric": "aiplatform.googleapis.com/custom_model_training_cpus",
    "quotaId": "CustomModelTrainingCPUsPerProjectPerRegion",
    "dimensionsInfos": [{"applicableLocations": ["us-central1"], "details": {"value": "42"}}],
    "quotaIncreaseEligibility": {"isEligible": True},
}
PREFERENCE = {
    "name": "projects/p/locations/global/quotaPreferences/x",
    "quotaId": "CustomModelTrainingCPUsPerProjectPerRegion",
    "dimensions": {"region": "us-central1"},
    "quotaConfig": {"preferredValue": "16", "grantedValue": "12", "stateDetail": "in part"},
    "etag": "e",
}


def show_job(job: VertexJob) -> None:
    """What lists, screens and errors say of one."""
    money = job_cost(job, job.region, NOW)
    said = [job.id, job.typed, job.state in ("a",), state_word(job.state), cost_words(money)]
    said += [codec.document(moment) for moment in (job.create_time, job.start_time, job.end_time, job.update_time)]
    said += [wait_reason(job, None, "cpu", (), NOW), cause_of(job, {}), best(job.tried, job.goals)]
    for entry in (LogEntry.read(ENTRY), LogEntry.read({**ENTRY, "textPayload": "hi"})):
        said.append(line(entry, job))
    said += [role_names(job), sorted(job.log_ids), sorted(job.packages | job.reservations | job.buckets)]
    said += [job.parameters, job.capacity_type, Demand.of(job).machines]
    with suppress(MachineError):
        said += needs_of(job.machines, preemptible=job.preemptible)
    (row,) = rows_of([Series.read(SERIES)], job)
    said.append(codec.document(usage_document(Utilization((row,)))))
    texts = (job.name, job.state, job.display_name, *job.labels.values(), str(error_of_end(job)))
    assert said and "\x1b" not in "".join(texts)


def show_entry(entry: LogEntry) -> None:
    hash((entry.insert_id, entry.stamp, entry.log, entry.text))
    job = VertexJob.read(TUNING, TUNING_JOB)
    assert line(entry, job) and events_of([entry], job) is not None
    assert event_kind(entry) in (None, "preemption", "restart", "running", "stock-out")
    assert entry.timestamp is None or entry.timestamp < NOW + timedelta(days=9)


def show_cluster(cluster: PersistentResource) -> None:
    said = (cluster.name, cluster.region, cluster.error, cluster.state, *cluster.labels.values(), cluster.display_name)
    pools = [f"{pool.id} {pool.floor} {pool.ceiling} {pool.used:,} {pool.machine}" for pool in cluster.pools]
    assert "\x1b" not in "".join(said) and hash((cluster.id, cluster.failed, *pools))


def show_series(series: Series) -> None:
    rows = rows_of([replace(series, metric=CPU)], VertexJob.read(TUNING, TUNING_JOB))
    assert len(rows) == bool(series.points)
    assert all(row.role is not None and row.what and row.max is not None for row in rows)


CASES: dict[str, tuple[Json, Callable[[Json], Any], Callable[[Any], None]]] = {
    "job": (JOB, VertexJob.read, show_job),
    "tuning job": (TUNING, lambda body: VertexJob.read(body, TUNING_JOB), show_job),
    "pipeline": (PIPELINE_JOB, lambda body: _read_job(Call("list them"), PIPELINE, body), show_job),
    "log entry": (ENTRY, LogEntry.read, show_entry),
    "cluster": (CLUSTER, PersistentResource.read, show_cluster),
    "operation": (
        {"name": "o", "done": True, "error": {"code": 8}},
        Operation.read,
        lambda answer: print(answer.error[:9]),
    ),
    "series": (SERIES, Series.read, show_series),
    "quota": (
        QUOTA,
        QuotaInfo.read,
        lambda answer: print(answer.limit("us-central1"), answer.ineligibility, answer.id + answer.metric),
    ),
    "preference": (
        PREFERENCE,
        QuotaPreference.read,
        lambda answer: print(answer.detail + answer.id + answer.region + answer.etag),
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_an_odd_value_anywhere_is_an_error_in_words_or_can_be_shown(what: str) -> None:
    body, read, show = CASES[what]
    show(shaped(Call("read it"), read, body))
    for path in [*places(body)][1:]:
        for odd in ODD:
            try:
                found = shaped(Call("read it"), read, with_value(body, path, odd))
            except Garbled as error:
                assert path[0] not in FREE, (path, odd)
                assert len(error.why) < 5000 and "\x1b" not in error.why, (path, odd)
                continue
            try:
                show(found)
            except Exception as problem:
                raise AssertionError(f"{'.'.join(map(str, path))} = {odd!r}") from problem


def test_what_a_pipeline_leaves_out_may_be_null_and_one_that_is_no_custom_task_has_no_machines() -> None:
    worker = {"replica_count": 3, "disk_spec": None, "python_package_spec": None}
    inputs = {"worker_pool_specs": [worker], "scheduling": None, "persistent_resource_id": "cpu", "network": None}
    job = _read_job(Call("list them"), PIPELINE, {**PIPELINE_JOB, "trainingTaskInputs": inputs})
    assert (job.replicas, job.persistent_resource_id, job.strategy, job.max_wait) == (3, "cpu", "", None)
    tables = {"targetColumn": "price", "transformations": [{"auto": {"column_name": None}}], "trainBudget": 1000}
    job = _read_job(Call("list them"), PIPELINE, {**PIPELINE_JOB, "trainingTaskInputs": tables})
    assert (job.machines, job.persistent_resource_id) == ((), "")


@pytest.mark.parametrize("kind", [CUSTOM_JOB, TUNING_JOB], ids=repr)
def test_a_job_whose_spec_the_service_knows_is_not_read_without_it(kind: JobKind) -> None:
    body = {"name": f"projects/1/{kind.collection}/7", kind.spec: {"workerPoolSpecs": [None]}}
    with pytest.raises(Garbled):
        _read_job(Call("list them"), kind, body)
