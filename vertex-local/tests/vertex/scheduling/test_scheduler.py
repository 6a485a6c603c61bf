"""The thread that moves all jobs on: it is soon done, and leaves no machine idle that somebody waits for. (N4)"""

import json
import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vertex.scheduling.conftest import Stage
from vertex_local.nodes.spec import ReplicaSpec, Status
from vertex_local.supply.shape import Shape
from vertex_local.testing.bodies import pool, worker
from vertex_local.testing.calling import REGION
from vertex_local.vertex.clusters.records import Pool
from vertex_local.vertex.jobs import replicas
from vertex_local.vertex.jobs import table as jobs
from vertex_local.vertex.jobs.records import Demand
from vertex_local.vertex.scheduling import placement
from vertex_local.vertex.scheduling.scheduler import Scheduler


def test_machines_that_become_free_are_given_away_in_the_same_look(stage: Stage) -> None:
    stage.calling.cluster("eight", resourcePools=[pool(replicas=8)])
    names = [str(stage.calling.job(cluster="eight")["name"]) for _ in range(30)]
    stage.step()
    for name in names[:5]:
        stage.machines.seen[stage.folder(name, "workerpool0-0")] = Status("exited")
    for _ in range(2):  # the verdict, and the end of all that the job had
        stage.scheduler.step()
        assert jobs.pool_use(stage.world.store, REGION, "eight") == {"n1-standard-4": 8}
    assert [stage.state(name) for name in names[4:6]] == ["SUCCEEDED", "RUNNING"]
    assert [stage.state(name) for name in names[12:14]] == ["RUNNING", "QUEUED"]


def test_what_was_placed_is_started_by_the_cloud_that_comes_after_a_kill(stage: Stage) -> None:
    name = stage.submit()
    assert stage.state(name) == "PENDING" and not stage.machines.written
    stage.scheduler = Scheduler(stage.world, stage.machines)
    stage.step()
    assert stage.state(name) == "RUNNING" and len(stage.machines.written) == 1


def test_a_replica_is_told_how_much_room_its_start_takes(stage: Stage) -> None:
    stage.set(least_free_bytes=5)
    stage.submit()
    stage.step()
    assert [spec.least_free_bytes for spec in stage.machines.written.values()] == [5]


def test_the_folder_of_a_job_goes_an_hour_after_its_end_and_a_running_one_s_stays(stage: Stage) -> None:
    ended, goes_on = stage.submit(), stage.submit()
    stage.step()
    folders = [replicas.job_folder(stage.world, stage.run(name)) for name in (ended, goes_on)]
    stage.ends(ended)
    for folder in folders:
        (folder / "1" / "workerpool0-0").mkdir(parents=True)
        (folder / "1" / "workerpool0-0" / "exit.json").touch()
        for path in (folder / "1" / "workerpool0-0" / "exit.json", folder / "1"):
            os.utime(path, (stage.calling.clock.now().timestamp(),) * 2)
    stage.step(stage.world.settings.job_folder_seconds - 60)
    assert all(folder.exists() for folder in folders)
    stage.step(120)
    assert [folder.exists() for folder in folders] == [False, True]


def test_metrics_of_a_trial_stay_for_its_study(stage: Stage) -> None:
    metrics = replicas.metrics_folder(stage.world, "4711")
    (metrics / "workerpool0-0").mkdir(parents=True)
    log = metrics.with_name("1") / "workerpool0-0" / "log.jsonl"
    log.parent.mkdir(parents=True)
    for path in (log.parent, log.parent.parent):
        os.utime(path, (0, 0))
    stage.step()
    assert metrics.exists() and not log.parent.exists()


def test_it_removes_nothing_itself_of_what_jobs_leave(stage: Stage) -> None:
    """Eight environments took it half a second, and in a busy cloud ten; the machines of those who waited were idle."""
    name = stage.submit()
    stage.step()
    root = replicas.job_folder(stage.world, stage.run(name))
    left = [root / "images" / "a" / "lib", root / "1" / "environments" / "b" / "lib", root / "1" / "chief" / "work"]
    for folder in left:
        folder.mkdir(parents=True)
    stage.ends(name)
    assert not any(folder.parent.exists() for folder in left[:2])
    assert not left[2].exists()
    assert len(list((stage.world.state_folder / "trash").iterdir())) == 3, "for those who have time"


# --- Which pool each replica of a job gets a machine of, and by how much pools grow for it (vertex-rules 3.4).


SMALL, LARGE = (Shape(machine, None, 0, "pd-ssd", 100) for machine in ("n1-standard-4", "n1-standard-8"))

SIZES = st.lists(st.tuples(st.sampled_from([SMALL, LARGE]), st.integers(1, 5)), min_size=1, max_size=4)


@given(pools=SIZES, wanted=SIZES, taken=st.integers(0, 3))
def test_each_replica_gets_a_free_machine_of_its_shape_or_none_gets_any(
    pools: list[tuple[Shape, int]], wanted: list[tuple[Shape, int]], taken: int
) -> None:
    has = [Pool(f"p{at}", shape, size) for at, (shape, size) in enumerate(pools)]
    used = {pool.id: min(taken, pool.replicas) for pool in has}
    demands = [Demand(at, shape, count) for at, (shape, count) in enumerate(wanted)]
    placed = placement.place(demands, has, used)
    free = Counter[Shape]()
    for one in has:
        free[one.shape] += one.replicas - used[one.id]
    needs = Counter[Shape]()
    for demand in demands:
        needs[demand.shape] += demand.count
    fits = all(free[shape] >= count for shape, count in needs.items())
    assert (placed is not None) == fits
    if placed is not None:
        by_id = {pool.id: pool for pool in has}
        assert Counter(index for index, _ in placed) == Counter({item.index: item.count for item in demands})
        assert all(by_id[pool].shape == demands[index].shape for index, pool in placed)
        taken_now = Counter(pool for _, pool in placed)
        assert all(used[name] + count <= by_id[name].replicas for name, count in taken_now.items())


def test_a_job_that_does_not_fit_beside_others_makes_no_pool_grow() -> None:
    pools = [Pool("p", SMALL, 1, 1, 4)]
    assert placement.wanted([Demand(0, SMALL, 2)], pools, Counter(p=1)) == Counter(p=2)
    assert placement.wanted([Demand(0, SMALL, 4)], pools, Counter(p=1)) == Counter()


# --- Workers and jobs that are started again (X4; vertex-rules 3.4).


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
