"""spot-digits: what a preempted attempt has done is not done again, and nothing is left out. # X3 # X5"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .conftest import environ

pytestmark = pytest.mark.journey

STEPS = 60


def command(python: Path, output: Path, *more: str) -> list[str]:
    steps = ("--steps", str(STEPS), "--every", "10", "--output", str(output))
    return [str(python), "-m", "spot_digits.task", *steps, *more]


def metrics(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return found


def interrupted(call: Sequence[str], after: str, number: signal.Signals) -> tuple[int, str]:
    """Run it until it prints `after`, then send the signal; its exit code and all it printed."""
    with subprocess.Popen(call, env=environ(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if after in line:
                process.send_signal(number)
                break
        rest, _ = process.communicate(timeout=60)
        return process.returncode, printed + rest


def test_killed_twice_it_ends_with_exactly_its_steps_and_the_model_of_an_unbroken_run(
    python: Path, tmp_path: Path
) -> None:  # X3
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    subprocess.run(command(python, unbroken), env=environ(), check=True, timeout=60, capture_output=True)
    slow = command(python, broken, "--pause", "0.02")
    for after in ("step 20/", "step 40/"):
        code, _ = interrupted(slow, after, signal.SIGKILL)
        assert code == -signal.SIGKILL
    done = subprocess.run(slow, env=environ(), check=True, timeout=60, capture_output=True, text=True)
    assert "goes on from the checkpoint of step 40" in done.stdout
    assert metrics(broken) == {**metrics(unbroken), "attempts": 3}
    assert metrics(broken)["samples"] == STEPS * 64


def test_with_a_notice_the_last_steps_are_saved_too(python: Path, tmp_path: Path) -> None:  # X5
    slow = command(python, tmp_path, "--every", "1000", "--pause", "0.05")
    with subprocess.Popen(slow, env=environ(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "starts at step 0" in process.stdout.readline()
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "notice: the machine goes; checkpoint of step" in printed
    step = int(printed.split("checkpoint of step ")[1].split()[0])
    assert step > 0
    done = subprocess.run(
        command(python, tmp_path), env=environ(), check=True, timeout=60, capture_output=True, text=True
    )
    assert f"goes on from the checkpoint of step {step}" in done.stdout
    assert metrics(tmp_path)["steps"] == STEPS
