"""Fixtures of tests that drive the real engine: its programs, its home and new checkouts; each made once in a run."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .checkout import Checkout
    from .empty_stack import EmptyStack

# All tests know this file, so the parts that drive the engine are imported on use.
NewCheckout = Callable[..., "Checkout"]


@pytest.fixture(scope="session")
def engine() -> Path:
    """Return the folder of the real engine's programs."""
    from local.engine.engine import ensure

    return ensure(print).bin


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Pulumi home with the local plugin, for all checkouts of the run."""
    from local.plugin import installation

    home = tmp_path_factory.mktemp("engine") / "pulumi-home"
    installation.install(home, Path(sys.executable))
    return home


@pytest.fixture(scope="session")
def empty_stack(engine: Path, engine_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmptyStack]:
    """Yield the beginning of every checkout; the engine makes it once."""
    from . import vault
    from .empty_stack import make

    with vault.serving() as found:
        yield make(tmp_path_factory.mktemp("empty"), engine, engine_home, vault.KEY, **found)


@pytest.fixture(scope="session")
def forked(engine_home: Path) -> Iterator[Mapping[str, str]]:
    """Yield the variables of a run of the engine whose program and provider need not import anything any more."""
    from local import environment

    from . import fork_server

    for script in engine_home.glob("plugins/*/pulumi-resource-gcp"):
        fork_server.let_fork(script)
    ordinary = environment.engine_variables(engine_home, engine_home, "")["PULUMI_PYTHON_CMD"]
    with (
        tempfile.TemporaryDirectory(prefix="slipway-") as folder,
        fork_server.serving(Path(folder), ordinary) as variables,
    ):
        yield variables


@pytest.fixture(scope="session")
def new_checkout(engine: Path, engine_home: Path, empty_stack: EmptyStack, forked: Mapping[str, str]) -> NewCheckout:
    """Return a function that makes a checkout with an empty stack: from a folder, a cloud and the stack's name."""
    from .checkout import make_checkout

    return partial(make_checkout, engine=engine, home=engine_home, empty=empty_stack, forked=forked)
