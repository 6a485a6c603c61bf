"""elastic-digits: a lost replica does not end the training, a worker does not stop it, and all are taken back. # X4"""

from collections.abc import Callable, Iterator

import pytest

from tests.jobs.pytorch import TRAINING, alone

from .stack import Stack

pytestmark = pytest.mark.journey


@pytest.fixture
def away(stack: Stack) -> Iterator[Callable[[float], None]]:
    """Says how many seconds lost workers are away from now on."""

    def change(seconds: float) -> None:
        stack.cloud.rest("POST", "/vertex-local/settings", {"worker_restart_seconds": seconds})

    yield change
    change(0)


def test_elastic_digits_goes_on_without_a_lost_worker_and_takes_it_back(
    stack: Stack, away: Callable[[float], None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    away(600)
    single = alone(tmp_path_factory)
    stack.hold_write(3)  # the checkpoint of step 20, after those of 0 and 10
    job = stack.submit("elastic-digits", workers=1, last_call=10, **TRAINING)
    job.held()
    job.said("step 10/80, replicas: 2")
    job.kill("workerpool1-0")
    stack.hold_write(3, times=2)  # the second that the chief writes alone, and then of those that both do
    job.held(left=1)
    job.said("replicas: 1, checkpoint written")
    away(0)
    job.held()
    stack.release()
    job.finished()
    *starts, metrics = job.metrics
    assert [start["replicas"] for start in starts] == [2, 1, 2]
    assert 0 == starts[0]["step"] < starts[1]["step"] < starts[2]["step"] < 80
    assert metrics["loss"] == pytest.approx(single["loss"], rel=1e-9), "as if nothing had happened"
    assert (metrics["accuracy"], metrics["step"]) == (single["accuracy"], 80)
    assert job.unshown("logs") == [], "\n".join(job.lines)


@pytest.mark.long
def test_elastic_digits_waits_for_a_lost_chief(stack: Stack) -> None:
    stack.hold_write(3)
    job = stack.submit("elastic-digits", workers=1, last_call=10, **TRAINING)
    job.held()
    job.kill("workerpool0-0")
    job.said("node 1: no chief at")
    stack.release()
    job.finished()
    assert [(start["step"], start["replicas"]) for start in job.metrics[:-1]] == [(0, 2), (10, 2)]
