"""The settings of every test: hypothesis, interrupts, and the fixtures that a process makes once for all.

A fixture of the session that a conftest imports is made once more for it; so those of several folders are named here.
Without `local/` the tests that ask for them are skipped.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.bare_environment import bare, changes_python
from tests.shipped import tests_of_what_is_gone

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

# Tests and all that they start have the variables that each user's shell has, whoever runs them.
_RESTARTS = changes_python(os.environ)
for _name in os.environ.keys() - bare(os.environ).keys():
    del os.environ[_name]

pytest_plugins = ("tests.checkouts.fixtures",)
_CLOUDS = {"cloud", "own_cloud"}
"""The fixtures of local clouds: a test that uses one of them has the mark `cloud`."""
collect_ignore = tests_of_what_is_gone()

# Without deadlines, for a test and for making its examples: a slow one on a busy machine shows nothing.
settings.register_profile("slipway", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("slipway"), max_examples=10, derandomize=True, database=None)
settings.register_profile("thorough", settings.get_profile("slipway"), max_examples=400)
settings.load_profile("slipway")

# The tests' imports stay. Searching them for garbage at the default pace was a fifth of the tests' own CPU time.
gc.set_threshold(50_000, 20, 100)

# A shell starts its background jobs with interrupts ignored, and every process that they start inherits that: a test
# that interrupts one would wait forever. What is handled here is the default again in what is started.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_CloudMarker())
    _start_again(config)


def _start_again(config: pytest.Config) -> None:
    """Start again without the variables that Python has read, such as PYTHONOPTIMIZE. Workers have this environment."""
    if not _RESTARTS:
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    command = [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    os.execve(sys.executable, command, dict(os.environ))


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let what is kept in a person's folders, unless a variable says otherwise, be kept in folders of the run; and what
    processes leave in the temporary folder, as a killed one does, go with the run."""
    home = tmp_path_factory.mktemp("home")
    folders = {
        "VERTEX_LOCAL_STATE": "local",
        "PULUMI_HOME": "pulumi",
        "CLOUDSDK_CONFIG": "gcloud",
        "XDG_STATE_HOME": "state",
    }
    # Paths of sockets are short: a worker's own folder is too deep for those below it.
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="slipway-", ignore_cleanup_errors=True) as temporary,
    ):
        patch.setenv("TMPDIR", temporary)
        patch.setattr(tempfile, "tempdir", temporary)  # This process has looked already.
        for name, folder in folders.items():
            patch.setenv(name, str(home / folder))
        patch.setenv("VERTEX_LOCAL_PORT", "0")
        yield


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """Yield one local cloud for the whole run, without rate limits. Tests keep apart by names of their own."""
    local = pytest.importorskip("tests.local.conftest", reason="needs the local cloud", exc_type=ImportError)
    running: LocalCloud = local.LocalCloud(tmp_path_factory.mktemp("cloud") / "state")
    running.up(*[word for setting in local.FAST for word in ("--set", setting)])
    yield running
    running.command("down")


@pytest.fixture
def own_cloud(tmp_path: Path) -> Iterator[LocalCloud]:
    """Yield a cloud of the test's own, not started yet: for tests that kill it, or change its settings or clock."""
    local = pytest.importorskip("tests.local.conftest", reason="needs the local cloud", exc_type=ImportError)
    mine: LocalCloud = local.LocalCloud(tmp_path / "state")
    yield mine
    mine.command("down")


@pytest.fixture
def no_garbage() -> Iterator[None]:
    """Hold off garbage collection for a test that recurses as far as it can: it has no room to finalize other tests'
    objects."""
    gc.collect()
    gc.freeze()  # what is left is searched once, and not for each such test
    gc.disable()
    yield
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let one worker collect before the others: from a fresh clone it compiles all tests, which each did for itself."""
    if not hasattr(session.config, "workerinput"):
        return (yield)
    with (Path(session.config.option.basetemp).parent / "collection.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        return (yield)


class _CloudMarker:
    """Marks the tests that need a local cloud, before the command line's `-m` selects tests by their markers."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if not _CLOUDS.isdisjoint(getattr(item, "fixturenames", ())):
                item.add_marker("cloud")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each worker its share of the selected journeys first, as all others would wait for a journey that began
    last. xdist splits the tests evenly at first, in this order."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    journeys = [item for item in items if item.get_closest_marker("journey")]
    files = list(dict.fromkeys(item.path for item in journeys))
    others = [item for item in items if not item.get_closest_marker("journey")]
    unassigned = len(items)
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        size = unassigned // (workers - worker)
        mine = _share(files, worker, workers)
        first = [item for item in journeys if item.path in mine]
        rest = max(0, size - len(first))
        ordered += [*first, *others[:rest]]
        others = others[rest:]
        unassigned -= size
    items[:] = [*ordered, *others]


def pytest_collection_finish() -> None:
    gc.freeze()


def _share(files: list[Path], worker: int, workers: int) -> set[Path]:
    """Return a contiguous share of the files. Tests of one file use the same fixtures."""
    return set(files[len(files) * worker // workers : len(files) * (worker + 1) // workers])
