"""The service of probes without a network: the local cloud's methods, under a clock that moves when they wait."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import urllib3
from vertex_local.clock import ManualClock, timestamp
from vertex_local.nodes.spec import LOG, ReplicaSpec, Status
from vertex_local.supply import records as scenarios
from vertex_local.testing.calling import REGION, Calling, every_service
from vertex_local.vertex.scheduling.scheduler import Scheduler
from vertex_local.vertex.tuning import work as tuning_work
from vertex_local.wire import ApiError

from journey.probes.service import Service
from slipway.google.connection import Connection
from slipway.google.endpoints import Endpoints
from slipway.google.session import HttpPolicy, Session
from slipway.model.machines.spec import MachineSpec

PROJECT = "local-project"
_VERSIONS = {"vertex": "v1", "quotas": "v1", "logging": "v2", "monitoring": "v3", "iam": "v1", "storage": "storage/v1"}


class Killed(BaseException):
    """The end of a killed caller: nothing of it runs any more, not even its cleanup."""


@dataclass
class Machines:
    """The machines of replicas: each does what `replica.py` says of its arguments, by the clock."""

    clock: ManualClock
    specs: dict[Path, ReplicaSpec] = field(default_factory=dict)
    began: dict[Path, datetime] = field(default_factory=dict)
    over: dict[Path, datetime] = field(default_factory=dict)
    told: set[Path] = field(default_factory=set)

    def ready(self, folder: Path) -> bool:
        return folder in self.specs

    def write(self, folder: Path, spec: ReplicaSpec) -> None:
        self.specs[folder] = spec

    def start(self, folder: Path) -> None:
        if folder not in self.began:
            self.began[folder] = self.clock.now()
            self._say(folder, self.clock.now(), "begins")

    def status(self, folder: Path) -> Status:
        if folder not in self.began:
            return Status("stopped" if folder in self.over else "starting")
        now, (does, value, *more) = self.clock.now(), self.specs[folder].args
        if folder in self.over:
            return Status("stopped" if now >= self.over[folder] else "running")
        ends = self.began[folder] + timedelta(seconds=float(more[0] if does == "exit" and more else 0))
        if does != "exit" or now < ends:
            return Status("running", began=timestamp(self.began[folder]))
        if folder not in self.told:
            self.told.add(folder)
            self._say(folder, ends, "ends")
        return Status("exited", int(value), began=timestamp(self.began[folder]), over=timestamp(ends))

    def stop(self, folder: Path, grace_s: float | None = None) -> None:
        if folder in self.over:
            return
        now, spec = self.clock.now(), self.specs.get(folder)
        grace = 0.0
        if spec and folder in self.began and spec.args[0] == "linger":
            grace = spec.grace_s if grace_s is None else grace_s
            self._say(folder, now, "sigterm")
            for beat in range(int(grace * 4)):
                self._say(folder, now + timedelta(seconds=(beat + 1) / 4), "beat")
        self.over[folder] = now + timedelta(seconds=grace)

    def kill(self, folder: Path) -> None:
        self.over[folder] = self.clock.now()

    def _say(self, folder: Path, at: datetime, text: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        line = {"t": timestamp(at), "s": "INFO", "m": f"probe {text}", "f": None, "v": False}
        with (folder / LOG).open("a") as file:
            file.write(json.dumps(line) + "\n")


class Wire:
    """A stand-in for `slipway.google.transport.Transport`."""

    def __init__(self, calling: Calling) -> None:
        self.calling, self.alive = calling, True

    def request(
        self, method: str, url: str, *, params: Any = None, data: bytes | None = None, **_: Any
    ) -> urllib3.HTTPResponse:
        if not self.alive:
            raise Killed
        path = urlsplit(url).path + (f"?{urlencode(params)}" if params else "")
        status = 200
        try:
            body = self.calling.call(method, path, raw=data or b"")
        except ApiError as error:
            status, body = error.code, error.body()
        return urllib3.HTTPResponse(json.dumps(body).encode(), {"Content-Type": "application/json"}, status)


@dataclass
class Asked:
    """The probed service, and the cloud behind it."""

    calling: Calling
    machines: Machines
    wire: Wire
    scheduler: Scheduler
    service: Service

    def set(self, **values: Any) -> None:
        self.calling.set(**values)

    def scenario(self, **document: Any) -> None:
        scenarios.load(self.calling.world, document)

    def advance(self, seconds: float) -> None:
        if not self.wire.alive:
            raise Killed
        self.calling.clock.advance(seconds)
        for _ in range(4):
            self.scheduler.step()
        tuning_work.step(self.calling.world)

    def left(self, region: str = REGION) -> list[str]:
        """Return what costs money, or admits somebody: clusters, unfinished jobs, buckets, the probes' account."""
        at = f"/v1/projects/{PROJECT}/locations/{region}"
        names = [entry["name"] for entry in self._list(f"{at}/persistentResources", "persistentResources")]
        for kind in ("customJobs", "hyperparameterTuningJobs"):
            names += [entry["name"] for entry in self._list(f"{at}/{kind}", kind) if "endTime" not in entry]
        accounts = self._list(f"/v1/projects/{PROJECT}/serviceAccounts", "accounts")
        names += [entry["name"] for entry in self._list(f"/storage/v1/b?project={PROJECT}", "items")]
        return names + [account["email"] for account in accounts if account["email"].startswith("slipway-probes@")]

    def _list(self, path: str, key: str) -> list[Any]:
        return list(self.calling.call("GET", path).get(key, []))


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    with every_service(tmp_path / "state") as calling:
        machines, wire = Machines(calling.clock), Wire(calling)
        scheduler = Scheduler(calling.world, machines)
        overrides = {name: f"http://cloud/{version}/" for name, version in _VERSIONS.items()}
        transport: Any = wire
        connection = Connection(Session(transport, HttpPolicy(attempts=1)), Endpoints(overrides=overrides))
        service = Service(
            connection,
            PROJECT,
            REGION,
            MachineSpec("n1-standard-4"),
            "verify-probes-1",
            now=calling.clock.now,
            sleep=lambda seconds: playing.advance(seconds),
            poll=10.0,
        )
        playing = Asked(calling, machines, wire, scheduler, service)
        yield playing
