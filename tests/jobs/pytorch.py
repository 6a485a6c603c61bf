"""The training of torchrun-digits in one process, as others are compared with it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.checkouts.made_once import once

from .conftest import TORCH, environ, interpreter

TRAINING = {"steps": 80, "every": 10, "batch": 51, "seed": 3}
"""Small settings; and no part of a batch of 51 is as large as the other when two share it."""
FLAGS = [f"--{name}={value}" for name, value in TRAINING.items()]


def alone(factory: pytest.TempPathFactory) -> Any:
    """Return the metrics of TRAINING in one process, without torchrun."""

    def train(folder: Path) -> None:
        python = str(interpreter(folder / "images", TORCH))
        command = [python, "-m", "torchrun_digits.train", *FLAGS, f"--output={folder}"]
        done = subprocess.run(command, env=environ(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return json.loads((once(factory, "alone", train) / "metrics.json").read_text())[-1]
