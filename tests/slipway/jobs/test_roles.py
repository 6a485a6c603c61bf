"""Who wrote a line of a log, and the lines that one of them wrote. The service chooses them, so that the last lines can
be read of what is chosen.
"""

from dataclasses import replace

import pytest

from slipway.cloud.jobs import VertexJob, WorkerPool
from slipway.cloud.logging import LogEntry
from slipway.errors import ConfigError
from slipway.jobs.roles import of_role, prefix, role_filter
from slipway.kinds import TUNING_JOB
from slipway.machines.spec import MachineSpec


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
    ],
)
def test_a_line_stands_after_the_role_that_wrote_it(task: str, who: str) -> None:
    assert prefix(line_of(task), job("scheduler_workers", 1, 2)) == who


def test_without_roles_the_services_own_name_stands() -> None:
    assert prefix(line_of("workerpool0-0"), job("", 1)) == "workerpool0-0"


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
