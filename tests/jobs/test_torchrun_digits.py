"""ddp-digits as real processes: the model is the one of a single process. # B5"""

from __future__ import annotations

import signal
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import pytest

from .pytorch import alone, metrics_of
from .replicas import Replicas

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have one loopback address"),
]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Replicas]]:
    """Starts a job of so many replicas, whose output goes to the test's folder."""
    with ExitStack() as ends:

        def start(module: str, number: int, *more: str) -> Replicas:
            made = Replicas(tmp_path, f"torchrun_digits.{module}", number, *more)
            for rank in range(number):
                ends.callback(made.die, rank)
            return made

        yield start


@pytest.mark.long
def test_ddp_digits_of_three_replicas_is_the_model_of_one(
    started: Callable[..., Replicas], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    job = started("ddp", 3)
    folder = alone(tmp_path_factory)
    one = metrics_of(folder)
    job.finished()
    three = metrics_of(tmp_path)

    assert (one["replicas"], three["replicas"]) == (1, 3)
    assert three["loss"] == pytest.approx(one["loss"], rel=1e-9)
    assert three["accuracy"] == one["accuracy"]
    assert one["accuracy"] > 0.8
    (what, single), (same, several) = (model(output / "model" / "model.pt") for output in (folder, tmp_path))
    assert (what, len(single)) == (same, 4)
    for name, values in single.items():
        assert several[name] == pytest.approx(values, rel=1e-9, abs=1e-12)


def model(file: Path) -> tuple[bytes, dict[str, list[float]]]:
    """What torch.save wrote: the description of the tensors, and the numbers of each. Importing torch takes longer."""
    with ZipFile(file) as archive:
        contents = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    numbers = {name: array("d", content).tolist() for name, content in contents.items() if name.startswith("data/")}
    return contents["data.pkl"], numbers


@pytest.mark.long
def test_ddp_digits_that_lost_a_replica_waits_for_the_service_to_restart_the_job(
    started: Callable[..., Replicas],
) -> None:  # X4
    """A failure of its own would end the job, whichever of the two the service sees first."""
    job = started("ddp", 2, "--pause=1")
    job.heard(0, "starts at step 0, replicas: 2")
    job.die(1)
    job.heard(0, "another replica is lost; the service is to restart the job")
    job.running[0].send_signal(signal.SIGTERM)
    assert job.running[0].wait() == -signal.SIGTERM
