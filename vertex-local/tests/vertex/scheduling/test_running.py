"""Preempted, killed and waiting jobs as real processes, driven as people drive them (X2, X3, X4, X5, W1)."""

import json
import time
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.vertex.jobs.test_running_jobs import task
from tests.vertex.scheduling.conftest import A100
from vertex_local.testing.bodies import job_body
from vertex_local.testing.calling import JOBS
from vertex_local.testing.local_cloud import WAIT_S, LocalCloud

# Counts its starts in a file that outlives the machine, says so, and runs until it is told to end.
COUNTING = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("asked to end", flush=True), time.sleep(0.2), os._exit(0)))
kept = pathlib.Path({kept!r}) / (os.environ["CLOUD_ML_JOB_ID"] + "-" + os.environ.get("RANK", "0"))
start = len(kept.read_text().split()) + 1 if kept.exists() else 1
with kept.open("a") as file:
    file.write("x ")
print("start", start, flush=True)
while start <= {ends} and not pathlib.Path({kept!r}, "go").exists():
    time.sleep(0.05)
print("done", flush=True)
"""


@pytest.fixture(autouse=True)
def no_scenario(running: LocalCloud) -> Iterator[None]:
    yield
    running.rest("DELETE", "/vertex-local/scenario")


def submit(cloud: LocalCloud, *workers: Any, name: str = "train", **scheduling: Any) -> str:
    spec = {"scheduling": scheduling} if scheduling else {}
    return str(cloud.rest("POST", JOBS, job_body(*workers, displayName=name, spec=spec))["name"])


def said(cloud: LocalCloud, name: str, text: str, count: int = 1, replica: str = "workerpool0-0") -> None:
    """Wait until a replica (or the service) has said something so often."""
    end = time.monotonic() + WAIT_S
    while sum(text in line for line in cloud.lines(name, replica)) < count:
        assert time.monotonic() < end, cloud.lines(name, replica)
        time.sleep(0.1)


def preempt(cloud: LocalCloud, name: str, times: int = 1, **spot: Any) -> None:
    """Let the job lose its machines now, for the `times`th time, after it has begun to work."""
    said(cloud, name, f"start {times}")
    cloud.rest("POST", "/vertex-local/scenario", {"spot": {"preempt": [{"job": "spot", "times": times}], **spot}})


def test_a_spot_job_that_is_preempted_twice_without_notice_goes_on_where_it_was(
    running: LocalCloud, tmp_path: Path
) -> None:
    chief, worker = (COUNTING.format(kept=str(tmp_path), ends=ends) for ends in (9, 2))
    name = submit(running, task(chief), task(worker), name="spot-twice", strategy="SPOT")
    for times in (1, 2):
        said(running, name, f"start {times}", replica="workerpool1-0")  # a replica that is not up yet counts no start
        preempt(running, name, times)
    said(running, name, "done", replica="workerpool1-0")  # before the chief's end, which asks all others to end
    (tmp_path / "go").touch()
    job = running.until(name, "JOB_STATE_SUCCEEDED")
    assert [line for line in running.lines(name) if line] == ["start 1", "start 2", "start 3", "done"]
    assert not [line for line in running.lines(name, "workerpool1-0") if "asked" in line], "nobody got SIGTERM"
    service = "\n".join(running.lines(name, "service"))
    assert service.count("STOCKOUT: ") == 2
    assert "(restart 2 of 6)" in service
    assert job["startTime"] < job["endTime"]


def test_a_notice_lets_the_clean_up_run_and_is_no_success(running: LocalCloud, tmp_path: Path) -> None:
    name = submit(running, task(COUNTING.format(kept=str(tmp_path), ends=1)), name="spot-notice", strategy="SPOT")
    preempt(running, name, notice=30)
    running.until(name, "JOB_STATE_SUCCEEDED")
    assert running.lines(name) == ["start 1", "asked to end", "start 2", "done"]


def test_a_killed_replica_comes_back_in_its_place_while_the_others_go_on(running: LocalCloud, tmp_path: Path) -> None:
    """Elastic training: what the chief sees is a worker that leaves and one that comes, at the same address."""
    code = COUNTING.format(kept=str(tmp_path), ends=9)
    address = "import json, os; print(json.loads(os.environ['CLUSTER_SPEC'])['cluster']['workerpool1'][0])\n"
    name = submit(running, task(address + code), task(address + code, 2), name="elastic")
    running.until(name, "JOB_STATE_RUNNING")
    for replica in ("workerpool0-0", "workerpool1-0", "workerpool1-1"):
        said(running, name, "start 1", replica=replica)
    done = running.command("kill", "elastic", "workerpool1-0")
    assert (done.returncode, done.stdout) == (0, "killed workerpool1-0 of elastic\n")
    said(running, name, "start 2", replica="workerpool1-0")
    (tmp_path / "go").touch()
    running.until(name, "JOB_STATE_SUCCEEDED")
    assert sum("start" in line for line in running.lines(name)) == 1, "the chief went on"
    assert sum("start" in line for line in running.lines(name, "workerpool1-1")) == 1
    places = [line for line in running.lines(name, "workerpool1-0") if line.startswith("127.")]
    assert len(places) == 2 and len(set(places)) == 1
    assert "(restart 1 of 5)" in "".join(running.lines(name, "service"))


def told_by_answers(cloud: LocalCloud) -> datetime:
    return parsedate_to_datetime(cloud.session().get(f"{cloud.url}/vertex-local/clock", timeout=30).headers["Date"])


def test_a_flex_start_job_starts_when_its_machines_come_and_the_clock_can_be_moved(running: LocalCloud) -> None:
    entry = {"region": "us-central1", "machine": "a2-highgpu-1g", "strategy": "flex-start"}
    later = [entry | {"machines": 0}, entry | {"at": 7200, "machines": 2}]
    running.rest("POST", "/vertex-local/scenario", {"supply": later})
    workers = [task("print('trained')") | {"machineSpec": A100}, task("pass") | {"machineSpec": A100}]
    name = submit(running, *workers, strategy="FLEX_START", maxWaitDuration="86400s")
    gone = submit(running, workers[0], strategy="FLEX_START", maxWaitDuration="3600s")
    assert {running.rest("GET", f"/v1/{job}")["state"] for job in (name, gone)} == {"JOB_STATE_PENDING"}
    before = running.rest("GET", "/vertex-local/clock")["now"]
    assert running.rest("POST", "/vertex-local/clock", {"advance": 3601})["now"] > before
    assert "duration of 3600 s" in running.until(gone, "JOB_STATE_FAILED")["error"]["message"]
    now = datetime.fromisoformat(running.rest("POST", "/vertex-local/clock", {"advance": 3600})["now"])
    job = running.until(name, "JOB_STATE_SUCCEEDED")
    while told_by_answers(running) < now.replace(microsecond=0):  # They are dated anew each second.
        time.sleep(0.05)
    assert (job["createTime"], job["startTime"]) < (before, job["endTime"])
    assert running.lines(name) == ["trained"]
    said(running, name, "All 2 a2-highgpu-1g of the job are there.", replica="service")


def test_a_scenario_is_a_file_that_people_write(running: LocalCloud, tmp_path: Path) -> None:
    file = tmp_path / "busy.toml"
    file.write_text('[[supply]]\nregion = "us-central1"\nmachine = "e2-standard-4"\nmachines = 0\n')
    assert "no scenario" in running.command("scenario", "show").stdout
    assert "scenario in force since 20" in running.command("scenario", str(file)).stdout
    shown = json.loads(running.command("scenario", "show").stdout)
    assert shown["scenario"]["supply"][0]["machine"] == "e2-standard-4"
    file.write_text("[[supply]]\nregion = 'us-central1'\nmachines = 0\n")
    failed = running.command("scenario", str(file))
    assert (failed.returncode, failed.stderr.splitlines()[0]) == (1, "error: supply[0].machine is missing: text")
    file.write_text("supply = ")
    assert (running.command("scenario", str(file)).returncode, running.command("scenario", "nofile").returncode) == (
        2,
        2,
    )
    file.write_text("supply = []", "utf-16")
    for unreadable in (file, tmp_path):
        failed = running.command("scenario", str(unreadable))
        assert failed.returncode == 2 and "a TOML file" in failed.stderr
    assert "machines are unlimited" in running.command("scenario", "clear").stdout
