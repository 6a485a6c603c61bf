"""The restoration of a folder."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path


def replace(source: Path, target: Path, spared: str = "") -> None:
    """Restore a folder, except the files in `spared` on both sides. A process that ends late may write there."""
    for entry in target.iterdir():
        before = source / entry.name
        if entry.name == spared and before.is_dir():
            for job in entry.iterdir():
                if not (before / job.name).exists():
                    _remove(job)
        else:
            _remove(entry)
    for entry in source.iterdir():
        there = target / entry.name
        if not there.exists():
            _copy(entry, there)


def _remove(path: Path) -> None:
    for attempt in range(5):
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if not path.exists():
            return
        time.sleep(0.05 * (attempt + 1))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
