"""Roles of replicas: who wrote a line of a log, whose the last lines are, and what each replica used of its machines.

The service chooses the lines, so that the last ones can be read of what is chosen."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob, WorkerPool
from slipway.google.logging import LogEntry
from slipway.google.monitoring import CPU, Point, Series
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.roles import of_role, prefix, role_filter
from slipway.using.jobs.utilization import period_of, rows_of


def job(roles: str, *replicas: int) -> VertexJob:
    pools = tuple(WorkerPool(MachineSpec("n1-standard-4"), count) for count in replicas)
    return VertexJob("jobs/1", "digits", "JOB_STATE_RUNNING", {"slipway-roles": roles}, pools)


def line_of(task: str) -> LogEntry:
    return LogEntry(None, "", "INFO", task, task, "line", "1", {})


@pytest.mark.parametrize(
    ("task", "who"),
    [
        ("workerpool0-0", "scheduler"),
        ("workerpool1-1", "workers-1"),
        ("workerpool2-0", "workerpool2-0"),
        ("service", "service"),
        ("workerpool3-0", "workerpool3-0"),
    ],
)
def test_a_line_stands_after_the_role_that_wrote_it(task: str, who: str) -> None:
    assert prefix(line_of(task), job("scheduler_workers", 1, 2)) == who


@pytest.mark.parametrize(
    ("who", "role", "chosen"),
    [
        ("workers-1", "workers", True),
        ("workers-1", "workers-1", True),
        ("workers-1", "worker", False),
        ("parameter-servers-0", "parameter-servers", True),
        ("2/trial", "trial", True),
        ("2/trial", "2/trial", True),
        ("2/workers-0", "workers", True),
        ("2/service", "service", True),
        ("12/trial", "2/trial", False),
    ],
)
def test_a_role_is_that_of_all_its_replicas_and_of_all_trials(who: str, role: str, chosen: bool) -> None:
    assert of_role(who, role) is chosen


CREW = replace(job("scheduler_workers", 1, 2), name="projects/p/locations/r/customJobs/4711")
TUNING = replace(job("trial", 1), kind=TUNING_JOB, max_trials=12)
OF_TRIAL_3 = 'AND labels."ml.googleapis.com/trial_id"="3"'


@pytest.mark.parametrize(
    ("found", "role", "filter"),
    [
        (CREW, "scheduler", 'resource.labels.task_name:"workerpool0-"'),
        (CREW, "workers", 'resource.labels.task_name:"workerpool1-"'),
        (CREW, "workers-1", 'resource.labels.task_name="workerpool1-1"'),
        (CREW, "workerpool1", 'resource.labels.task_name:"workerpool1-"'),
        (CREW, "workerpool1-0", 'resource.labels.task_name="workerpool1-0"'),
        (CREW, "service", 'resource.labels.task_name="service"'),
        (TUNING, "trial", 'resource.labels.task_name:"workerpool0-"'),
        (TUNING, "3/trial", f'resource.labels.task_name:"workerpool0-" {OF_TRIAL_3}'),
        (TUNING, "3/service", f'resource.labels.task_name="service" {OF_TRIAL_3}'),
    ],
)
def test_the_service_chooses_the_lines_of_a_role(found: VertexJob, role: str, filter: str) -> None:
    assert role_filter(found, role) == filter


@pytest.mark.parametrize(
    ("found", "role", "why", "fix"),
    [
        (CREW, "worker", "its lines are of scheduler, workers and service", "slipway jobs logs digits --role workers"),
        (CREW, "workers-2", "its lines are of scheduler, workers and service", "--role workers-"),
        (CREW, 'a" OR "b', "its lines are of scheduler, workers and service", "--role scheduler"),
        (CREW, "3/workers", "its lines are of scheduler, workers and service", "--role workers"),
        (TUNING, "13/trial", "of trial and service; N/ROLE is that of trial N", "--role trial"),
        (TUNING, "/trial", "of trial and service; N/ROLE is that of trial N", "--role trial"),
    ],
)
def test_a_role_that_a_job_does_not_have_is_refused(found: VertexJob, role: str, why: str, fix: str) -> None:
    with pytest.raises(ConfigError) as refused:
        role_filter(found, role)
    assert refused.value.why.endswith(why) and fix in refused.value.fix


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


def test_the_rows_of_trials_have_their_numbers() -> None:
    tried = tuple(
        Trial(id_, "ACTIVE", {}, {}, f"projects/1/locations/r/customJobs/{job}")
        for id_, job in (("1", "9"), ("2", "8"))
    )
    tuned = replace(JOB, kind=TUNING_JOB, tried=tried)
    found = [series(CPU, "workerpool0-0", job=job) for job in ("8", "9")]
    assert [row.role for row in rows_of(found, tuned)] == ["1/chief", "2/chief"]


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
