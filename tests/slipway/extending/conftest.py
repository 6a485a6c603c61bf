"""A copy of the product, to which a test adds a row as an author would."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
Edit = Callable[[str, Callable[[str], str]], None]


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    for folder in ("slipway", "local", "journey", "stacks", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "played"))

    def edit(file: str, change: Callable[[str], str]) -> None:
        path = tmp_path / file
        before = path.read_text("utf-8")
        path.write_text(change(before), "utf-8")
        assert path.read_text("utf-8") != before, f"nothing changed in {file}"

    return edit


def told(folder: Path, program: str) -> Any:
    """Return the copy's output as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
