"""spot-digits on machines that the cloud takes away: what was done is not done again, and nothing is left out."""

from __future__ import annotations

import re

import pytest

from .stack import Job, Stack

pytestmark = pytest.mark.journey

STEPS, BATCH = 40, 64
# Each step has a pause, so that a preemption comes long before the end, however busy this machine is.


def preempt(stack: Stack, job: Job, times: int, notice: float | bool = False) -> None:
    """Take the machine away for the `times`-th time."""
    stack.scenario(spot={"notice": notice, "preempt": [{"job": job.display_name, "times": times}]})


def test_spot_digits_preempted_twice_without_notice_does_every_step_once(stack: Stack) -> None:  # X3
    unbroken = stack.submit("spot-digits", "--capacity", "pool", steps=STEPS, every=5)
    job = stack.submit("spot-digits", steps=STEPS, every=5, pause=0.15)
    assert job.document["capacityType"] == "spot"
    job.said("step 10/40")
    preempt(stack, job, 1)
    job.said("attempt 2: goes on from the checkpoint")
    preempt(stack, job, 2)
    job.finished()

    lines = job.lines
    assert sum("was preempted" in line for line in lines) == 2
    assert not any("notice" in line for line in lines)
    from_steps = [int(found[1]) for line in lines if (found := re.search(r"goes on from .* step (\d+)", line))]
    assert len(from_steps) == 2
    assert 10 <= from_steps[0] <= from_steps[1] < STEPS
    written = [int(found[1]) for line in lines if (found := re.search(r"step (\d+)/40", line))]
    assert written == list(range(5, STEPS + 1, 5)), "no attempt goes behind its checkpoint, and none beyond the next"
    assert (job.metrics["steps"], job.metrics["samples"], job.metrics["attempts"]) == (STEPS, STEPS * BATCH, 3)
    assert job.metrics == {**unbroken.finished().metrics, "attempts": 3}, "the model of an unbroken run"
    assert job.unshown("logs") == []


def test_spot_digits_with_a_notice_saves_the_steps_since_its_last_checkpoint(stack: Stack) -> None:  # X5
    job = stack.submit("spot-digits", steps=30, every=4, pause=0.15)
    job.said("step 4/30")
    preempt(stack, job, 1, notice=30)
    job.finished()
    (cleaned,) = [line for line in job.lines if "notice: the machine goes; checkpoint of step" in line]
    step = int(re.findall(r"step (\d+)", cleaned)[0])
    assert 4 <= step < 30
    assert any(f"attempt 2: goes on from the checkpoint of step {step}" in line for line in job.lines)
    assert (job.metrics["steps"], job.metrics["samples"], job.metrics["attempts"]) == (30, 30 * BATCH, 2)
