"""The thread that moves all jobs on: it is soon done, and leaves no machine idle that somebody waits for. (N4)"""

import os
from datetime import datetime
from pathlib import Path

import pytest

from local.cloud.clock import timestamp
from local.cloud.nodes.spec import Status
from local.cloud.vertex.jobs import replicas
from local.cloud.vertex.jobs import table as jobs
from tests.local.cloud.calling import REGION
from tests.local.cloud.vertex.bodies import pool
from tests.local.cloud.vertex.scheduling.conftest import Stage


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


def test_a_job_is_not_updated_before_it_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas end while the cloud looks at others, some hundredths of a second after it began to look."""
    name = stage.submit()
    stage.step()

    def looked(folder: Path) -> Status:
        stage.calling.clock.advance(0.02)
        return Status("exited", over=timestamp(stage.calling.clock.now()))

    monkeypatch.setattr(stage.machines, "status", looked)
    stage.scheduler.step()
    monkeypatch.undo()
    over, changed = (datetime.fromisoformat(stage.body(name)[key]) for key in ("endTime", "updateTime"))
    assert stage.state(name) == "SUCCEEDED" and over <= changed


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
