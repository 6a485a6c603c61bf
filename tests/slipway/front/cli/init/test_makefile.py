"""The Makefile of a new repository sets up its environment, whatever is on PATH and however old pip is. # D8 # N21"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .commands import FLAGS, well
from .releases import Release

UV = """#!/bin/sh
[ "$1" != venv ] || rm -rf .venv
mkdir -p .venv/bin
[ "$1" != pip ] || touch "$TMPDIR/uv-setuptools.lock"
"""
PYTHON = """#!/bin/sh
case "$*" in
  "-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *"-m pip install"*) for last; do :; done; cat "$last" >> installed.txt; echo "-- end" >> installed.txt ;;
esac
"""


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _setup(made: Path, *more: str, path: str) -> None:
    environ = {**os.environ, "PATH": path}
    done = subprocess.run(["make", "setup", *more], cwd=made, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (made / ".venv" / ".ready").exists()


@pytest.fixture
def made(folder: Path, installed: Release) -> Path:
    del installed  # Its pins have hashes.
    well(folder, "init", "our training", *FLAGS)
    return folder / "our training"


def test_a_uv_of_the_environment_that_is_made_anew_does_not_delete_itself(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the other leave a lock in the temporary folder."""
    _program(made / ".venv" / "bin" / "uv", UV)
    _program(tmp_path / "tools" / "uv", UV)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))  # which is not there
    _setup(made, path=f"{made}/.venv/bin:{tmp_path}/tools:/usr/bin:/bin")


def test_without_uv_the_pip_that_is_pinned_installs_the_rest(made: Path, tmp_path: Path) -> None:
    """A pip before 23.3 refuses hashes where a package asks for another's extra."""
    lock = made / "requirements-local.txt"
    hashed = "pip==26.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n    # via us\nzip==1\n"
    lock.write_text(f"{lock.read_text()}{hashed}")
    _program(tmp_path / "tools" / "python3", PYTHON)
    _setup(made, path=f"{tmp_path}/tools:/usr/bin:/bin")
    first, second = (made / "installed.txt").read_text().split("-- end\n")[:2]
    assert first == "pip==26.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    assert second == lock.read_text()
