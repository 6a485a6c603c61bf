"""The Dask job as real processes, each on an address of its own, found through CLUSTER_SPEC. # B5 # X4"""

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .conftest import environ

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have one loopback address"),
]
SMALL = ("--trees=30", "--candidates=3", "--folds=2", "--seed=1")


@dataclass
class Job:
    """A job of one scheduler and some workers. Replicas are started in whatever order a test likes."""

    python: Path
    folder: Path
    workers: int
    network: str = field(default_factory=lambda: f"127.{random.randrange(64, 128)}.{random.randrange(1, 255)}")
    replicas: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def spec(self, pool: str, index: int) -> str:
        addresses = {
            "workerpool0": [f"{self.network}.1:2222"],
            "workerpool1": [f"{self.network}.{2 + i}:2222" for i in range(self.workers)],
        }
        return json.dumps({"cluster": addresses, "environment": "cloud", "task": {"type": pool, "index": index}})

    def start(self, pool: str, index: int, *arguments: str) -> subprocess.Popen[bytes]:
        name = f"{pool}-{index}"
        settings = environ(
            CLUSTER_SPEC=self.spec(pool, index),
            OMP_NUM_THREADS="1",
            AIP_MODEL_DIR=str(self.folder / "model") + "/",
            PYTHONUNBUFFERED="1",
        )
        command = [str(self.python), "-m", "dask_digits.task", *arguments, f"--output={self.folder}"]
        with self.log(name).open("wb") as log:
            process = subprocess.Popen(command, env=settings, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)
        self.replicas[name] = process
        return process

    def log(self, name: str = "workerpool0-0") -> Path:
        return self.folder / f"{name}.log"

    def said(self, words: str, name: str = "workerpool0-0", seconds: float = 600) -> None:
        """Waits until a replica has said something."""
        until = time.monotonic() + seconds
        while words not in (self.log(name).read_text() if self.log(name).exists() else ""):
            assert time.monotonic() < until, f"{name} never said {words!r}:\n{self.log(name).read_text()}"
            time.sleep(0.05)

    def end(self, name: str = "workerpool0-0", seconds: float = 600) -> int:
        try:
            return self.replicas[name].wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name} does not end:\n{self.log(name).read_text()}") from None

    @property
    def metrics(self) -> Any:
        return json.loads((self.folder / "metrics.json").read_text())


@pytest.fixture
def job(python: Path, tmp_path: Path) -> Iterator[Job]:
    made = Job(python, tmp_path, workers=2)
    yield made
    for process in made.replicas.values():
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()


@pytest.mark.long
def test_scheduler_and_workers_find_each_other_and_write_the_result(job: Job) -> None:  # B5
    """Workers first, as on a service that gives no order."""
    for index in range(2):
        job.start("workerpool1", index)
    job.start("workerpool0", 0, *SMALL)
    assert job.end() == 0, job.log().read_text()
    assert [job.end(f"workerpool1-{index}", 30) for index in range(2)] == [0, 0], "workers leave with the scheduler"
    metrics = job.metrics
    assert metrics["accuracy"] > 0.9
    assert (metrics["workers"], metrics["trees"], metrics["candidates"], metrics["folds"]) == (2, 30, 3, 2)
    log = job.log().read_text()
    assert "2 of 2 workers, 2 threads" in log
    assert "search: 6/6 fits" in log
    assert f"wrote {job.folder}/model/model.joblib" in log
    check = (
        "import joblib, sys, sklearn.datasets as d; x, y = d.load_digits(return_X_y=True); "
        "print(joblib.load(sys.argv[1]).score(x, y))"
    )
    loaded = subprocess.run(
        [job.python, "-c", check, job.folder / "model" / "model.joblib"], capture_output=True, text=True, check=True
    )
    assert float(loaded.stdout) > 0.95

    # The same seed gives the same result on any number of workers, one process alone included.
    alone = job.folder / "alone"
    subprocess.run([job.python, "-m", "dask_digits.task", *SMALL, f"--output={alone}"], env=environ(), check=True)
    single = json.loads((alone / "metrics.json").read_text())
    assert (alone / "model" / "model.joblib").is_file()
    assert single["workers"] == 1
    for name in ("accuracy", "crossValidation", "best"):
        assert metrics[name] == single[name]


@pytest.mark.long
def test_a_worker_that_comes_back_is_taken_and_all_leave_when_the_scheduler_is_killed(job: Job) -> None:  # X4
    for index in range(2):
        job.start("workerpool1", index)
    job.start("workerpool0", 0, "--trees=400", "--candidates=10", "--folds=3")
    job.said("scheduler: 2 of 2 workers")
    job.said("fits")
    # The other one does no more, so that the search goes on for as long as it takes.
    job.replicas["workerpool1-0"].send_signal(signal.SIGSTOP)
    job.replicas["workerpool1-1"].kill()
    job.said("is lost, 1 left")
    job.start("workerpool1", 1)
    job.said("joined, 2 workers now")

    job.replicas["workerpool0-0"].kill()
    job.replicas["workerpool1-0"].send_signal(signal.SIGCONT)
    assert [job.end(f"workerpool1-{index}", 60) for index in range(2)] == [0, 0]
