"""Workers and jobs that are started again (X4; vertex-rules 3.4)."""

import json
from typing import Any

import pytest

from local.cloud.nodes.spec import ReplicaSpec, Status
from tests.local.cloud.vertex.bodies import worker
from tests.local.cloud.vertex.scheduling.conftest import Stage

CHIEF, FIRST, SECOND = "workerpool0-0", "workerpool1-0", "workerpool1-1"


def three(stage: Stage, **scheduling: Any) -> str:
    job = stage.submit(worker(), worker(replicas=2), **scheduling)
    stage.step()
    assert stage.state(job) == "RUNNING"
    return job


def specified(stage: Stage, job: str, replica: str) -> ReplicaSpec:
    return stage.machines.written[stage.folder(job, replica)]


@pytest.mark.parametrize("name", [CHIEF, FIRST])
def test_a_dead_replica_is_started_again_in_its_place_while_the_others_go_on(stage: Stage, name: str) -> None:
    job = three(stage)
    before = {item: (stage.folder(job, item), specified(stage, job, item)) for item in (CHIEF, FIRST, SECOND)}
    started = stage.body(job)["startTime"]
    stage.dies(job, name)
    assert (stage.state(job), stage.body(job)["startTime"]) == ("RUNNING", started)
    for item, (folder, spec) in before.items():
        after = specified(stage, job, item)
        assert (stage.folder(job, item) == folder) == (item != name)
        assert (after.host, after.variables["CLUSTER_SPEC"]) == (spec.host, spec.variables["CLUSTER_SPEC"])
        assert stage.machines.status(stage.folder(job, item)).phase == "running"
    index = 0 if name == CHIEF else 1
    task = json.loads(specified(stage, job, name).variables["CLUSTER_SPEC"])["task"]
    assert task == {"type": f"workerpool{index}", "index": 0}
    assert specified(stage, job, name).variables["CLOUD_ML_JOB_ID"] == job.rpartition("/")[2]
    (said,) = stage.said(job)[1:]
    assert f"The replica {name} " in said and "restart 1 of 5" in said


def test_a_lost_replica_is_away_as_long_as_the_setting_says_by_then(stage: Stage) -> None:
    stage.set(worker_restart_seconds=60)
    job = three(stage)
    stage.dies(job, FIRST)
    for seconds in (0, 59):
        stage.step(seconds)
        assert stage.machines.status(stage.folder(job, FIRST)).phase == "starting"
        assert stage.state(job) == "RUNNING", "the others go on"
    stage.set(worker_restart_seconds=0)
    stage.step()
    assert stage.machines.status(stage.folder(job, FIRST)).phase == "running"


def test_after_five_restarts_of_one_worker_the_whole_job_starts_again(stage: Stage) -> None:
    job = three(stage)
    for _ in range(5):
        stage.dies(job, FIRST)
        assert (stage.state(job), stage.run(job).attempt) == ("RUNNING", 1)
    stage.dies(job, FIRST)
    assert (stage.state(job), stage.run(job).attempt, dict(stage.run(job).worn)) == ("RUNNING", 2, {})


def test_after_three_retries_of_the_job_it_fails(stage: Stage) -> None:
    stage.set(worker_restarts=0)
    job = three(stage)
    for attempt in (2, 3, 4):
        stage.dies(job, FIRST)
        assert stage.run(job).attempt == attempt
    stage.dies(job, FIRST)
    assert (stage.state(job), stage.body(job)["error"]["code"]) == ("FAILED", 13)


def test_a_job_may_ask_to_be_restarted_whole(stage: Stage) -> None:
    job = three(stage, restartJobOnWorkerRestart=True)
    folders = [stage.folder(job, item) for item in (CHIEF, FIRST, SECOND)]
    hosts = [item.host for item in stage.run(job).replicas]
    stage.dies(job, SECOND)
    assert stage.state(job) == "RUNNING"
    after = [stage.folder(job, item) for item in (CHIEF, FIRST, SECOND)]
    assert not set(after) & set(folders), "all of them began anew"
    assert [item.host for item in stage.run(job).replicas] == hosts
    assert stage.run(job).attempt == 1, "on the machines it has"
    assert "(restart 1 of 5)" in stage.said(job)[1]


def test_while_the_whole_job_is_restarted_it_is_pending_and_keeps_its_machines(stage: Stage) -> None:
    job = three(stage, restartJobOnWorkerRestart=True)
    used = stage.used()
    stage.machines.seen[stage.folder(job, FIRST)] = Status("killed")
    states = []
    for _ in range(4):
        stage.scheduler.step()
        states.append(stage.state(job))
        assert stage.used() == used
    assert states == ["RUNNING", "PENDING", "RUNNING", "RUNNING"]


def test_disabled_retries_overrule_that(stage: Stage) -> None:
    job = three(stage, restartJobOnWorkerRestart=True, disableRetries=True)
    stage.dies(job, FIRST)
    assert stage.state(job) == "FAILED"


def test_a_failure_of_user_code_is_not_restarted(stage: Stage) -> None:
    job = three(stage)
    stage.ends(job, FIRST, 1)
    assert (stage.state(job), "non-zero status of 1" in stage.error(job)) == ("FAILED", True)


def test_a_crash_tries_the_whole_job_again_and_gives_its_machines_up_between(stage: Stage) -> None:
    job = three(stage)
    hosts = {item.host for item in stage.run(job).replicas}
    stage.ends(job, SECOND, 139)
    assert (stage.state(job), stage.run(job).attempt) == ("RUNNING", 2)
    assert not hosts & {item.host for item in stage.run(job).replicas}
    assert any(line.startswith("Attempt 1 of the job") for line in stage.said(job))


def test_workers_are_restarted_on_a_cluster_too(stage: Stage) -> None:
    stage.calling.cluster("cpu")
    job = str(stage.calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})["name"])
    stage.step()
    stage.dies(job, FIRST)
    assert (stage.state(job), stage.run(job).replicas[1].restarts) == ("RUNNING", 1)
    assert stage.run(job).replicas[1].pool == "n1-standard-4"
