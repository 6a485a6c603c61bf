"""What jobs use of their machines, and quotas in use, as time series (Z5, D2)."""

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from googleapiclient import discovery
from hypothesis import given
from hypothesis import strategies as st

from vertex_local import recordings
from vertex_local.clock import timestamp
from vertex_local.monitoring import process_usage
from vertex_local.monitoring import records as samples
from vertex_local.monitoring.process_usage import Reading
from vertex_local.monitoring.records import Source
from vertex_local.monitoring.work import Sampler
from vertex_local.nodes.spec import CLAIM, STARTED
from vertex_local.supply import records as scenarios
from vertex_local.testing.bodies import job_body, worker
from vertex_local.testing.calling import PARENT, START, Calling
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.vertex.jobs import table as jobs

SERIES = "/v3/projects/local-project/timeSeries"
GPU, CPU = "ml.googleapis.com/training/accelerator/utilization", "ml.googleapis.com/training/cpu/utilization"
USAGE = "serviceruntime.googleapis.com/quota/allocation/usage"
T4 = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}


def asked(calling: Calling, text: str, **more: str) -> list[dict[str, Any]]:
    series: list[dict[str, Any]] = answered(calling, text, **more).get("timeSeries", [])
    return series


def answered(calling: Calling, text: str, **more: str) -> dict[str, Any]:
    now = calling.clock.now()
    query = {
        "filter": text,
        "interval.startTime": timestamp(now - timedelta(hours=1)),
        "interval.endTime": timestamp(now),
        **more,
    }
    return calling.call("GET", SERIES + "?" + "&".join(f"{name}={quote(value)}" for name, value in query.items()))


def values(series: Mapping[str, Any]) -> list[float]:
    return [point["value"].get("doubleValue", 0.0) for point in series["points"]]


def job(calling: Calling, machine: Mapping[str, Any] | None = None) -> str:
    """The id of a job whose one replica runs, as far as its files say."""
    made = calling.job(spec={"workerPoolSpecs": [worker(machineSpec=machine)]} if machine else {})
    job_id = str(made["name"]).rpartition("/")[2]
    folder = calling.world.state_folder / "jobs" / job_id / "1" / "workerpool0-0"
    folder.mkdir(parents=True)
    (folder / CLAIM).write_text(json.dumps({"pid": 77}))
    (folder / STARTED).write_text("{}")
    return job_id


@pytest.fixture
def busy(calling: Calling, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sampler]:
    """A sampler on a machine of two cores and 1000 bytes, where each look finds one more CPU second in two."""
    monkeypatch.setattr(process_usage, "own_cores", lambda: 2)
    monkeypatch.setattr(process_usage, "own_memory", lambda: 1000)
    seconds = itertools.count(step=2.0)

    def read(session: int, at: float) -> Reading:
        return Reading(at, {session + 1: at / 2}, 250)

    yield Sampler(calling.world, read, lambda: next(seconds))


@given(
    st.floats(0, 1e6), st.dictionaries(st.integers(1, 9), st.floats(0, 1e6)), st.floats(0, 1e6), st.integers(0, 10**12)
)
def test_use_is_always_a_fraction(at: float, cpu: dict[int, float], later: float, memory: int) -> None:
    series = process_usage.between(Reading(at, {1: later}, 0), Reading(at + later, cpu, memory), cores=3, memory=2**30)
    assert 0 <= series.cpu <= 1 and 0 <= series.memory <= 1


def test_what_a_program_starts_in_a_session_of_its_own_is_measured_too() -> None:
    """A launcher starts the code that trains in this way."""
    trains = "block = bytearray(80_000_000); print('ready', flush=True); input()"
    launcher = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {trains!r}], start_new_session=True)"
    leader = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {launcher!r}])"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", leader], stdin=pipe, stdout=pipe, text=True, start_new_session=True
    ) as running:
        assert running.stdout and running.stdout.readline() == "ready\n"
        reading = process_usage.read(running.pid, at=0.0)
        running.communicate("\n")
    assert reading.memory > 80_000_000 and len(reading.cpu_s) == 2 and running.pid not in reading.cpu_s


def test_a_replica_is_measured_from_its_second_look_on(calling: Calling, busy: Sampler) -> None:
    job_id = job(calling)
    for _ in range(3):
        busy.step()
        calling.clock.advance(5)
    (series,) = asked(calling, f'metric.type="{CPU}" AND resource.labels.job_id="{job_id}"')
    assert series["resource"] == {
        "type": "cloudml_job",
        "labels": {"project_id": "local-project", "job_id": job_id, "task_name": "workerpool0-0"},
    }
    assert (series["metricKind"], series["valueType"]) == ("GAUGE", "DOUBLE")
    assert values(series) == [0.25, 0.25]
    moments = [point["interval"]["endTime"] for point in series["points"]]
    # The newest first.
    assert moments == [timestamp(START + timedelta(seconds=seconds)) for seconds in (10, 5)]


def test_each_accelerator_has_series_of_its_own(calling: Calling, busy: Sampler) -> None:
    calling.world.change_settings({"quota.custom_model_training_nvidia_t4_gpus": 8})
    job_id = job(calling, T4)
    busy.step()
    busy.step()
    requests = asked(calling, f'metric.type="{GPU}" AND resource.label.job_id="{job_id}"')
    assert [series["metric"]["labels"]["accelerator_id"] for series in requests] == ["0", "1"]
    memory = asked(calling, 'metric.type="ml.googleapis.com/training/accelerator/memory/utilization"')
    assert values(memory[0]) == [0.25]


def test_a_machine_without_accelerators_has_no_series_of_them(calling: Calling, busy: Sampler) -> None:
    job(calling)
    busy.step()
    busy.step()
    requests = asked(calling, 'metric.type:"ml.googleapis.com/training/"')
    assert {series["metric"]["type"].removeprefix("ml.googleapis.com/training/") for series in requests} == {
        "cpu/utilization",
        "memory/utilization",
    }


def keep(calling: Calling, task: str, *measured: float, every_s: float = 60.0) -> None:
    """Samples of a replica, the last of them now."""
    now = calling.clock.now()
    with calling.world.store.transaction():
        for back, value in enumerate(reversed(measured)):
            moment = timestamp(now - timedelta(seconds=back * every_s))
            samples.add(calling.world.store, moment, [(Source("7", task, "cpu/utilization"), value)])


def test_points_are_of_the_interval_and_its_start_is_not(calling: Calling) -> None:
    keep(calling, "workerpool0-0", 0.1, 0.2, 0.3)
    start = timestamp(calling.clock.now() - timedelta(seconds=60))
    assert values(asked(calling, f'metric.type="{CPU}"', **{"interval.startTime": start})[0]) == [0.3]
    assert "points" not in asked(calling, f'metric.type="{CPU}"', view="HEADERS")[0]


def test_series_are_aligned(calling: Calling) -> None:
    keep(calling, "workerpool0-0", 0.2, 0.4, 0.6, 0.8, every_s=30)
    aligned = {"aggregation.perSeriesAligner": "ALIGN_MEAN", "aggregation.alignmentPeriod": "60s"}
    requests = asked(calling, f'metric.type="{CPU}"', **aligned)
    assert values(requests[0]) == pytest.approx([0.7, 0.3])


def test_series_are_reduced_to_one_for_each_group(calling: Calling) -> None:
    keep(calling, "workerpool0-0", 0.2, 0.4)
    keep(calling, "workerpool1-0", 0.6, 1.0)
    how = {"aggregation.perSeriesAligner": "ALIGN_MEAN", "aggregation.alignmentPeriod": "60s"}
    found = asked(calling, f'metric.type="{CPU}"', **how, **{"aggregation.crossSeriesReducer": "REDUCE_MEAN"})
    assert [item["resource"]["labels"] for item in found] == [{"project_id": "local-project"}]
    assert values(found[0]) == pytest.approx([0.7, 0.4])
    how |= {"aggregation.crossSeriesReducer": "REDUCE_MAX"}
    grouped = asked(calling, f'metric.type="{CPU}"', **how, **{"aggregation.groupByFields": "resource.label.task_name"})
    assert [(item["resource"]["labels"]["task_name"], values(item)) for item in grouped] == [
        ("workerpool0-0", [0.4, 0.2]),
        ("workerpool1-0", [1.0, 0.6]),
    ]
    counted = asked(calling, f'metric.type="{CPU}"', **how | {"aggregation.crossSeriesReducer": "REDUCE_COUNT"})
    assert (counted[0]["valueType"], counted[0]["points"][0]["value"]) == ("INT64", {"int64Value": "2"})


def test_a_page_counts_points_and_may_end_within_a_series(calling: Calling) -> None:
    keep(calling, "workerpool0-0", 0.1, 0.2, 0.3)
    keep(calling, "workerpool1-0", 0.4, 0.5)
    pages: list[Any] = []
    token = ""
    while token or not pages:
        answer = answered(calling, f'metric.type="{CPU}"', pageSize="2", pageToken=token)
        pages.append([(item["resource"]["labels"]["task_name"][10], values(item)) for item in answer["timeSeries"]])
        token = answer.get("nextPageToken", "")
    assert pages == [[("0", [0.3, 0.2])], [("0", [0.1]), ("1", [0.5])], [("1", [0.4])]]
    assert len(asked(calling, f'metric.type="{CPU}"', pageSize="1", view="HEADERS")) == 1


def quota_use(calling: Calling, metric: str) -> list[tuple[str, int]]:
    requests = asked(
        calling,
        f'metric.type="{USAGE}" AND resource.type="consumer_quota" AND '
        'resource.label.service="aiplatform.googleapis.com" AND '
        f'metric.label.quota_metric="aiplatform.googleapis.com/{metric}"',
    )
    return [
        (item["resource"]["labels"]["location"], int(item["points"][0]["value"]["int64Value"])) for item in requests
    ]


def test_quota_in_use_follows_live_jobs(calling: Calling) -> None:
    assert quota_use(calling, "custom_model_training_cpus") == []
    job(calling)
    assert quota_use(calling, "custom_model_training_cpus") == [("us-central1", 4)]
    calling.world.change_settings({"quota_series": False})
    assert quota_use(calling, "custom_model_training_cpus") == []


def test_old_samples_are_forgotten(calling: Calling) -> None:
    keep(calling, "workerpool0-0", 0.5)
    calling.clock.advance(timedelta(days=43).total_seconds())
    Sampler(calling.world, lambda session, at: Reading(at, {}, 0))
    assert samples.sources(calling.world.store, "", "9") == []


RECORDED = (Path(recordings.__file__).parent / "gemma2-27b-on-8-h100.csv").read_text("utf-8")


def test_accelerators_of_a_job_show_what_the_scenario_has_recorded(calling: Calling, busy: Sampler) -> None:
    """Whatever time passes between two looks: each sample of the recording is there once, at its own time."""
    calling.world.change_settings({"quota.custom_model_training_nvidia_t4_gpus": 8})
    scenarios.load(calling.world, {"gpus": [{"job": "train", "csv": RECORDED}]})
    job_id = job(calling, T4)
    calling.clock.advance(1)
    busy.step()  # Its replica has begun, and the job has no start yet.
    (started,) = jobs.started(calling.world.store)
    assert started.run
    run = replace(started.run, start_time=timestamp(START))
    with calling.world.store.transaction():
        jobs.keep(calling.world, run, replace(started, run=run))
    calling.clock.advance(1)
    busy.step()
    assert [values(series) for series in asked(calling, f'metric.type="{GPU}"')] == [[0.0], [0.0]]
    for seconds in (600, 5, 1800, 3000):
        calling.clock.advance(seconds)
        busy.step()
    requests = asked(
        calling,
        f'metric.type="{GPU}" AND resource.labels.job_id="{job_id}"',
        **{"interval.startTime": timestamp(START)},
    )
    assert [series["metric"]["labels"]["accelerator_id"] for series in requests] == ["0", "1"]
    for series in requests:
        use = values(series)
        assert len(use) >= 58 and sum(item < 0.05 for item in use) >= 31 and max(use) > 0.9
    memory = asked(calling, f'metric.type="{GPU.replace("utilization", "memory/utilization")}"')
    assert max(values(memory[0])) == pytest.approx(0.88, abs=0.01)
    measured = asked(calling, f'metric.type="{CPU}"', **{"interval.startTime": timestamp(START)})
    assert values(measured[0])[0] != values(requests[0])[0], "its CPU is what was measured"


def test_other_jobs_show_what_their_processors_do(calling: Calling, busy: Sampler) -> None:
    calling.world.change_settings({"quota.custom_model_training_nvidia_t4_gpus": 8})
    scenarios.load(calling.world, {"gpus": [{"job": "gemma2", "csv": RECORDED}]})
    job(calling, T4)
    busy.step()
    busy.step()
    assert values(asked(calling, f'metric.type="{GPU}"')[0]) == values(asked(calling, f'metric.type="{CPU}"')[0])


# --- A real job is measured, and Google's API client for Python reads it (Z5).


BURN = "import time; until = time.monotonic() + 600\nwhile time.monotonic() < until: sum(range(10000))"


def monitoring(cloud: LocalCloud) -> Any:
    options = {"api_endpoint": cloud.url}
    return discovery.build(
        "monitoring", "v3", credentials=cloud.credentials(), static_discovery=True, client_options=options
    )


@pytest.mark.journey
def test_a_busy_job_is_seen_to_be_busy(running: LocalCloud) -> None:
    task = {"imageUri": "python:3.10", "command": ["python", "-c", BURN]}
    machine = T4 | {"acceleratorCount": 1}
    body = job_body(worker(machineSpec=machine, containerSpec=task))
    name = str(running.rest("POST", f"/v1/{PARENT}/customJobs", body)["name"])
    asked = {
        "name": "projects/local-project",
        "filter": f'metric.type="{GPU}" AND resource.type="cloudml_job" '
        f'AND resource.labels.job_id="{name.rpartition("/")[2]}"',
        "interval_startTime": "2020-01-01T00:00:00Z",
        "interval_endTime": "2100-01-01T00:00:00Z",  # whatever the clock of the cloud has been moved to
    }
    series, until = monitoring(running).projects().timeSeries(), time.monotonic() + 600
    points: list[Any] = []
    while len(points) < 3 or not any(point["value"]["doubleValue"] > 0.1 for point in points):
        assert time.monotonic() < until, points
        time.sleep(0.2)
        points = [point for found in series.list(**asked).execute().get("timeSeries", []) for point in found["points"]]
    running.cancel(name)
