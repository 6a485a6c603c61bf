"""What ends of replicas mean (vertex-rules 3.4): success, permanent, the job again, the worker again."""

import re
from dataclasses import replace

import pytest

from local.cloud.nodes.spec import Status
from local.cloud.supply.shape import Shape
from local.cloud.training_settings import TrainingSettings
from local.cloud.vertex.jobs.failures import Restart, verdict
from local.cloud.vertex.jobs.records import Demand, Outcome, Replica, Run

RULES = TrainingSettings()
CHIEF, WORKER, OTHER = "workerpool0-0", "workerpool1-0", "workerpool1-1"
RUNNING, DONE, KILLED, LOST = (Status(phase) for phase in ("running", "exited", "killed", "lost"))
RUN = Run(
    number=1,
    name="projects/1/locations/us-central1/customJobs/7",
    state="JOB_STATE_RUNNING",
    cluster=None,
    spot=False,
    demands=(Demand(0, Shape("n1-standard-4", None, 0, "pd-ssd", 100), 1),),
    timeout_s=100,
    may_retry=True,
    email="a@b",
    replicas=tuple(Replica(i, n, None, "127.1.0.1", 2222, 7777) for i, n in ((0, 0), (1, 0), (1, 1))),
)


def seen(chief: Status = RUNNING, worker: Status = RUNNING, other: Status = RUNNING) -> dict[str, Status]:
    return {CHIEF: chief, WORKER: worker, OTHER: other}


def test_nothing_follows_while_all_run_or_a_worker_is_done() -> None:
    assert verdict(RUN, seen(), RULES) is None
    assert verdict(RUN, seen(worker=DONE), RULES) is None


def test_the_chief_s_success_counts_whatever_became_of_the_others() -> None:
    assert verdict(RUN, seen(DONE, KILLED, Status("exited", 1)), RULES) == Outcome("JOB_STATE_SUCCEEDED")


@pytest.mark.parametrize("code", [1, 2, 42, 127, 137])
def test_user_code_s_own_failure_and_too_little_memory_are_permanent(code: int) -> None:
    found = verdict(RUN, seen(worker=Status("exited", code)), RULES)
    assert isinstance(found, Outcome)
    assert (found.state, f"non-zero status of {code}" in found.message) == ("JOB_STATE_FAILED", True)
    assert ("ran out of memory" in found.message) == (code == 137)


@pytest.mark.parametrize("code", [6, 11, 134, 139])
def test_a_crash_signal_tries_the_whole_job_again_three_times(code: int) -> None:
    ends = [verdict(replace(RUN, attempt=n), seen(worker=Status("exited", code)), RULES) for n in range(1, 5)]
    assert [end.state for end in ends if isinstance(end, Outcome)] == ["retry"] * 3 + ["JOB_STATE_FAILED"]
    found = verdict(replace(RUN, may_retry=False), seen(worker=Status("exited", code)), RULES)
    assert isinstance(found, Outcome) and found.state == "JOB_STATE_FAILED"


@pytest.mark.parametrize("end", [KILLED, LOST, Status("stopped"), Status("exited", 143), Status("exited", 129)])
@pytest.mark.parametrize("name", [CHIEF, WORKER])
def test_what_came_from_outside_restarts_the_worker_while_the_others_go_on(end: Status, name: str) -> None:
    assert verdict(RUN, seen() | {name: end}, RULES) == Restart((name,), whole=False)


def test_the_whole_job_restarts_with_a_worker_if_it_asks_for_that() -> None:
    assert verdict(replace(RUN, restart_whole=True), seen(worker=KILLED), RULES) == Restart((WORKER,), whole=True)


def test_a_worker_is_restarted_five_times_then_the_job_three_times() -> None:
    worn = replace(RUN, worn={WORKER: 5, OTHER: 1})
    assert verdict(worn, seen(other=KILLED), RULES) == Restart((OTHER,), whole=False)
    assert verdict(worn, seen(worker=KILLED), RULES) == Outcome("retry")
    found = verdict(replace(worn, attempt=4), seen(worker=KILLED), RULES)
    assert isinstance(found, Outcome) and (found.state, found.code) == ("JOB_STATE_FAILED", 13)
    found = verdict(replace(worn, attempt=4), seen(worker=Status("exited", 143)), RULES)
    assert isinstance(found, Outcome) and re.search(r"143\. Termination reason: Signal", found.message)


def test_attempts_that_ended_by_preemption_are_no_errors() -> None:
    run = replace(RUN, attempt=7, preemptions=6)
    assert verdict(run, seen(worker=Status("exited", 134)), RULES) == Outcome("retry")


def test_with_retries_disabled_nothing_is_started_again() -> None:
    found = verdict(replace(RUN, may_retry=False, restart_whole=True), seen(worker=KILLED), RULES)
    assert isinstance(found, Outcome) and found.state == "JOB_STATE_FAILED"


def test_all_machines_lost_at_once_is_the_service_s_own_error() -> None:
    ends = [verdict(replace(RUN, attempt=n), seen(LOST, LOST, DONE), RULES) for n in range(1, 4)]
    assert [end.state for end in ends if isinstance(end, Outcome)] == ["retry", "retry", "JOB_STATE_FAILED"]


def test_which_codes_restart_a_worker_is_a_setting() -> None:
    rules = TrainingSettings(worker_restart_codes="42, 137")
    assert verdict(RUN, seen(worker=Status("exited", 42)), rules) == Restart((WORKER,), whole=False)
    assert isinstance(verdict(RUN, seen(worker=Status("exited", 143)), rules), Outcome)
    with pytest.raises(ValueError, match="exit codes with commas between, not 'x'"):
        TrainingSettings(worker_restart_codes="x")
