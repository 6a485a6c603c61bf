"""A job on a machine with a GPU that nobody uses, whose template ends such jobs. # N25"""

import pytest

from .jobs.test_show import QUOTA, T4
from .stack import Stack
from .test_code import checked_out, opened

SAVES = """
import os, pathlib, signal, sys, time
def save(*_):
    pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "checkpoint").write_text("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
time.sleep(600)
"""


@pytest.mark.journey
def test_it_is_told_saves_and_is_ended(stack: Stack) -> None:
    opened(stack)
    checked_out(stack)
    (stack.folder / "src" / "hello" / "task.py").write_text(SAVES)
    stack.beside_pools("hello", "on-demand", machine=T4)
    for place in range(len(stack.catalog["templates"]["hello"]["offers"])):
        for pool in stack.spec("hello", place)["workerPoolSpecs"]:
            pool["pythonPackageSpec"]["env"] = [{"name": "SLIPWAY_IDLE", "value": "0.9 3"}]
    stack.publish()
    with stack.settings(quota=QUOTA, monitoring_seconds=0.2):
        done = stack.run("submit", "hello", "--code", "./src", "--retries", "2", "--yes", "--follow")
    lines = [line.removeprefix("main  slipway: ") for line in done.out.splitlines()]
    idle = "the GPUs of this machine were used for less than 90% for 3 s"
    assert done.code == 4 and [line for line in lines if line.endswith("unless they are used")], done.out + done.err
    assert f"{idle}: ends the command" in lines and "status of 75" in done.err and f"why: {idle}" in done.err
    assert "attempt 2" not in done.out
    (job,) = stack.jobs()
    fetched = stack.well("jobs", "download", job["displayName"], "got")
    assert (stack.folder / "got" / "checkpoint").read_text() == "saved", fetched.out
