"""What becomes of a job when its replicas run, end and are lost, and when time runs out (vertex-rules 2, 3.5)."""

import signal
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from local.cloud.nodes.spec import Status
from local.cloud.supply.shape import Shape
from local.cloud.training_settings import TrainingSettings
from local.cloud.vertex.jobs import life as job_life
from local.cloud.vertex.jobs.records import Demand, Job, Replica, Run
from tests.local.cloud.calling import START

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


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "The replica workerpool1-0 exited with a non-zero status of 1. Termination reason: Error."),
        (137, "The replica workerpool1-0 ran out of memory and exited with a non-zero status of 137."),
    ],
)
def test_a_failure_of_user_code_fails_the_job_in_the_service_s_words(code: int, words: str) -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    closing = job_life.advanced(running, run, seen(RUNNING, Status("exited", code)), START, RULES)
    assert closing.run and closing.run.outcome
    assert closing.run.outcome.message == words
    assert closing.run.outcome.state == "JOB_STATE_FAILED"


@pytest.mark.parametrize("code", [int(signal.SIGABRT), 128 + signal.SIGABRT, 128 + signal.SIGSEGV])
def test_a_crash_is_tried_again_three_times_unless_retries_are_off(code: int) -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    attempts = 0
    while True:
        after = job_life.advanced(running, run, seen(Status("exited", code), STOPPED), START, RULES)
        attempts += 1
        if after.run is None:
            break
        assert (after.body["state"], after.run.attempt, after.run.replicas) == ("JOB_STATE_QUEUED", attempts + 1, ())
        running, run = after, replace(after.run, replicas=run.replicas, state="JOB_STATE_RUNNING")
    assert attempts == 4
    assert after.body["state"] == "JOB_STATE_FAILED"
    once, run = job(state="JOB_STATE_RUNNING", may_retry=False)
    assert job_life.advanced(once, run, seen(Status("exited", code), STOPPED), START, RULES).run is None


def test_lost_machines_give_three_attempts_in_all() -> None:
    first, run = job(state="JOB_STATE_RUNNING")
    assert job_life.advanced(first, run, seen(Status("lost"), STOPPED), START, RULES).body["state"].endswith("QUEUED")
    last, run = job(state="JOB_STATE_RUNNING", attempt=3)
    over = job_life.advanced(last, run, seen(Status("lost"), STOPPED), START, RULES)
    assert over.body["state"].endswith("FAILED") and over.body["error"]["code"] == 13


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
