"""Preempted, killed and waiting jobs as real processes, driven as people drive them (X2, X3, X4, X5, W1)."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.vertex.jobs.test_running_jobs import task
from vertex_local.testing.bodies import job_body
from vertex_local.testing.calling import JOBS
from vertex_local.testing.local_cloud import WAIT_S, LocalCloud

# Counts its starts in a file that outlives the machine, says so, and runs until it is told to end.
COUNTING = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"asked to end\\n"), time.sleep(0.2), os._exit(0)))
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


def said(cloud: LocalCloud, name: str, text: str, replica: str = "workerpool0-0") -> None:
    """Wait until a replica has said something."""
    end = time.monotonic() + WAIT_S
    while text not in "\n".join(cloud.lines(name, replica)):
        assert time.monotonic() < end, cloud.lines(name, replica)
        time.sleep(0.1)


def test_a_notice_lets_the_clean_up_run_and_is_no_success(running: LocalCloud, tmp_path: Path) -> None:
    name = submit(running, task(COUNTING.format(kept=str(tmp_path), ends=1)), name="spot-notice", strategy="SPOT")
    said(running, name, "start 1")
    lost = {"notice": 30, "preempt": [{"job": "spot", "times": 1}]}
    running.rest("POST", "/vertex-local/scenario", {"spot": lost})
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
    late = running.command("kill", "elastic", "workerpool1-0")
    assert late.returncode and f"Job {name} ended at 2" in late.stderr and "SUCCEEDED" in late.stderr


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
    assert [running.command("scenario", name).returncode for name in (str(file), "nofile")] == [2, 2]
    file.write_text("supply = []", "utf-16")
    for unreadable in (file, tmp_path):
        failed = running.command("scenario", str(unreadable))
        assert failed.returncode == 2 and "a TOML file" in failed.stderr
    assert "machines are unlimited" in running.command("scenario", "clear").stdout
