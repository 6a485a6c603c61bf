"""spot-digits on machines that the cloud takes away: what was done is not done again, and nothing is left out."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.jobs.conftest import SKLEARN, environ, interpreter

from .stack import Job, Stack

pytestmark = pytest.mark.journey

STEPS, BATCH = 40, 64


def test_spot_digits_preempted_without_a_notice_and_with_one_does_every_step_once(
    stack: Stack, tmp_path: Path
) -> None:  # X3 X5
    stack.hold_write(4, times=2)  # each attempt writes at its start, then two checkpoints; held at the third
    # Each step has a pause, so that the notice comes before the end, however busy this machine is.
    job = stack.submit("spot-digits", steps=STEPS, every=5, pause=0.1)
    assert job.document["capacityType"] == "spot"
    job.held(left=1)
    job.said("step 10/40")
    preempt(stack, job, 1)
    job.said("attempt 2: goes on from the checkpoint")
    job.held()
    job.said("step 20/40")
    preempt(stack, job, 2, notice=30)
    job.said("was preempted, with a notice of 30 s")
    stack.release()
    job.finished()

    lines = job.lines
    assert sum("was preempted" in line for line in lines) == 2
    assert sum("restart 2 of" in line for line in lines) == 1
    (left,) = [int(match[1]) for line in lines if (match := re.search(r"notice: .* checkpoint of step (\d+)", line))]
    from_steps = [int(match[1]) for line in lines if (match := re.search(r"goes on from .* step (\d+)", line))]
    assert from_steps == [10, left] and 25 <= left < STEPS, "the steps since the last checkpoint are saved"
    written = [int(match[1]) for line in lines if (match := re.search(r"step (\d+)/40", line))]
    assert written == list(range(5, STEPS + 1, 5)), "no attempt goes behind its checkpoint, and none beyond the next"
    assert (job.metrics["steps"], job.metrics["samples"], job.metrics["attempts"]) == (STEPS, STEPS * BATCH, 3)
    assert job.metrics == {**unbroken(tmp_path), "attempts": 3}, "the model of an unbroken run"
    assert job.unshown("logs") == []


def unbroken(folder: Path) -> dict[str, object]:
    """Return the metrics of a run that nothing disturbs."""
    call: list[str | Path] = [
        interpreter(folder / "images", SKLEARN),
        "-m",
        "spot_digits.task",
        f"--steps={STEPS}",
        "--every=5",
    ]
    subprocess.run([*call, f"--output={folder}"], env=environ(), check=True)
    found: dict[str, object] = json.loads((folder / "metrics.json").read_text())
    return found


def preempt(stack: Stack, job: Job, times: int, notice: float | bool = False) -> None:
    """Take the machine away for the `times`-th time."""
    stack.scenario(spot={"notice": notice, "preempt": [{"job": job.display_name, "times": times}]})
