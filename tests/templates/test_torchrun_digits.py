"""torchrun-digits: whichever machine is lost, and however, it ends with the model of an unbroken run of one process."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.jobs.pytorch import TRAINING, alone

from .stack import Job, Stack

pytestmark = pytest.mark.journey


@pytest.fixture
def away(stack: Stack) -> Iterator[Callable[[float], None]]:
    """Says how many seconds lost workers are away from now on."""

    def change(seconds: float) -> None:
        stack.cloud.rest("POST", "/vertex-local/settings", {"worker_restart_seconds": seconds})

    yield change
    change(0)


@pytest.fixture
def single(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The end of an unbroken training in one process."""
    return alone(tmp_path_factory)


def unbroken(job: Job, single: Any, *starts: tuple[int, int]) -> None:
    """Assert that it began so often, each time at a step with so many replicas, and made the model of a single one."""
    *told, end = job.metrics
    assert [(start["step"], start["replicas"]) for start in told] == [*starts]
    assert end["loss"] == pytest.approx(single["loss"], rel=1e-9), "as if nothing had happened"
    assert (end["accuracy"], end["step"]) == (single["accuracy"], TRAINING["steps"])


@pytest.mark.long
def test_torchrun_digits_waits_for_a_lost_worker(stack: Stack, single: Any) -> None:  # P4 X4
    stack.hold_write(3)  # the checkpoint of step 20, after those of 0 and 10
    job = stack.submit("torchrun-digits", patience=3, **TRAINING)
    job.held()
    job.said("step 10/80, replicas: 2")
    job.kill("workerpool1-0")
    stack.release()
    job.finished()
    unbroken(job, single, (0, 2), (20, 2))
    assert job.unshown("logs", "k3v8p5wd") == [], "\n".join(job.lines)


def test_torchrun_digits_goes_on_without_a_lost_worker_and_takes_it_back(
    stack: Stack, away: Callable[[float], None], single: Any
) -> None:  # X4
    away(600)
    stack.hold_write(3)
    job = stack.submit("torchrun-digits", least=1, patience=10, **TRAINING)
    job.held()
    job.said("step 10/80, replicas: 2")
    job.kill("workerpool1-0")
    stack.hold_write(3)  # the second checkpoint that the chief writes alone
    job.held()
    job.said("replicas: 1, checkpoint written")
    away(0)
    job.said("closing signal SIGTERM")  # from torchrun, as the worker is back
    stack.release()
    job.finished()
    steps = [start["step"] for start in job.metrics[:-1]]
    assert 0 == steps[0] < steps[1] < steps[2] < 80
    unbroken(job, single, *zip(steps, (2, 1, 2), strict=True))
    assert job.unshown("logs", "m6t2q7xb") == [], "\n".join(job.lines)


@pytest.mark.long
def test_torchrun_digits_waits_for_a_lost_chief(stack: Stack, single: Any) -> None:  # X4
    stack.hold_write(3)
    job = stack.submit("torchrun-digits", **TRAINING)
    job.held()
    job.kill("workerpool0-0")
    job.said("node 1: no chief at")
    stack.release()
    job.finished()
    unbroken(job, single, (0, 2), (10, 2))


@pytest.mark.smoke
def test_torchrun_digits_preempted_without_a_notice_and_with_one_does_every_step_once(
    stack: Stack, single: Any
) -> None:  # X3 X5
    stack.hold_write(4, times=2)  # each attempt writes at its start, then two checkpoints; held at the third
    # Each step has a pause, so that the notice comes before the end, however busy this machine is.
    job = stack.submit("torchrun-digits", "--capacity", "spot", pause=0.2, **TRAINING)
    assert job.document["capacityType"] == "spot"
    job.held(left=1)
    job.said("step 20/80")
    preempt(stack, job, 1)
    job.said("goes on from the checkpoint")
    job.held()
    job.said("step 40/80")
    preempt(stack, job, 2, notice=30)
    job.said("was preempted, with a notice of 30 s")
    stack.release()
    job.finished()

    lines = job.lines
    assert sum("was preempted" in line for line in lines) == 2
    assert sum("restart 2 of" in line for line in lines) == 1
    (left,) = [int(match[1]) for line in lines if (match := re.search(r"told to stop; .* step (\d+)", line))]
    assert 50 <= left < 80, "the steps since the last checkpoint are saved"
    written = [int(match[1]) for line in lines if (match := re.search(r"step (\d+)/80", line))]
    assert written == list(range(10, 81, 10)), "no attempt goes behind its checkpoint, and none beyond the next"
    unbroken(job, single, (0, 2), (20, 2), (left, 2))
    assert job.unshown("logs", "x5f2k7qa") == [], "\n".join(job.lines)


def preempt(stack: Stack, job: Job, times: int, notice: float | bool = False) -> None:
    """Take the chief's machine away for the `times`-th time, and with it all others."""
    stack.scenario(spot={"notice": notice, "preempt": [{"job": job.display_name, "times": times}]})
