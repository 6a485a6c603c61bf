"""Spot preemption: the job goes back to PENDING and on to RUNNING, six times, then it fails (X1, X2, X5, X7)."""

from typing import Any

import pytest

from tests.vertex.scheduling.conftest import Stage
from tests.vertex.scheduling.test_waiting import N1, WORDS
from vertex_local.testing.bodies import worker


def spot(stage: Stage, *workers: Any, **more: Any) -> str:
    return stage.submit(*workers, strategy="SPOT", name="spot-training", **more)


def preempting(stage: Stage, *, after: float = 10, times: int = 1, **more: Any) -> None:
    stage.scenario(spot={"preempt": [{"job": "spot", "after": after, "times": times}], **more})


def test_a_preempted_job_waits_and_runs_again_with_the_same_id(stage: Stage) -> None:
    preempting(stage)
    job = spot(stage, worker(), worker())
    stage.step()
    first = stage.body(job)
    stage.step(9)
    assert stage.state(job) == "RUNNING"
    stage.step(1)
    waiting = stage.body(job)
    assert waiting["state"] == "JOB_STATE_PENDING"
    assert (waiting["startTime"], "error" in waiting) == (first["startTime"], False)
    assert waiting["updateTime"] > first["updateTime"]
    assert stage.used() == {}, "a job without machines draws nothing"
    assert stage.machines.graces == [0.0, 0.0], "nobody was asked"
    stage.step(60)
    assert (stage.state(job), stage.run(job).attempt) == ("RUNNING", 2)
    stage.step(3600)
    stage.ends(job)
    assert stage.state(job) == "SUCCEEDED"
    assert stage.said(job) == [
        "Job is running.",
        "The Spot VM of replica workerpool0-0 was preempted.",
        "STOCKOUT: the job has no machines any more. It has run for 0:00:10; waiting is not billed.",
        "Restarting the job after preemption (restart 1 of 6) in 60 s, as soon as there are Spot VMs.",
        "Job is running.",
    ]


def test_with_a_notice_replicas_are_asked_first(stage: Stage) -> None:
    preempting(stage, notice=30)
    spot(stage)
    stage.step()
    stage.step(10)
    assert stage.machines.graces == [30]


def test_the_seventh_preemption_is_the_end(stage: Stage) -> None:
    preempting(stage, times=-1)
    job = spot(stage)
    stage.step()
    for _ in range(6):
        stage.step(10)
        assert stage.state(job) == "PENDING"
        stage.step(60)
        assert stage.state(job) == "RUNNING"
    stage.step(10)
    assert stage.state(job) == "FAILED"
    told = stage.error(job)
    assert told.startswith("STOCKOUT: ") and "restarted 6 times" in told and told.endswith(WORDS)


def test_a_restart_that_finds_no_machines_counts(stage: Stage) -> None:
    stage.supply((0, N1, "spot", 1), (30, N1, "spot", 0), spot={"preempt": [{"job": "spot", "after": 10, "times": 1}]})
    job = spot(stage)
    stage.step()
    stage.step(10)
    stage.step(20)
    for restart in range(2, 7):
        stage.step(60)
        assert (stage.state(job), stage.run(job).restarts) == ("PENDING", restart)
    stage.step(60)
    assert stage.state(job) == "FAILED"


def test_a_spot_job_that_never_had_machines_is_tried_like_any_other(stage: Stage) -> None:
    stage.supply((0, N1, "spot", 0))
    job = spot(stage)
    stage.step(60)
    stage.step(60)
    assert (stage.state(job), stage.error(job)) == ("FAILED", WORDS)


def test_fewer_spot_machines_take_the_newest_jobs(stage: Stage) -> None:
    stage.supply((0, N1, "any", 4), (60, N1, "any", 3), (120, N1, "spot", 0))
    ordinary = stage.submit()
    old, young = spot(stage), spot(stage, worker(), worker())
    stage.step()
    stage.step(60)
    assert [stage.state(job) for job in (ordinary, old, young)] == ["RUNNING", "RUNNING", "PENDING"]
    stage.step(60)
    assert [stage.state(job) for job in (ordinary, old, young)] == ["RUNNING", "PENDING", "PENDING"]
    assert stage.machines_used() == {(N1, "standard"): 1}


def test_time_without_machines_is_not_time_in_running(stage: Stage) -> None:
    """X7, W7: the timeout counts what is billed."""
    preempting(stage)
    job = spot(stage, timeout="100s")
    stage.step()
    stage.step(10)
    stage.step(1000)
    assert stage.state(job) == "RUNNING"
    stage.step(89)
    assert stage.state(job) == "RUNNING"
    stage.step(1)
    assert (stage.state(job), "timeout of 100 s" in stage.error(job)) == ("CANCELLED", True)


def test_only_spot_jobs_are_preempted(stage: Stage) -> None:
    preempting(stage, after=0, times=-1)
    job = stage.submit(name="spot-but-not")
    stage.step(100)
    assert stage.state(job) == "RUNNING"


@pytest.mark.parametrize(("setting", "state"), [("restart", "PENDING"), ("fail", "FAILED")])
def test_whether_disabled_retries_end_a_preempted_job_is_a_setting(stage: Stage, setting: str, state: str) -> None:
    stage.set(spot_disable_retries=setting)
    preempting(stage)
    job = spot(stage, disableRetries=True)
    stage.step()
    stage.step(10)
    assert stage.state(job) == state


def test_cancelling_a_job_that_is_being_preempted_or_waits_ends_it(stage: Stage) -> None:
    preempting(stage, times=-1)
    closing, waiting = spot(stage), spot(stage)
    stage.step()
    stage.step(10)
    stage.calling.call("POST", f"/v1/{waiting}:cancel", {})
    assert stage.state(waiting) == "CANCELLED"
    stage.step(60)
    stage.calling.clock.advance(10)
    stage.scheduler.step()
    outcome = stage.run(closing).outcome
    assert outcome and outcome.state == "preempted"
    stage.calling.call("POST", f"/v1/{closing}:cancel", {})
    stage.step()
    assert stage.state(closing) == "CANCELLED"


def test_a_spot_job_draws_preemptible_cpus_and_queues_for_them(stage: Stage) -> None:
    stage.set(**{"quota.custom_model_training_preemptible_cpus": 4})
    preempting(stage)
    first, second = spot(stage), stage.submit(strategy="SPOT")
    stage.step()
    assert (stage.state(first), stage.state(second)) == ("RUNNING", "QUEUED")
    stage.step(10)
    assert (stage.state(first), stage.state(second)) == ("PENDING", "RUNNING")
    stage.step(60)
    assert stage.state(first) == "QUEUED", "its quota is in use by another meanwhile"
    stage.ends(second)
    assert stage.state(first) == "RUNNING"
