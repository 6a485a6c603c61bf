"""Vertex AI and Cloud Quotas of a test's own world, called without a network, under a clock that stands still."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from local.cloud import identities
from local.cloud.clock import ManualClock
from local.cloud.quotas import routes as quotas
from local.cloud.router import Router
from local.cloud.settings import Settings
from local.cloud.vertex import routes as vertex
from local.cloud.vertex.clusters.work import apply_due
from local.cloud.vertex.scheduling import queues
from local.cloud.wire import ApiError, Call
from local.cloud.world import World, open_world

REGION = "us-central1"
START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
CLUSTERS = f"/v1/projects/slipway-local/locations/{REGION}/persistentResources"
JOBS = f"/v1/projects/slipway-local/locations/{REGION}/customJobs"
TRAINER = identities.DEPLOYER


@dataclass
class Service:
    """Calls the services' methods as one role after another; `refused` gives the error of a call that must fail."""

    world: World
    clock: ManualClock
    router: Router

    def call(self, method: str, path: str, body: Any = None, role: str = "owner") -> dict[str, Any]:
        path, _, query = path.partition("?")
        found = self.router.find(method, path)
        assert found, f"no route for {method} {path}"
        handler, params = found
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        raw = b"" if body is None else json.dumps(body).encode()
        principal = identities.ROLES[role]
        call = Call(principal, "token", method, path, params, dict(pairs), {}, raw, pairs)
        answer: dict[str, Any] = handler(call).body
        return answer

    def refused(self, method: str, path: str, body: Any = None, role: str = "owner") -> ApiError:
        with pytest.raises(ApiError) as caught:
            self.call(method, path, body, role)
        return caught.value

    def set(self, **values: Any) -> None:
        self.world.change_settings(values)

    def advance(self, seconds: float) -> None:
        """Let time pass, and let the cloud do what is due, but start no process."""
        self.clock.advance(seconds)
        apply_due(self.world)
        with self.world.store.transaction():
            queues.serve_all(self.world, self.clock.now())

    def cluster(self, name: str, **changes: Any) -> dict[str, Any]:
        """A cluster that runs, with one pool of two n1-standard-4."""
        self.call("POST", f"{CLUSTERS}?persistentResourceId={name}", cluster_body(**changes))
        apply_due(self.world)
        return self.call("GET", f"{CLUSTERS}/{name}")

    def job(self, **changes: Any) -> dict[str, Any]:
        return self.call("POST", JOBS, job_body(**changes))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    clock = ManualClock(START)
    settings = Settings().changed({"submissions_per_minute": 0, "calls_per_minute": 0})
    world = open_world(tmp_path / "state", clock=clock, chosen=settings)
    yield Service(world, clock, Router([*vertex.routes(world), *quotas.routes(world)]))
    world.store.close()


def pool(machine: str = "n1-standard-4", replicas: int | None = 2, **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"machineSpec": {"machineType": machine}}
    if replicas is not None:
        base["replicaCount"] = str(replicas)
    return base | changes


def autoscaled(low: int, high: int, machine: str = "n1-standard-4") -> dict[str, Any]:
    return pool(machine, None, autoscalingSpec={"minReplicaCount": str(low), "maxReplicaCount": str(high)})


def cluster_body(*pools: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {"resourcePools": list(pools) or [pool()]} | changes


def worker(machine: str = "n1-standard-4", replicas: int = 1, **changes: Any) -> dict[str, Any]:
    task = {"imageUri": "python:3.10", "command": ["true"]}
    return {"machineSpec": {"machineType": machine}, "replicaCount": str(replicas), "containerSpec": task} | changes


def job_body(*workers: Mapping[str, Any], cluster: str | None = None, **changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"workerPoolSpecs": list(workers) or [worker()]} | changes.pop("spec", {})
    if cluster:
        spec["persistentResourceId"] = cluster
    return {"displayName": "train", "jobSpec": spec} | changes
