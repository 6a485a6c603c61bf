"""The fixtures of journeys: local clouds and stacks on them. (The engine and new checkouts: tests.checkouts.)"""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.checkouts import bytecode
from tests.checkouts.checkout import Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.laptop import uv
from tests.checkouts.made_once import once
from tests.checkouts.saved_stack import FAST_FLAGS, SavedStack, make
from tests.local.conftest import ROOT, LocalCloud


@pytest.fixture(scope="session")
def saved_stack(tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout) -> SavedStack:
    """Return the stack that a new checkout declares, deployed once in a run."""
    return SavedStack(once(tmp_path_factory, "saved-stack", lambda folder: make(folder, new_checkout)))


@pytest.fixture
def cloud(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LocalCloud]:
    """Yield a running cloud of the test's own: a destroyed stack leaves what other stacks of its project need."""
    mine = LocalCloud(tmp_path / "cloud")
    if request.node.get_closest_marker("deployed"):
        request.getfixturevalue("saved_stack").put_cloud(mine.state)
    mine.up(*FAST_FLAGS)
    yield mine
    mine.command("down")


@pytest.fixture
def checkout(tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout, request: pytest.FixtureRequest) -> Checkout:
    """Return a checkout with a stack that was never deployed, or was once where the test's mark says so."""
    made = new_checkout(tmp_path, cloud)
    if request.node.get_closest_marker("deployed"):
        request.getfixturevalue("saved_stack").put(made)
    return made


@pytest.fixture(scope="session")
def deployed(
    tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout, saved_stack: SavedStack
) -> Iterator[Checkout]:
    """Yield a deployed stack that tests share: they submit to it and read, and leave it unchanged.

    Its cloud has no other stack: one that is taken down takes its submitters' roles on the project along.
    """
    folder = tmp_path_factory.mktemp("deployed")
    mine = LocalCloud(folder / "cloud")
    saved_stack.put_cloud(mine.state)
    mine.up(*FAST_FLAGS)
    made: Checkout = new_checkout(folder, mine)
    saved_stack.put(made)
    yield made
    mine.command("down")


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """Yield a function that switches faults on, for the test's time: of the shared stack's cloud where the test uses
    that stack, else of its own."""
    shared = "deployed" in request.fixturenames
    cloud: LocalCloud = request.getfixturevalue("deployed").cloud if shared else request.getfixturevalue("cloud")
    yield lambda *faults: cloud.rest("POST", "/vertex-local/faults", {"faults": list(faults)})
    cloud.rest("DELETE", "/vertex-local/faults")


@pytest.fixture
def settings(cloud: LocalCloud) -> Callable[..., None]:
    """Return a function that changes settings of the cloud."""
    return lambda **values: cloud.rest("POST", "/vertex-local/settings", values)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, with the local cloud's beside it, built from a copy: a build leaves its own files there."""
    (built,) = once(tmp_path_factory, "wheel", _build).glob("source/dist/slipway_vertex-*.whl")
    return built


@pytest.fixture(scope="session")
def deploying(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """Return an environment with the wheel and what deploys, and nothing of this checkout."""

    def make(folder: Path) -> None:
        python = folder / "environment" / "bin" / "python"
        uv("venv", "--python", sys.executable, folder / "environment")
        # The engine lists packages with pip, which `make setup` of a new repository has from Python.
        pinned = ("--constraint", ROOT / "requirements-dev.txt")
        uv("pip", "install", "--python", python, f"{wheel}[deploy]", "pip", *pinned)
        bytecode.share(folder / "environment")

    return once(tmp_path_factory, "deploying", make) / "environment"


def _build(folder: Path) -> None:
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("slipway", "components", "local", "templates", "jobs", "vertex-local"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for project in (source, source / "vertex-local"):
        uv("build", "--wheel", "--out-dir", source / "dist", project)
