"""torchrun-digits outside of a job: the environment of its image, and what it trains in one process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uv

from .conftest import ROOT, environ

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"


def interpreter(folder: Path) -> Path:
    """The interpreter of this machine's environment of the image; `folder` gets a link to it."""
    images = pytest.importorskip("local.cloud.images.cache", reason="needs the image's recipe", exc_type=ImportError)
    recipes = pytest.importorskip("local.cloud.images.recipes", exc_type=ImportError)

    def tool(command: Sequence[str]) -> None:
        if command:
            subprocess.run(command, check=True, timeout=900)

    recipe = recipes.recipe_for(IMAGE)
    home = images.cached(folder, IMAGE, recipe, tool, uv.find_uv_bin(), print, images.common(os.environ))
    return Path(home, "bin", "python")


def settings(**more: str) -> dict[str, str]:
    """The environment of a process that runs the package from where it lies."""
    return environ(PYTHONPATH=str(ROOT / "jobs"), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", **more)


TRAINING = {"steps": 80, "every": 10, "batch": 50, "seed": 3}
"""Small; and no part of a batch of 50 is as large as another when three share it."""


@cache
def alone(folder: Path) -> Any:
    """The metrics of TRAINING in one process, without torchrun. What it writes goes into the folder `alone`."""
    command = [str(interpreter(folder / "images")), "-m", "torchrun_digits.train", *flags()]
    done = subprocess.run(
        [*command, f"--output={folder / 'alone'}"],
        env=settings(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "alone" / "metrics.json").read_text())


def flags() -> list[str]:
    return [f"--{name}={value}" for name, value in TRAINING.items()]
