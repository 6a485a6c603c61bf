"""Tuning jobs in a test's own world: trials whose replicas do what the test says, under a clock that stands still."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.vertex.scheduling import conftest
from vertex_local.clock import timestamp
from vertex_local.nodes.spec import ReplicaSpec, Status
from vertex_local.testing.calling import PARENT, Calling
from vertex_local.vertex.pipeline_jobs import work as pipeline_job_work
from vertex_local.vertex.pipelines import work as pipeline_work
from vertex_local.vertex.scheduling.scheduler import Scheduler
from vertex_local.vertex.tuning import work as tuning_work

TUNING = f"/v1/{PARENT}/hyperparameterTuningJobs"


class Machines(conftest.Machines):
    """Machines whose replicas run until the test ends their job: `ends`, by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: dict[str, Status] = {}

    def status(self, folder: Path) -> Status:
        told = super().status(folder)
        return told if told.ended else self.ends.get(folder.parents[1].name, told)


@dataclass
class Studies:
    """The studies. `tick` lets the cloud do all its due work, the clock a second on each time."""

    calling: Calling
    machines: Machines
    scheduler: Scheduler

    def create(self, **changes: Any) -> str:
        """Return a new tuning job's path, its first trials under way."""
        made = self.calling.call("POST", TUNING, tuning_body(**changes))
        self.tick()
        return "/v1/" + str(made["name"])

    def get(self, path: str) -> dict[str, Any]:
        body: dict[str, Any] = self.calling.call("GET", path)
        return body

    def tick(self, times: int = 3) -> None:
        for _ in range(times):
            self.calling.clock.advance(1)
            self.scheduler.step()
            tuning_work.step(self.calling.world)
            pipeline_work.step(self.calling.world)
            pipeline_job_work.step(self.calling.world)

    def spec(self, trial: Mapping[str, Any]) -> ReplicaSpec:
        """Return the specification of a trial's chief."""
        job_id = trial["customJob"].rpartition("/")[2]
        return next(spec for folder, spec in self.machines.written.items() if folder.parents[1].name == job_id)

    def report(self, trial: Mapping[str, Any], *values: float, metric: str = "acc", step: int = 1) -> None:
        """Report values of consecutive steps, as cloudml-hypertune writes them."""
        path = Path(self.spec(trial).variables["CLOUD_ML_HP_METRIC_FILE"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for at, value in enumerate(values):
                self.calling.clock.advance(0.001)
                moment = self.calling.clock.now().timestamp()
                fields = {"timestamp": moment, "trial": trial["id"], metric: str(value), "global_step": str(step + at)}
                file.write(json.dumps(fields | {"checkpoint_path": ""}) + "\n")

    def end(self, trial: Mapping[str, Any], *values: float, code: int = 0) -> None:
        """End a trial's code, after reporting values."""
        if values:
            self.report(trial, *values)
        self.machines.ends[trial["customJob"].rpartition("/")[2]] = Status(
            "exited", code, over=timestamp(self.calling.clock.now())
        )
        self.tick()

    def trials(self, path: str, state: str = "") -> list[dict[str, Any]]:
        return [trial for trial in self.get(path).get("trials", []) if state in ("", trial["state"])]


@pytest.fixture
def studies(calling: Calling) -> Iterator[Studies]:
    machines = Machines()
    calling.bucket("models")
    yield Studies(calling, machines, Scheduler(calling.world, machines))


LR: dict[str, Any] = {
    "parameterId": "lr",
    "doubleValueSpec": {"minValue": 0.001, "maxValue": 1},
    "scaleType": "UNIT_LOG_SCALE",
}
UNITS: dict[str, Any] = {"parameterId": "units", "discreteValueSpec": {"values": [16, 32, 64]}}
LAYERS: dict[str, Any] = {"parameterId": "layers", "integerValueSpec": {"minValue": 1, "maxValue": 3}}
MODEL: dict[str, Any] = {"parameterId": "model", "categoricalValueSpec": {"values": ["svm", "tree"]}}
ACCURACY = {"metricId": "acc", "goal": "MAXIMIZE"}


def study(*parameters: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {"metrics": [ACCURACY], "parameters": list(parameters) or [LR]} | changes


def trial_spec(**changes: Any) -> dict[str, Any]:
    task = {"imageUri": "python:3.10", "command": ["python", "task.py"], "args": ["--epochs=3"]}
    worker = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": task}
    return {"workerPoolSpecs": [worker]} | changes


def tuning_body(trials: int = 2, parallel: int = 1, **changes: Any) -> dict[str, Any]:
    base = {
        "displayName": "tune",
        "studySpec": study(),
        "maxTrialCount": trials,
        "parallelTrialCount": parallel,
        "trialJobSpec": trial_spec(),
    }
    return base | changes
