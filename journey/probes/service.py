"""The service as a probe meets it: every refusal is an answer, every wait ends, and one label marks everything made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from journey.probes.replica import CODE
from slipway.google.answers import Json, parse_timestamp
from slipway.google.connection import Connection
from slipway.google.failures import Call, CloudError, NotFound
from slipway.google.logging import LogEntry
from slipway.model.kinds import CUSTOM_JOB, JobKind, kind_of
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.log import job_filter

T = TypeVar("T")

STACK = "verify-probes"
"""The label's value on everything that probes make, by which it is found again."""
ACCOUNT = "slipway-probes"
"""The service account that a probe makes, before its @."""
IMAGE = "python:3.11"
ENDED = frozenset(
    f"JOB_STATE_{state}" for state in ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
)
TAKING_JOBS = ("RUNNING", "UPDATING")


@dataclass(frozen=True)
class Said:
    """An answer: HTTP status, Google's status name and message of a refusal, else the body."""

    status: int
    reason: str = ""
    message: str = ""
    body: Json = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status < 400

    @property
    def name(self) -> str:
        return str(self.body.get("name", ""))

    def __str__(self) -> str:
        return f"HTTP {self.status}" if self.ok else f'HTTP {self.status} {self.reason} "{self.message}"'


@dataclass(frozen=True)
class Service:
    """The service in one project and region. `small` is the machine that probes use, `cluster` the id of their shared
    one, `reserved` a person's reservation with its machine."""

    connection: Connection
    project: str
    region: str
    small: MachineSpec
    cluster: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], None] = time.sleep
    poll: float = 5.0
    reserved: tuple[str, MachineSpec] | None = None

    @property
    def url(self) -> str:
        """The region's URL, for paths of collections."""
        base = self.connection.endpoints.vertex(self.region)
        return f"{base}projects/{self.project}/locations/{self.region}"

    def post(self, doing: str, url: str, body: Json, **params: str) -> Said:
        """Send a request once. Raises CloudError where no answer came."""
        return _said(lambda: self.connection.session.post(url, Call(doing), body, params))

    def patch(self, doing: str, url: str, body: Json, **params: str) -> Said:
        return _said(lambda: self.connection.session.write("PATCH", url, Call(doing), body, params))

    def get(self, doing: str, url: str) -> Said:
        return _said(lambda: self.connection.session.get(url, Call(doing)))

    def until(self, look: Callable[[], T | None], minutes: float) -> T | None:
        """Return the first result of a look that is not None, or None once the minutes are over."""
        end = self.now().timestamp() + minutes * 60
        while (found := look()) is None and self.now().timestamp() < end:
            self.sleep(self.poll)
        return found

    def make_cluster(self, cluster: str, *pools: Json) -> Said:
        body = {"displayName": cluster, "labels": {STACK_LABEL: STACK}, "resourcePools": list(pools)}
        url = f"{self.url}/persistentResources"
        return self.post(f"create cluster {cluster}", url, body, persistentResourceId=cluster)

    def look_at(self, cluster: str) -> Json | None:
        """Return the cluster as it is, None when it does not exist."""
        said = self.get(f"read cluster {cluster}", f"{self.url}/persistentResources/{cluster}")
        return said.body if said.ok else None

    def settled(self, cluster: str, minutes: float) -> Json | None:
        """Return the cluster once it runs or is in ERROR."""

        def look() -> Json | None:
            body = self.look_at(cluster)
            return body if body and body.get("state") in ("RUNNING", "ERROR") else None

        return self.until(look, minutes)

    def delete_cluster(self, cluster: str, minutes: float = 10) -> bool:
        """Return whether the cluster is gone in that time; one that is still being made is waited for first."""

        def gone() -> bool | None:
            body = self.look_at(cluster)
            if body is None:
                return True
            if body.get("state") in ("RUNNING", "ERROR", "UPDATING"):
                _said(lambda: self._vertex_delete(cluster))
            return None

        return bool(self.until(gone, minutes))

    def _vertex_delete(self, cluster: str) -> Json:
        self.connection.vertex(self.project, self.region).delete_persistent_resource(cluster)
        return {}

    def pool(self, replicas: int = 1, most: int | None = None, machine: MachineSpec | None = None) -> Json:
        """Return a pool of small machines, autoscaled where `most` is given."""
        sized = {"autoscalingSpec": {"minReplicaCount": str(replicas), "maxReplicaCount": str(most)}} if most else {}
        return {"id": "probe", **(machine or self.small).request(), "replicaCount": str(replicas), **sized}

    def worker(self, does: str, replicas: int = 1, **changes: Any) -> Json:
        """Return a worker pool whose code does one thing of `replica.py`, such as `hold 600`."""
        task = {"imageUri": IMAGE, "command": ["python", "-c", CODE], "args": does.split()}
        return {**self.small.request(), "replicaCount": str(replicas), "containerSpec": task, **changes}

    def make_job(self, name: str, *workers: Json, cluster: str = "", kind: JobKind = CUSTOM_JOB, **spec: Any) -> Said:
        """Send a custom job of these workers, on a cluster or on machines of its own."""
        spec = {"workerPoolSpecs": list(workers), **spec} | ({"persistentResourceId": cluster} if cluster else {})
        body = {"displayName": f"probe-{name}", "labels": {STACK_LABEL: STACK}, "jobSpec": spec}
        return self.post(f"submit probe-{name}", f"{self.url}/{kind.collection}", body)

    @contextmanager
    def ending(self, *names: str) -> Iterator[None]:
        """Cancel these jobs at the end of the block, and wait for their end."""
        try:
            yield
        finally:
            for name in filter(None, names):
                self.cancel(name)
            for name in filter(None, names):
                self.ended(name, 10)

    def cancel(self, name: str) -> Said:
        return self.post(f"cancel {name}", f"{self.job_url(name)}:cancel", {})

    def job_url(self, name: str) -> str:
        return f"{self.url}/{kind_of(name).collection}/{name.rpartition('/')[2]}"

    def job(self, name: str) -> Json:
        said = self.get(f"read {name}", self.job_url(name))
        return said.body

    def state(self, name: str) -> str:
        return str(self.job(name).get("state", ""))

    def reaches(self, name: str, states: frozenset[str], minutes: float) -> Json | None:
        """Return the job once it is in one of these states."""

        def look() -> Json | None:
            body = self.job(name)
            return body if body.get("state") in states else None

        return self.until(look, minutes)

    def running(self, name: str, minutes: float) -> bool:
        """Return whether the job runs within that time."""
        body = self.reaches(name, ENDED | {"JOB_STATE_RUNNING"}, minutes)
        return body is not None and body["state"] == "JOB_STATE_RUNNING"

    def ended(self, name: str, minutes: float) -> Json | None:
        return self.reaches(name, ENDED, minutes)

    def lines(self, name: str) -> tuple[LogEntry, ...]:
        """Return the log lines of the job's code, oldest first; lines may come minutes late."""
        wanted = job_filter((name.rpartition("/")[2],))
        found = self.connection.logging(self.project).entries(wanted)
        return tuple(line for line in found if line.text.startswith("probe "))


def seconds_between(before: Any, after: Any) -> float | None:
    """Return the seconds between two timestamps of the service, None where one is missing."""
    first, last = parse_timestamp(before), parse_timestamp(after)
    return (last - first).total_seconds() if first and last else None


def error_of(body: Mapping[str, Any]) -> str:
    """Return the error of a job or cluster, in quotes; "" for none."""
    message = (body.get("error") or {}).get("message", "")
    return f'"{message}"' if message else ""


def _said(send: Callable[[], Json]) -> Said:
    try:
        return Said(200, body=send())
    except NotFound as error:
        return Said(404, error.answer.reason if error.answer else "", error.message)
    except CloudError as error:
        if error.answer is None:
            raise
        return Said(error.answer.status, error.answer.reason, error.answer.message)
