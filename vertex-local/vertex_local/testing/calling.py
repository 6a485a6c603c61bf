"""Services of a test's own world, called without a network, under a clock that stands still."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from .. import identities
from ..clock import ManualClock
from ..nodes.spec import Status
from ..router import Router
from ..server.main import load_services
from ..settings import Settings
from ..vertex.clusters.work import apply_due
from ..vertex.jobs import life as job_life
from ..vertex.jobs import table as jobs
from ..vertex.scheduling import queues
from ..wire import ApiError, Call, Reply
from ..world import World, open_world
from .bodies import cluster_body, job_body

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
REGION = "us-central1"
PARENT = f"projects/local-project/locations/{REGION}"
NUMBERED = f"projects/{identities.PROJECT_NUMBER}/locations/{REGION}"
CLUSTERS = f"/v1/{PARENT}/persistentResources"
JOBS = f"/v1/{PARENT}/customJobs"


@dataclass
class Calling:
    """A caller of methods as one role after another; `refused` returns the error of a call that must fail."""

    world: World
    clock: ManualClock
    router: Router

    def call(self, method: str, path: str, body: Any = None, role: str = "owner", raw: bytes = b"") -> dict[str, Any]:
        answer: dict[str, Any] = self.reply(method, path, body, role, raw).body
        return answer

    def reply(self, method: str, path: str, body: Any = None, role: str = "owner", raw: bytes = b"") -> Reply:
        path, _, query = path.partition("?")
        sent = tuple(parse_qsl(query, keep_blank_values=True))
        raw = raw if body is None else json.dumps(body).encode()
        principal = identities.ROLES.get(role, role)
        answer = self.router.answer(Call(principal, "token", method, path, {}, {}, {}, raw, sent))
        assert answer, f"no route for {method} {path}"
        return answer

    def refused(self, method: str, path: str, body: Any = None, role: str = "owner") -> ApiError:
        try:
            self.call(method, path, body, role)
        except ApiError as error:
            return error
        raise AssertionError(f"{method} {path} was not refused")

    def set(self, **values: Any) -> None:
        self.world.change_settings(values)

    def advance(self, seconds: float) -> None:
        """Let time pass, and let the cloud do its due work, but start no process."""
        self.clock.advance(seconds)
        apply_due(self.world)
        with self.world.store.transaction():
            queues.serve_all(self.world, self.clock.now())

    def cluster(self, name: str, **changes: Any) -> dict[str, Any]:
        """Return a running cluster, with one pool of two n1-standard-4."""
        self.call("POST", f"{CLUSTERS}?persistentResourceId={name}", cluster_body(**changes))
        apply_due(self.world)
        return self.call("GET", f"{CLUSTERS}/{name}")

    def bucket(self, name: str, location: str = REGION) -> None:
        self.call("POST", "/storage/v1/b?project=local-project", {"name": name, "location": location})

    def job(self, **changes: Any) -> dict[str, Any]:
        return self.call("POST", JOBS, job_body(**changes))


def state(calling: Calling, job: dict[str, Any]) -> str:
    return str(calling.call("GET", "/v1/" + job["name"])["state"])


def end(calling: Calling, job: dict[str, Any]) -> None:
    """End a started job, as when its replicas have ended."""
    with calling.world.store.transaction():
        job_record = jobs.get(calling.world.store, job["name"])
        assert job_record and job_record.run
        seen = {replica.name: Status("exited") for replica in job_record.run.replicas}
        over = job_life.advanced(job_record, job_record.run, seen, calling.clock.now(), calling.world.settings)
        jobs.put(calling.world.store, job_record.run.number, job_record.run.region, over.body, over.run)


@contextmanager
def every_service(state: Path) -> Iterator[Calling]:
    """Yield all services in a new world, without rate limits."""
    clock = ManualClock(START)
    limits = {"submissions_per_minute": 0, "calls_per_minute": 0, "log_reads_per_minute": 0}
    world = open_world(state, clock=clock, chosen=Settings().changed(limits))
    try:
        yield Calling(world, clock, Router([route for service in load_services() for route in service.routes(world)]))
    finally:
        world.store.close()
        world.logs.close()
