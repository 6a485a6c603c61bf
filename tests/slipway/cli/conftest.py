"""A stack of its own for each test, on the run's local cloud."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.conftest import LocalCloud

from .stack import Stack


@pytest.fixture
def stack(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(cloud, tmp_path)
    (tmp_path / ".git").mkdir()
    made.make()
    yield made
    made.end()


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        if name in os.environ:
            monkeypatch.delenv(name)
