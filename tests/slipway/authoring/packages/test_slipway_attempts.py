"""A job runs again after a failure of its own, as often as it was asked for, each attempt once. # N25

Against the storage of the local cloud, with launchers that are killed and answers that are lost.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from .conftest import Between, Bucket
from .test_slipway_launcher import Replica

PROGRAM = """
import os, pathlib, sys, time
told = pathlib.Path(os.environ["TOLD"])
with told.open("a") as file:
    print("run", file=file)
output = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
print("finds", sorted(path.name for path in output.iterdir()), flush=True)
(output / f"checkpoint-{len(told.read_text().split())}").write_text("x")
if "wait" in sys.argv or f"wait-{len(told.read_text().split())}" in sys.argv:
    print("waits", flush=True)
    time.sleep(600)
sys.exit(0 if len(told.read_text().split()) > int(sys.argv[1]) else 3)
"""
CLUSTER = {"workerpool0": ["a:1"], "workerpool1": ["b:1"]}


class Job(Replica):
    """A job whose code fails on its first runs, which `told` counts."""

    def __init__(self, server: Between, folder: Path, bucket: Bucket) -> None:
        super().__init__(server, folder, bucket)
        self.told = folder / "told"
        self.environ["TOLD"] = str(self.told)
        self.folder = self.output(folder.name)

    @property
    def runs(self) -> int:
        return self.told.read_text().count("run")

    def asks(self, retries: int, **more: list[int]) -> None:
        asked: dict[str, object] = {"env": {}, "secrets": {}, "maxRun": None, "retries": retries, **more}
        self.environ["SLIPWAY_SETTINGS"] = json.dumps(asked)

    def marks(self, request: str) -> list[str]:
        return sorted(self.bucket.contents(f"claims/attempts-{request}/"))

    def claim(self, request: str) -> str:
        return super().claim(f"attempts-{request}")  # Other tests have claims in this bucket.

    def begin(self, request: str, *arguments: str, task: str = "") -> subprocess.Popen[str]:
        """Start a launcher, of one of several replicas where a task is named."""
        environ = {**self.environ, "CLOUD_ML_JOB_ID": "11"}
        if task:
            kind, _, index = task.partition("-")
            spec = {"cluster": CLUSTER, "task": {"type": kind, "index": int(index)}}
            environ |= {"CLUSTER_SPEC": json.dumps(spec), "TOLD": f"{self.told}-{task}"}
        words = ["--claim", self.claim(request), "--module", "work", "--", *arguments]
        command = [sys.executable, "-m", "slipway_launcher", *words]
        return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def job(server: Between, bucket: Bucket, tmp_path: Path) -> Job:
    (tmp_path / "work.py").write_text(PROGRAM)
    return Job(server, tmp_path, bucket)


def until(process: subprocess.Popen[str], text: str) -> str:
    """Read what a launcher writes until a line has the text; return that line."""
    assert process.stdout
    return next(line for line in process.stdout if text in line)


def code_of(process: subprocess.Popen[str]) -> int:
    """Return the process of the code that a launcher runs."""
    return int(subprocess.check_output(["pgrep", "-P", str(process.pid)], text=True))


def test_it_runs_again_and_finds_what_the_attempt_before_has_kept(job: Job) -> None:
    job.asks(2)
    done = job.start("again", "11", "2")
    assert done.returncode == 0 and job.runs == 3, done.stderr
    finds = [line for line in done.stdout.splitlines() if line.startswith("finds")]
    assert finds == ["finds []", "finds ['checkpoint-1']", "finds ['checkpoint-1', 'checkpoint-2']"]
    assert "slipway: attempt 2 of 3 begins, as the last one failed\n" in done.stdout
    assert job.marks("again") == ["retry-1", "retry-2"]


@pytest.mark.parametrize(("retries", "runs"), [(0, 1), (1, 2), (2, 3)])
def test_it_fails_at_last_with_its_own_code(job: Job, retries: int, runs: int) -> None:
    job.asks(retries)
    assert job.start(f"bound-{retries}", "11", "9").returncode == 3 and job.runs == runs


@pytest.mark.parametrize(("codes", "runs"), [([3, 75], 2), ([75], 1)])
def test_it_runs_again_after_the_exit_codes_that_are_named(job: Job, codes: list[int], runs: int) -> None:
    job.asks(1, retryOn=codes)
    assert job.start(f"codes-{runs}", "11", "9").returncode == 3 and job.runs == runs


def test_without_a_word_of_it_nothing_is_tried_again(job: Job) -> None:
    assert job.start("once", "11", "9").returncode == 3 and job.runs == 1 and job.marks("once") == []


@pytest.mark.parametrize("fault", ["lost", 503, "silent", "half"])
def test_a_lost_answer_makes_no_attempt_more_or_less(job: Job, fault: str | int) -> None:
    job.asks(1)
    for place in range(6):  # The calls before the first attempt, between the two and after.
        job.told.unlink(missing_ok=True)
        job.handler.faults = [fault if number == place else "" for number in range(6)]
        assert job.start(f"fault-{fault}-{place}", "11", "9").returncode == 3
        assert job.runs == 2 and job.marks(f"fault-{fault}-{place}") == ["retry-1"]


def test_where_no_mark_can_be_made_it_is_not_tried_again(job: Job) -> None:
    job.asks(1)
    process = job.begin("unmarked", "9", "wait")
    until(process, "waits")
    job.handler.faults = [403] * 50
    os.kill(code_of(process), signal.SIGKILL)
    output, _ = process.communicate()
    assert process.returncode == 137 and job.runs == 1, output


def test_a_cancelled_job_is_not_tried_again(job: Job) -> None:
    job.asks(3)
    process = job.begin("cancelled", "9", "wait")
    until(process, "waits")
    process.terminate()
    process.communicate()
    assert process.returncode != 0 and job.runs == 1 and job.marks("cancelled") == []


def test_a_lost_machine_goes_on_with_the_attempt_that_it_was_at(job: Job) -> None:
    """However often it is lost: the attempts are those that were asked for."""
    job.asks(2)
    process = job.begin("lost-machine", "9", "wait-2")
    until(process, "waits")
    program = code_of(process)
    process.kill()
    os.kill(program, signal.SIGKILL)
    process.communicate()
    assert job.runs == 2 and job.marks("lost-machine") == ["retry-1"]
    for runs in (4, 5):
        assert job.start("lost-machine", "11", "9").returncode == 3
        assert job.runs == runs and job.marks("lost-machine") == ["retry-1", "retry-2"]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_killed_when_the_attempts_are_those_that_were_asked_for(job: Job, seed: int) -> None:
    """A storm: the launcher and its code are killed after any of their lines, and started again, until all is over."""
    job.asks(2)
    chance, kills, begun = random.Random(seed), 0, 0
    while True:
        process = job.begin(f"storm-{seed}", "9")
        assert process.stdout
        lines = list(islice(process.stdout, chance.randint(1, 7) if kills < 6 else None))
        begun += sum("begins" in line for line in lines)
        if process.poll() is None and kills < 6:
            children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
            process.kill()
            for child in children.stdout.split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
            kills += 1
        rest, _ = process.communicate()
        begun += rest.count("begins")
        if process.returncode == 3:
            break
    assert job.marks(f"storm-{seed}") == ["retry-1", "retry-2"] and begun <= 2 and job.runs <= 1 + 2 + kills


def test_all_replicas_try_together(job: Job) -> None:
    job.asks(1)
    helper = job.begin("together", "9", "wait", task="workerpool1-0")
    until(helper, "waits")
    chief = job.begin("together", "1", task="workerpool0-0")
    assert "attempt 2 of 2" in until(chief, "attempt")
    assert "attempt 2 of 2" in until(helper, "attempt")
    until(helper, "waits")
    chief.communicate()
    assert chief.returncode == 0 and job.marks("together") == ["retry-1", "workerpool0-0"]
    helper.terminate()
    helper.communicate()


def test_a_helper_that_did_well_runs_again_with_the_others(job: Job) -> None:
    job.asks(1)
    helper = job.begin("helper", "0", task="workerpool1-0")
    until(helper, "finds")
    chief = job.begin("helper", "9", task="workerpool0-0")
    chief.communicate()
    output, _ = helper.communicate()
    assert chief.returncode == 3 and helper.returncode == 0 and "attempt 2 of 2" in output
