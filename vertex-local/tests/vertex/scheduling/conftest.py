"""A cloud of a test's own whose machines are no processes: the test decides the fate of a replica.

The decisions, the store and the clock are the cloud's own; only the processes in a replica's folder have a stand-in.
"""

from pathlib import Path
from typing import Any

import pytest

from vertex_local.log_store import Window
from vertex_local.nodes.spec import ReplicaSpec, Status
from vertex_local.supply import records as scenarios
from vertex_local.testing.bodies import job_body, worker
from vertex_local.testing.calling import JOBS, REGION, Calling
from vertex_local.vertex.jobs import replicas
from vertex_local.vertex.jobs import table as jobs
from vertex_local.vertex.jobs.records import Run
from vertex_local.vertex.scheduling import availability, quota_usage
from vertex_local.vertex.scheduling.scheduler import Scheduler

H100 = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}
A100 = {"machineType": "a2-highgpu-1g", "acceleratorType": "NVIDIA_TESLA_A100", "acceleratorCount": 1}
HELD = "projects/local-project/zones/us-central1-a/reservations/held"
KEY = "compute.googleapis.com/reservation-name"
SPECIFIC = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": KEY, "values": [HELD]}
ANY = {"reservationAffinityType": "ANY_RESERVATION"}


class Machines:
    """The machines of replicas: each runs at once when it is started, until the test or the cloud ends it."""

    def __init__(self) -> None:
        self.seen: dict[Path, Status] = {}
        self.written: dict[Path, ReplicaSpec] = {}
        self.graces: list[float | None] = []

    def ready(self, folder: Path) -> bool:
        return folder in self.written

    def write(self, folder: Path, spec: ReplicaSpec) -> None:
        assert folder not in self.written, "a replica is specified once"
        self.written[folder] = spec

    def start(self, folder: Path) -> None:
        assert folder in self.written
        self.seen.setdefault(folder, Status("running"))

    def status(self, folder: Path) -> Status:
        return self.seen.get(folder, Status("starting"))

    def stop(self, folder: Path, grace_s: float | None = None) -> None:
        self._end(folder, "stopped", grace_s)

    def kill(self, folder: Path) -> None:
        self._end(folder, "killed", 0.0)

    def _end(self, folder: Path, phase: Any, grace_s: float | None) -> None:
        if not self.status(folder).ended:
            self.graces.append(grace_s)
            self.seen[folder] = Status(phase)


class Stage:
    """The methods of the service, and its background work one step at a time under a clock that stands still."""

    def __init__(self, calling: Calling) -> None:
        self.calling, self.world = calling, calling.world
        self.machines = Machines()
        self.scheduler = Scheduler(calling.world, self.machines)
        calling.set(**{f"quota.custom_model_training_{name}": 1000 for name in QUOTAS})

    def scenario(self, **document: Any) -> None:
        scenarios.load(self.world, document)

    def supply(self, *entries: tuple[float, str, str, int], **more: Any) -> None:
        """Set (at, machine, strategy, machines) in the region of the tests."""
        keys = ("at", "machine", "strategy", "machines")
        listed = [{"region": REGION, **dict(zip(keys, entry, strict=True))} for entry in entries]
        self.scenario(supply=listed, **more)

    def set(self, **values: Any) -> None:
        self.calling.set(**values)

    def submit(self, *workers: Any, strategy: str = "", name: str = "train", **scheduling: Any) -> str:
        """Submit a job; return its full name."""
        wanted = {"strategy": strategy} | scheduling if strategy else scheduling
        body = job_body(*workers, displayName=name, spec={"scheduling": wanted} if wanted else {})
        return str(self.calling.call("POST", JOBS, body)["name"])

    def step(self, seconds: float = 0.0) -> None:
        """Let time pass and the cloud do all its due work."""
        self.calling.clock.advance(seconds)
        for _ in range(4):
            self.scheduler.step()

    def body(self, name: str) -> dict[str, Any]:
        return self.calling.call("GET", f"/v1/{name}")

    def state(self, name: str) -> str:
        return str(self.body(name)["state"]).removeprefix("JOB_STATE_")

    def error(self, name: str) -> str:
        return str(self.body(name)["error"]["message"])

    def run(self, name: str) -> Run:
        record = jobs.get(self.world.store, name)
        assert record and record.run, f"{name} has ended"
        return record.run

    def folder(self, name: str, replica: str) -> Path:
        run = self.run(name)
        found = next(item for item in run.replicas if item.name == replica)
        return replicas.folder(self.world, run, found)

    def ends(self, name: str, replica: str = "workerpool0-0", code: int = 0) -> None:
        """End a replica's user code."""
        self.machines.seen[self.folder(name, replica)] = Status("exited", code)
        self.step()

    def dies(self, name: str, replica: str = "workerpool0-0") -> None:
        """Remove a replica's machine."""
        self.machines.seen[self.folder(name, replica)] = Status("killed")
        self.step()

    def said(self, name: str) -> list[str]:
        """Return the lines of the service in the job's log."""
        lines = self.world.logs.read(Window(job=name.rpartition("/")[2]), None, False)
        return [entry["textPayload"] for _, entry in lines]

    def used(self) -> dict[str, int]:
        """Return the quota in use, without zeros."""
        return dict(+quota_usage.in_use(self.world, REGION))

    def machines_used(self) -> dict[tuple[str, str], int]:
        supply = availability.supply(self.world, REGION, self.world.clock.now())
        return {kind: count for kind, count in supply.used.items() if count}


QUOTAS = (
    "preemptible_cpus",
    "nvidia_h100_gpus",
    "preemptible_nvidia_h100_gpus",
    "nvidia_a100_gpus",
    "preemptible_nvidia_a100_gpus",
)


@pytest.fixture
def stage(calling: Calling) -> Stage:
    return Stage(calling)


def gpu(machine: dict[str, Any] = H100, replicas: int = 1, **changes: Any) -> dict[str, Any]:
    return worker(replicas=replicas, machineSpec=machine) | changes


def reserved(affinity: dict[str, Any], machine: dict[str, Any] | None = None, replicas: int = 1) -> dict[str, Any]:
    return gpu({**(machine or H100), "reservationAffinity": affinity}, replicas)
