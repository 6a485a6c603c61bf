"""Folders that are made once in a run of the tests, for all of its workers."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 900.0


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made once in a run, by the first worker; the others wait for it."""
    files = pytest.importorskip("vertex_local.files", reason="needs the local cloud", exc_type=ImportError)
    mine = factory.getbasetemp()
    folder = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / name
    whole: Path = folder / "whole"
    with files.locked(folder.with_suffix(".lock"), PATIENCE_S):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
