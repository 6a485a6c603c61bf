"""An installed release, the one after it, and a folder to begin a repository in."""

from pathlib import Path

import pytest

from .releases import Release, release


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    made = release(tmp_path / "releases", "0.1.0")
    made.run_it(monkeypatch)
    return made


@pytest.fixture
def newer(installed: Release, tmp_path: Path) -> Release:
    """Return the next release, which has another test target and another comment."""
    made = release(tmp_path / "releases", "0.2.0")
    made.edit("Makefile.in", "discover tests", "discover -v tests")
    made.edit("README.md.in", "seconds\n", "in seconds\n")
    return made


@pytest.fixture
def folder(tmp_path: Path, installed: Release) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made
