"""A replica under test: its specification, and a starter that can be forgotten as when the cloud is killed."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vertex_local import files
from vertex_local.nodes import logfile
from vertex_local.nodes import spec as specs
from vertex_local.nodes.runner_starter import RunnerStarter
from vertex_local.nodes.spec import Identity, ReplicaSpec, Status

WAIT_S = 600.0


class Replica:
    """A replica under test, with a starter that can be forgotten as when the cloud is killed."""

    def __init__(self, folder: Path, spec: ReplicaSpec, starter: RunnerStarter) -> None:
        self.folder, self.spec, self.starter = folder, spec, starter

    def start(self, *command: str) -> None:
        self.starter.write(self.folder, replace(self.spec, command=command))
        self.starter.start(self.folder)

    def status(self) -> Status:
        return self.starter.status(self.folder)

    def until(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + WAIT_S
        while not true():
            assert time.monotonic() < until, (self.folder / "runner.log").read_text(encoding="utf-8")
            time.sleep(0.02)

    def ended(self) -> Status:
        self.until(lambda: self.status().ended)
        return self.status()

    def running(self) -> None:
        self.until(lambda: self.status().phase == "running")

    def lines(self) -> list[logfile.Line]:
        return logfile.read(self.folder / specs.LOG, 0, 1 << 20)[0]

    def said(self) -> list[str]:
        return [line.text for line in self.lines() if not line.service]

    @property
    def pid(self) -> int:
        claim = files.read_json(self.folder / specs.CLAIM)
        assert claim
        return int(claim["pid"])


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


@pytest.fixture
def spec(tmp_path: Path, images: Path) -> ReplicaSpec:
    identity = Identity("a@b", "local-project", "100000000001", "us-central1", "42", "n1-standard-4", "secret-token")
    return ReplicaSpec(
        name="workerpool0-0",
        url="http://127.0.0.1:9",
        host="127.200.0.1" if sys.platform == "linux" else "127.0.0.1",
        identity=identity,
        image="python:3.10",
        image_folder=str(images),
        environment_folder=str(tmp_path / "environments" / "a"),
        packages=(),
        module="",
        command=("true",),
        args=(),
        variables={"GIVEN": "service"},
        user_variables={"CHOSEN": "$(GIVEN)!", "OMP_NUM_THREADS": "3"},
        threads=1,
        grace_s=0.5,
    )


@pytest.fixture
def run(tmp_path: Path, spec: ReplicaSpec) -> Iterator[Replica]:
    replica = Replica(tmp_path / "replica", spec, RunnerStarter())
    yield replica
    replica.starter.stop(replica.folder)
    replica.until(lambda: replica.status().ended)


def python(code: str) -> tuple[str, ...]:
    return ("python", "-c", code)
