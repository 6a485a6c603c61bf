"""What becomes of a job when its replicas run, end and are lost, and when time runs out (vertex-rules 2, 3.5)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from vertex_local.nodes.spec import Status
from vertex_local.supply.shape import Shape
from vertex_local.testing.calling import START
from vertex_local.training_settings import TrainingSettings
from vertex_local.vertex.jobs import life as job_life
from vertex_local.vertex.jobs.failures import Restart, verdict
from vertex_local.vertex.jobs.records import Demand, Job, Outcome, Replica, Run

SMALL = Shape("n1-standard-4", None, 0, "pd-ssd", 100)
RULES = TrainingSettings()


def job(workers: int = 1, **changes: Any) -> tuple[Job, Run]:
    replicas = (
        Replica(0, 0, "p", "127.1.0.1", 2222, 7777),
        *(Replica(1, n, "p", f"127.1.0.{n + 2}", 2222, 7777) for n in range(workers)),
    )
    run = Run(
        number=1,
        name="projects/1/locations/us-central1/customJobs/7",
        state="JOB_STATE_PENDING",
        cluster="c",
        spot=False,
        demands=(Demand(0, SMALL, 1),),
        timeout_s=100,
        may_retry=True,
        email="a@b",
        replicas=replicas,
    )
    run = replace(run, **changes)
    return Job({"name": run.name, "state": run.state}, run), run


def seen(chief: Status, *workers: Status) -> Mapping[str, Status]:
    return {"workerpool0-0": chief} | {f"workerpool1-{n}": status for n, status in enumerate(workers)}


STARTING, RUNNING, DONE, STOPPED = (Status(phase) for phase in ("starting", "running", "exited", "stopped"))


def test_a_job_runs_once_all_its_replicas_do() -> None:
    waiting, run = job()
    assert job_life.advanced(waiting, run, seen(RUNNING, STARTING), START, RULES) is waiting
    after = job_life.advanced(waiting, run, seen(RUNNING, RUNNING), START, RULES)
    assert (after.body["state"], after.body["startTime"]) == ("JOB_STATE_RUNNING", "2026-11-20T10:00:00.000000Z")


def test_times_are_when_it_happened_not_when_the_cloud_looked() -> None:
    """A job that trains for 2 s between two looks has run for 2 s."""
    waiting, run = job()
    late = START + timedelta(seconds=30)
    began, last, over = (f"2026-11-20T10:00:{second}Z" for second in ("01.000000", "02.500000", "04.500000"))
    both = seen(Status("running", began=last), Status("running", began=began))
    running = job_life.advanced(waiting, run, both, late, RULES)
    assert (running.body["startTime"], running.body["updateTime"]) == (last, "2026-11-20T10:00:30.000000Z")
    assert running.run
    both = seen(Status("exited", began=last, over=began), Status("stopped", began=began, over=over))
    done = job_life.advanced(running, running.run, both, late, RULES)
    assert (done.body["startTime"], done.body["endTime"]) == (last, over)
    at_once = job_life.advanced(waiting, run, both, late, RULES)
    assert (at_once.body["startTime"], at_once.body["endTime"]) == (last, over)
    unseen = seen(Status("exited", began=last, over=over), Status("lost", began=began))
    assert job_life.advanced(waiting, run, unseen, late, RULES).body["endTime"] == done.body["updateTime"]


def test_time_in_running_counts_until_the_last_replica_ended() -> None:
    running, run = job(state="JOB_STATE_RUNNING", start_time="2026-11-20T10:00:00.000000Z")
    crashed = seen(*(Status("exited", 139, over=f"2026-11-20T10:00:0{second}.000000Z") for second in (3, 5)))
    after = job_life.advanced(running, run, crashed, START + timedelta(seconds=30), RULES)
    assert after.run and (after.run.attempt, after.run.ran_s) == (2, 5.0)


def test_the_chief_s_success_is_the_job_s_once_the_others_have_been_ended() -> None:
    running, run = job(state="JOB_STATE_RUNNING", start_time="2026-11-20T09:59:00.000000Z")
    closing = job_life.advanced(running, run, seen(DONE, RUNNING), START, RULES)
    assert closing.body["state"] == "JOB_STATE_RUNNING"
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(DONE, STOPPED), START, RULES)
    assert (over.body["state"], over.run) == ("JOB_STATE_SUCCEEDED", None)
    assert "error" not in over.body


@pytest.mark.parametrize("code", [1, 2, 42, 127, 137])
def test_a_failure_of_user_code_fails_the_job_in_the_service_s_words(code: int) -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    closing = job_life.advanced(running, run, seen(RUNNING, Status("exited", code)), START, RULES)
    assert closing.run and closing.run.outcome
    why = "ran out of memory and exited" if code == 137 else "exited"
    assert closing.run.outcome.message.startswith(f"The replica workerpool1-0 {why} with a non-zero status of {code}.")
    assert closing.run.outcome.message.endswith(" Termination reason: Error.") is (code != 137)
    assert closing.run.outcome.state == "JOB_STATE_FAILED"


def test_user_code_that_fails_at_once_has_run_all_the_same() -> None:
    waiting, run = job()
    over = job_life.advanced(waiting, run, seen(Status("exited", 3), DONE), START, RULES)
    assert (over.body["state"], over.body["startTime"]) == ("JOB_STATE_FAILED", "2026-11-20T10:00:00.000000Z")
    halfway = job_life.advanced(waiting, run, seen(Status("exited", 3), STARTING), START, RULES)
    assert "startTime" not in halfway.body


def test_what_keeps_user_code_from_starting_is_told() -> None:
    waiting, run = job()
    over = job_life.advanced(waiting, run, seen(Status("unready", message="No image."), STOPPED), START, RULES)
    assert over.body["state"] == "JOB_STATE_FAILED"
    assert over.body["error"]["message"].endswith(" No image.")
    assert "startTime" not in over.body


@pytest.mark.parametrize("state", ["JOB_STATE_CANCELLED", "JOB_STATE_FAILED"])
def test_a_timeout_counts_from_running(state: str) -> None:
    rules = TrainingSettings(timeout_state=state)
    running, run = job(state="JOB_STATE_RUNNING", start_time="2026-11-20T10:00:00.000000Z")
    both = seen(RUNNING, RUNNING)
    assert job_life.advanced(running, run, both, START + timedelta(seconds=99), rules) is running
    closing = job_life.advanced(running, run, both, START + timedelta(seconds=100), rules)
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(STOPPED, STOPPED), START, rules)
    assert (over.body["state"], "timeout of 100 s" in over.body["error"]["message"]) == (state, True)


def test_cancelling_ends_replicas_first_and_does_not_undo_a_success() -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    closing = job_life.cancelled(running, run, START, "why")
    assert closing.body["state"] == "JOB_STATE_CANCELLING"
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(STOPPED, DONE), START, RULES)
    assert (over.body["state"], over.body["error"]["message"]) == ("JOB_STATE_CANCELLED", "why")
    succeeded = job_life.advanced(running, run, seen(DONE, RUNNING), START, RULES)
    assert succeeded.run
    assert job_life.cancelled(succeeded, succeeded.run, START, "late") is succeeded


# --- What ends of replicas mean (vertex-rules 3.4): success, permanent, the job again, the worker again.


CHIEF, WORKER, OTHER = "workerpool0-0", "workerpool1-0", "workerpool1-1"
KILLED, LOST = Status("killed"), Status("lost")
_, RUN = job(2, state="JOB_STATE_RUNNING")


def looked(chief: Status = RUNNING, worker: Status = RUNNING, other: Status = RUNNING) -> dict[str, Status]:
    return {CHIEF: chief, WORKER: worker, OTHER: other}


def test_nothing_follows_while_all_run_or_a_worker_is_done() -> None:
    assert verdict(RUN, looked(), RULES) is None
    assert verdict(RUN, looked(worker=DONE), RULES) is None


def test_the_chief_s_success_counts_whatever_became_of_the_others() -> None:
    assert verdict(RUN, looked(DONE, KILLED, Status("exited", 1)), RULES) == Outcome("JOB_STATE_SUCCEEDED")


@pytest.mark.parametrize("code", [6, 11, 134, 139])
def test_a_crash_signal_tries_the_whole_job_again_three_times(code: int) -> None:
    ends = [verdict(replace(RUN, attempt=n), looked(worker=Status("exited", code)), RULES) for n in range(1, 5)]
    assert [end.state for end in ends if isinstance(end, Outcome)] == ["retry"] * 3 + ["JOB_STATE_FAILED"]
    judged = verdict(replace(RUN, may_retry=False), looked(worker=Status("exited", code)), RULES)
    assert isinstance(judged, Outcome) and judged.state == "JOB_STATE_FAILED"


@pytest.mark.parametrize("end", [KILLED, LOST, Status("stopped"), Status("exited", 143), Status("exited", 129)])
@pytest.mark.parametrize("name", [CHIEF, WORKER])
def test_what_came_from_outside_restarts_the_worker_while_the_others_go_on(end: Status, name: str) -> None:
    assert verdict(RUN, looked() | {name: end}, RULES) == Restart((name,), whole=False)


def test_the_whole_job_restarts_with_a_worker_if_it_asks_for_that() -> None:
    assert verdict(replace(RUN, restart_whole=True), looked(worker=KILLED), RULES) == Restart((WORKER,), whole=True)


def test_a_worker_is_restarted_five_times_then_the_job_three_times() -> None:
    worn = replace(RUN, worn={WORKER: 5, OTHER: 1})
    assert verdict(worn, looked(other=KILLED), RULES) == Restart((OTHER,), whole=False)
    assert verdict(worn, looked(worker=KILLED), RULES) == Outcome("retry")
    judged = verdict(replace(worn, attempt=4), looked(worker=KILLED), RULES)
    assert isinstance(judged, Outcome) and (judged.state, judged.code) == ("JOB_STATE_FAILED", 13)
    judged = verdict(replace(worn, attempt=4), looked(worker=Status("exited", 143)), RULES)
    assert isinstance(judged, Outcome) and re.search(r"143\. Termination reason: Signal", judged.message)


def test_attempts_that_ended_by_preemption_are_no_errors() -> None:
    run = replace(RUN, attempt=7, preemptions=6)
    assert verdict(run, looked(worker=Status("exited", 134)), RULES) == Outcome("retry")


def test_with_retries_disabled_nothing_is_started_again() -> None:
    judged = verdict(replace(RUN, may_retry=False, restart_whole=True), looked(worker=KILLED), RULES)
    assert isinstance(judged, Outcome) and judged.state == "JOB_STATE_FAILED"


def test_all_machines_lost_at_once_is_the_service_s_own_error() -> None:
    ends = [verdict(replace(RUN, attempt=n), looked(LOST, LOST, DONE), RULES) for n in range(1, 4)]
    assert [end.state for end in ends if isinstance(end, Outcome)] == ["retry", "retry", "JOB_STATE_FAILED"]


def test_which_codes_restart_a_worker_is_a_setting() -> None:
    rules = TrainingSettings(worker_restart_codes="42, 137")
    assert verdict(RUN, looked(worker=Status("exited", 42)), rules) == Restart((WORKER,), whole=False)
    assert isinstance(verdict(RUN, looked(worker=Status("exited", 143)), rules), Outcome)
    with pytest.raises(ValueError, match="exit codes with commas between, not 'x'"):
        TrainingSettings(worker_restart_codes="x")
