"""ddp-digits as real processes, each on an address of its own, found through CLUSTER_SPEC. # B5"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from .pytorch import alone, flags, interpreter, settings

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have one loopback address"),
]


class Replicas:
    """Jobs of a chief and some workers."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._stack = folder, ExitStack()

    def start(self, number: int, *more: str) -> list[subprocess.Popen[str]]:
        """The chief and the workers of a job."""
        network = f"127.{random.randrange(64, 128)}.{random.randrange(1, 255)}"
        places = [("workerpool0", 0), *(("workerpool1", index) for index in range(number - 1))]
        cluster: dict[str, list[str]] = {"workerpool0": [], "workerpool1": []}
        for last, (pool, _) in enumerate(places, 1):
            cluster[pool].append(f"{network}.{last}:2222")
        shared = {"cluster": cluster, "open_ports": [random.randrange(10_000, 30_000)]}
        python = interpreter(self._folder / "images")
        command = [str(python), "-m", "torchrun_digits.ddp", *flags(), f"--output={self._folder}", *more]
        return [
            self._started(command, json.dumps({**shared, "task": {"type": pool, "index": index}}))
            for pool, index in places
        ]

    def _started(self, command: list[str], spec: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command,
            env=settings(CLUSTER_SPEC=spec, CLOUD_ML_JOB_ID="7"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._stack.callback(end, process)
        return process

    def close(self) -> None:
        self._stack.close()


def end(process: subprocess.Popen[str]) -> None:
    """As a machine that dies: the process and all that it started."""
    if process.poll() is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def heard(process: subprocess.Popen[str], words: str) -> None:
    """Read what a replica says up to a line with these words."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}:\n{''.join(said)}")


@pytest.fixture
def replicas(tmp_path: Path) -> Iterator[Replicas]:
    made = Replicas(tmp_path)
    yield made
    made.close()


def test_ddp_digits_of_three_replicas_is_the_model_of_one(
    replicas: Replicas, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    running = replicas.start(3)
    folder = tmp_path_factory.getbasetemp()
    one = alone(folder)
    said = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], "\n".join(said)
    three = json.loads((tmp_path / "metrics.json").read_text())

    assert (one["replicas"], three["replicas"]) == (1, 3)
    assert three["loss"] == pytest.approx(one["loss"], rel=1e-9)
    assert three["accuracy"] == one["accuracy"]
    assert one["accuracy"] > 0.8
    check = (
        "import sys, torch; a, b = (torch.load(f, weights_only=True) for f in sys.argv[1:]); "
        "assert all(torch.allclose(a[name], b[name], rtol=1e-9, atol=1e-12) for name in a) and len(a) == 4"
    )
    models = [folder / "alone/model/model.pt", tmp_path / "model/model.pt"]
    subprocess.run([interpreter(tmp_path / "images"), "-c", check, *models], check=True, timeout=60)


def test_ddp_digits_that_lost_a_replica_waits_for_the_service_to_restart_the_job(replicas: Replicas) -> None:
    """A failure of its own would end the job, whichever of the two the service sees first. # X4"""
    chief, worker = replicas.start(2, "--pause=1")
    heard(chief, "starts at step 0, replicas: 2")
    end(worker)
    heard(chief, "another replica is lost; the service is to restart the job")
    chief.send_signal(signal.SIGTERM)
    assert chief.wait(30) in (-signal.SIGTERM, 128 + signal.SIGTERM)
