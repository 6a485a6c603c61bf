"""spot-digits on machines that the cloud takes away: what was done is not done again, and nothing is left out."""

from __future__ import annotations

import re

import pytest

from .stack import Job, Stack

pytestmark = pytest.mark.journey

STEPS, BATCH = 40, 64


def preempt(stack: Stack, job: Job, times: int, notice: float | bool = False) -> None:
    """Take the machine away for the `times`-th time."""
    stack.scenario(spot={"notice": notice, "preempt": [{"job": job.display_name, "times": times}]})


def test_spot_digits_preempted_twice_without_notice_does_every_step_once(stack: Stack) -> None:  # X3
    stack.hold_write(4, times=2)  # each attempt writes at its start, then two checkpoints; held at the third
    job = stack.submit("spot-digits", steps=STEPS, every=5)
    assert job.document["capacityType"] == "spot"
    job.held(left=1)
    job.said("step 10/40")
    preempt(stack, job, 1)
    job.said("attempt 2: goes on from the checkpoint")
    job.held()
    job.said("step 20/40")
    preempt(stack, job, 2)
    job.said("restart 2 of")
    stack.release()
    unbroken = stack.submit("spot-digits", "--capacity", "pool", steps=STEPS, every=5)
    job.finished()

    lines = job.lines
    assert sum("was preempted" in line for line in lines) == 2
    assert not any("notice" in line for line in lines)
    from_steps = [int(found[1]) for line in lines if (found := re.search(r"goes on from .* step (\d+)", line))]
    assert from_steps == [10, 20]
    written = [int(found[1]) for line in lines if (found := re.search(r"step (\d+)/40", line))]
    assert written == list(range(5, STEPS + 1, 5)), "no attempt goes behind its checkpoint, and none beyond the next"
    assert (job.metrics["steps"], job.metrics["samples"], job.metrics["attempts"]) == (STEPS, STEPS * BATCH, 3)
    assert job.metrics == {**unbroken.finished().metrics, "attempts": 3}, "the model of an unbroken run"
    assert job.unshown("logs") == []


def test_spot_digits_with_a_notice_saves_the_steps_since_its_last_checkpoint(stack: Stack) -> None:  # X5
    stack.hold_write(3)  # the checkpoint of step 8, after those of 0 and 4
    # Each step has a pause, so that the notice comes before the end, however busy this machine is.
    job = stack.submit("spot-digits", steps=20, every=4, pause=0.15)
    job.said("step 4/20")
    preempt(stack, job, 1, notice=30)
    job.said("was preempted, with a notice of 30 s")
    stack.release()
    job.finished()
    (cleaned,) = [line for line in job.lines if "notice: the machine goes; checkpoint of step" in line]
    step = int(re.findall(r"step (\d+)", cleaned)[0])
    assert 4 <= step < 20
    assert any(f"the checkpoint of step {step}" in line for line in job.lines)
    assert (job.metrics["steps"], job.metrics["samples"], job.metrics["attempts"]) == (20, 20 * BATCH, 2)
