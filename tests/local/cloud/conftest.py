"""The shared fixtures of several services' tests: a world to call, and the Vertex AI SDK set up on the running
cloud."""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.cloud.calling import Calling, every_service
from tests.local.conftest import LocalCloud

STAGING = "services-staging"
DELAYS = {"spot_restart": 0.1, "stockout_retry": 0.1, "kill_grace": 1, "monitoring": 0.2}
PREEMPTIBLE = {"preemptible_cpus": 1000, "preemptible_nvidia_a100_gpus": 8, "preemptible_nvidia_l4_gpus": 8}


@pytest.fixture
def calling(tmp_path: Path) -> Iterator[Calling]:
    with every_service(tmp_path / "state") as found:
        yield found


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """Yield a cloud with real processes, fast in its own delays, with the preemptible quota that documents tell people
    to ask for. Whoever loads a scenario takes it away again."""
    mine = LocalCloud(tmp_path_factory.mktemp("running") / "state")
    delays = (f"{name}_seconds={wait}" for name, wait in DELAYS.items())
    mine.fast(*delays, *(f"quota.custom_model_training_{name}={most}" for name, most in PREEMPTIBLE.items()))
    yield mine
    mine.local("down")


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
        credentials=cloud.credentials("deployer"),
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
