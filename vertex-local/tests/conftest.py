"""The settings of every test, and the fixtures that several services' tests share: clouds, a world to call, and the
Vertex AI SDK set up on the running cloud."""

import gc
import json
import os
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from vertex_local.testing.bare_environment import bare, changes_python
from vertex_local.testing.calling import Calling, every_service
from vertex_local.testing.local_cloud import FAST, LocalCloud

ROOT = Path(__file__).resolve().parents[1]
STAGING = "services-staging"
CLOUDS = {"cloud", "own_cloud", "running"}
"""The fixtures of local clouds: a test that uses one of them has the mark `cloud`."""
DELAYS = {"spot_restart": 0.1, "stockout_retry": 0.1, "kill_grace": 1, "monitoring": 0.2}
PREEMPTIBLE = {"preemptible_cpus": 1000, "preemptible_nvidia_a100_gpus": 8, "preemptible_nvidia_l4_gpus": 8}

# Tests and all that they start have the variables that each user's shell has, whoever runs them.
_RESTARTS = changes_python(os.environ)
for _name in os.environ.keys() - bare(os.environ).keys():
    del os.environ[_name]

# Without deadlines, for a test and for making its examples: a slow one on a busy machine shows nothing.
settings.register_profile("usual", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("usual"), max_examples=10, derandomize=True, database=None)
settings.register_profile("thorough", settings.get_profile("usual"), max_examples=400)
settings.load_profile("usual")

# The tests' imports stay. Searching them for garbage at the default pace was a fifth of the tests' own CPU time.
gc.set_threshold(50_000, 20, 100)

# A shell starts its background jobs with interrupts ignored, and every process that they start inherits that: a test
# that interrupts one would wait forever. What is handled here is the default again in what is started.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
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
    """Let what is kept in a person's folders be kept in folders of the run; and what processes leave in the temporary
    folder, as a killed one does, go with the run."""
    home = tmp_path_factory.mktemp("home")
    # Paths of sockets are short: a worker's own folder is too deep for those below it.
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="vertex-", ignore_cleanup_errors=True) as temporary,
    ):
        patch.setenv("TMPDIR", temporary)
        patch.setattr(tempfile, "tempdir", temporary)  # This process has looked already.
        patch.setenv("VERTEX_LOCAL_STATE", str(home / "local"))
        patch.setenv("CLOUDSDK_CONFIG", str(home / "gcloud"))
        patch.setenv("VERTEX_LOCAL_PORT", "0")
        yield


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """Yield one local cloud for the whole run, without rate limits. Tests keep apart by names of their own."""
    mine = LocalCloud(tmp_path_factory.mktemp("cloud") / "state")
    mine.up(*[word for setting in FAST for word in ("--set", setting)])
    yield mine
    mine.command("down")


@pytest.fixture
def own_cloud(tmp_path: Path) -> Iterator[LocalCloud]:
    """Yield a cloud of the test's own, not started yet: for tests that kill it, or change its settings or clock."""
    mine = LocalCloud(tmp_path / "state")
    yield mine
    mine.command("down")


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.fixture
def calling(tmp_path: Path) -> Iterator[Calling]:
    with every_service(tmp_path / "state") as services:
        yield services


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """Yield a cloud with real processes, fast in its own delays, with the preemptible quota that documents tell people
    to ask for. Whoever loads a scenario takes it away again."""
    mine = LocalCloud(tmp_path_factory.mktemp("running") / "state")
    delays = (f"{name}_seconds={wait}" for name, wait in DELAYS.items())
    mine.fast(*delays, *(f"quota.custom_model_training_{name}={most}" for name, most in PREEMPTIBLE.items()))
    yield mine
    mine.command("down")


@pytest.fixture
def new_project(cloud: LocalCloud) -> Callable[..., str]:
    """Return a function that makes a project of the test's own, by its declaration, on the cloud that all share."""

    def made(**declared: Any) -> str:
        project = f"test-{uuid.uuid4().hex[:12]}"
        cloud.rest("POST", "/vertex-local/projects", {"project": project, **declared})
        return project

    return made


@pytest.fixture
def vertex_sdk(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalCloud]:
    """Yield the unmodified SDK as the deployer, over REST, with a staging bucket; without an experiment before and
    after the test. It looks more often than every five seconds."""
    from google.cloud import aiplatform
    from google.cloud.aiplatform import jobs, training_jobs

    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{cloud.url}/t/{cloud.token('deployer')}")
    for module in (jobs, training_jobs):
        monkeypatch.setattr(module, "_JOB_WAIT_TIME", 0.2)
    if f'"{STAGING}"' not in json.dumps(cloud.rest("GET", "/storage/v1/b?project=local-project")):
        cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": STAGING, "location": "us-central1"})
    _forget_experiment()
    aiplatform.init(
        project="local-project",
        location="us-central1",
        staging_bucket=f"gs://{STAGING}",
        credentials=cloud.credentials("owner"),
        api_endpoint=cloud.url,
        api_transport="rest",
    )
    yield cloud
    _forget_experiment()


def _forget_experiment() -> None:
    from google.cloud.aiplatform.metadata import metadata

    tracker: Any = metadata._experiment_tracker
    tracker.reset()
    tracker.set_tensorboard(None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not CLOUDS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("cloud")
