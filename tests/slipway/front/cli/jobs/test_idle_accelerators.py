"""Eight GPUs of which half of the time nobody makes use: told after the job, and by `jobs show`. # Z5 N19"""

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from vertex_local import recordings

from tests.slipway.front.cli.stack import PROJECT, Stack

RECORDED = Path(recordings.__file__).with_name("gemma2-27b-on-8-h100.csv").read_text("utf-8")
H100 = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}
QUOTA = {"custom_model_training_nvidia_h100_gpus": 8, "custom_model_training_a3_cpus": 208}
UNTIL_TOLD = "import os, time\nwhile not os.path.exists({file!r}): time.sleep(0.05)"
"""A job that ends once a file is there."""


@pytest.fixture
def fine_tune(moved: Stack) -> Stack:
    """A stack with a template for eight H100."""
    moved.beside_pools("hello", "on-demand", machine=H100)
    moved.spec()["workerPoolSpecs"][0]["diskSpec"] = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 500}
    moved.publish()
    moved.cloud.rest("POST", "/vertex-local/settings", {"quota": QUOTA, "monitoring_seconds": 0.2})
    moved.cloud.rest("POST", "/vertex-local/scenario", {"gpus": [{"job": "hello", "csv": RECORDED}]})
    return moved


def test_half_a_fine_tune_of_eight_h100_is_told_as_idle(
    fine_tune: Stack, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    stack, done = fine_tune, tmp_path / "done"
    code = f"code={UNTIL_TOLD.format(file=str(done))}"
    name = stack.sends("hello", "-p", code)["displayName"]
    stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_RUNNING")
    stack.cloud.rest("POST", "/vertex-local/clock", {"advance": 58 * 60})
    stack.until(lambda: len(points(stack)) == 59)
    done.touch()
    ended = stack.well("jobs", "wait", name)
    (line,) = (one.strip() for one in ended.err.splitlines() if "idle" in one)
    chart, _, words = line.partition("  ")
    assert re.fullmatch(r"gpu ▁{16}[▂-█]{14}", chart) and words == snapshot

    shown = stack.run("jobs", "show", name, COLUMNS="110").out
    assert f"gpus       {words}\n" in shown
    rows = [one for one in shown.splitlines() if one.startswith(("REPLICA", "main     gpu"))]
    assert "\n".join(rows) == snapshot
    job = stack.shown(name)
    idle = job["usage"]["idle"]
    assert (idle["accelerators"], idle["count"], idle["unused"]) == (["NVIDIA_H100_80GB"], 8, 0)
    assert idle["idleSeconds"] == pytest.approx(31 * 60, abs=5) and idle["paidSeconds"] == pytest.approx(
        58 * 60, abs=60
    )
    assert idle["ofCost"] == job["cost"] and float(idle["cost"]) == pytest.approx(
        float(job["cost"]) * 31 / 58, rel=0.03
    )


def points(stack: Stack) -> list[object]:
    """Samples of the last GPU."""
    text = 'metric.type="ml.googleapis.com/training/accelerator/utilization" AND metric.labels.accelerator_id="7"'
    span = "interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2100-01-01T00:00:00Z"
    found = stack.cloud.rest("GET", f"/v3/projects/{PROJECT}/timeSeries?filter={text}&{span}").get("timeSeries", [])
    return list(found[0]["points"]) if found else []
