"""torchrun-digits outside of a job: the environment of its image, and its training in one process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.checkouts.made_once import once

from .conftest import ROOT, environ, image_environment

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"


def interpreter(folder: Path) -> Path:
    """Return the interpreter of this machine's environment of the image; `folder` gets a link to it."""
    return image_environment(folder, IMAGE) / "bin" / "python"


def settings(**more: str) -> dict[str, str]:
    """Return the environment of a process that runs the package in its place."""
    return environ(PYTHONPATH=str(ROOT / "jobs"), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", **more)


TRAINING = {"steps": 80, "every": 10, "batch": 50, "seed": 3}
"""Small settings; and no part of a batch of 50 is as large as another when three share it."""


def alone(factory: pytest.TempPathFactory) -> Path:
    """Return the output of TRAINING in one process, without torchrun."""

    def train(folder: Path) -> None:
        command = [str(interpreter(folder / "images")), "-m", "torchrun_digits.train", *flags(), f"--output={folder}"]
        done = subprocess.run(command, env=settings(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return once(factory, "alone", train)


def metrics_of(output: Path) -> Any:
    """Return the end of a finished training, from its metrics.json."""
    return json.loads((output / "metrics.json").read_text())[-1]


def flags() -> list[str]:
    return [f"--{name}={value}" for name, value in TRAINING.items()]
