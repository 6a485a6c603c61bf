"""Fixtures of tests that drive the real engine: its programs, its home and new checkouts. A conftest imports them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from local import plugin
from local.engine import ensure

from .checkout import Checkout, make_checkout

NewCheckout = Callable[..., Checkout]


@pytest.fixture(scope="session")
def engine() -> Path:
    """The folder of the real engine's programs."""
    return ensure(print).bin


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Pulumi home with the local plugin, for all checkouts of the run."""
    home = tmp_path_factory.mktemp("engine") / "pulumi-home"
    plugin.install(home, Path(sys.executable))
    return home


@pytest.fixture(scope="session")
def new_checkout(engine: Path, engine_home: Path) -> NewCheckout:
    """Makes a checkout with an empty stack: takes a folder, a cloud and the stack's name."""
    return partial(make_checkout, engine=engine, home=engine_home)
