"""ddp-digits: torchrun over replicas trains the model of a single one, also when one is lost on the way. # B5 # X4"""

import pytest

from tests.jobs.pytorch import TRAINING, alone

from .stack import Stack

pytestmark = [pytest.mark.journey, pytest.mark.long]


def test_ddp_digits_that_lost_a_replica_ends_with_the_model_of_a_single_one(
    stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    single = alone(tmp_path_factory)
    stack.hold_write(3)  # the checkpoint of step 20, after those of 0 and 10
    job = stack.submit("ddp-digits", workers=1, **TRAINING)
    job.held()
    job.said("step 10/80, replicas: 2")
    job.kill("workerpool1-0")
    job.finished()
    assert any("restarting the whole job" in line for line in job.lines)
    first, second, metrics = job.metrics
    assert (first["step"], first["replicas"], second["replicas"]) == (0, 2, 2)
    assert 10 <= second["step"] < 80, "it went on from a checkpoint"
    assert metrics["loss"] == pytest.approx(single["loss"], rel=1e-9)
    assert (metrics["accuracy"], metrics["step"]) == (single["accuracy"], 80)
    assert job.unshown("logs") == []
