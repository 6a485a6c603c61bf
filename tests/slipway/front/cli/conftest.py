"""Stacks on the run's local cloud: one for each test, and one that a whole run reads."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.conftest import FAST, LocalCloud

from .past import Past, past_jobs
from .stack import SPOT_CPUS, Stack, held


def in_use(cloud: LocalCloud, folder: Path, **settings: Any) -> Iterator[Stack]:
    made = Stack(cloud, folder, **settings)
    (folder / ".git").mkdir()
    made.make()
    yield made
    made.end()


@pytest.fixture
def stack(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    yield from in_use(cloud, tmp_path)


@pytest.fixture
def small(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    """A stack whose pool is full by one job of one machine."""
    yield from in_use(cloud, tmp_path, most=1)


@pytest.fixture
def full(small: Stack) -> Iterator[Stack]:
    """Its pool is full, and Spot has quota."""
    with small.settings(quota=SPOT_CPUS):
        held(small)
        yield small


@pytest.fixture
def moved(own_cloud: LocalCloud, tmp_path: Path) -> Stack:
    """A stack on a cloud of its own, whose clock a test may move."""
    own_cloud.up(*(word for setting in FAST for word in ("--set", setting)))
    (tmp_path / ".git").mkdir()
    made = Stack(own_cloud, tmp_path)
    made.make()
    return made


@pytest.fixture(scope="session")
def _standing(cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    made = Stack(cloud, tmp_path_factory.mktemp("standing"), project="standing-stacks")
    made.make()
    return made


@pytest.fixture
def standing(_standing: Stack, tmp_path: Path) -> Stack:
    """A stack of a whole run, in a project of its own, that is read and left as it is: it never has a job."""
    return _folder_of_a_test(_standing, tmp_path)


@pytest.fixture(scope="session")
def _past(cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Past:
    made = Stack(cloud, tmp_path_factory.mktemp("past"), project="past-jobs")
    made.make()
    return past_jobs(made)


@pytest.fixture
def past(_past: Past, tmp_path: Path) -> Past:
    """Another one that is read only, whose jobs have ended."""
    return replace(_past, stack=_folder_of_a_test(_past.stack, tmp_path))


def _folder_of_a_test(stack: Stack, folder: Path) -> Stack:
    (folder / ".git").mkdir()
    return replace(stack, folder=folder)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        if name in os.environ:
            monkeypatch.delenv(name)
