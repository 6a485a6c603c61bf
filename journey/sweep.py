"""The end of everything that a journey's stack made on a project, known by labels and names, whether or not a state
knows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from slipway.base.errors import WaitTimeout
from slipway.google.connection import Connection
from slipway.google.failures import Call, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.labels import STACK_LABEL

Say = Callable[[str], None]


@dataclass(frozen=True)
class Ours:
    """The names of a stack's things: its label on clusters and jobs, its buckets, its trainer account."""

    project: str
    region: str
    #: The label of what belongs to the stack.
    stack: str
    buckets: tuple[str, ...]
    trainer: str


class Sweep:
    """The steps of a sweep, all idempotent: each looks first, and a thing that is already gone is no error. Raises
    CloudError otherwise."""

    def __init__(self, connection: Connection, ours: Ours, say: Say, poll_seconds: float = 5.0) -> None:
        self._connection, self._ours, self._say, self._poll = connection, ours, say, poll_seconds
        self._vertex = connection.vertex(ours.project, ours.region)

    def end_jobs(self, patience: float) -> None:
        """Cancel the stack's jobs and wait until they have ended, because a busy cluster can't be deleted."""
        deadline = time.monotonic() + patience
        asked: set[str] = set()
        while running := [job for job in self._jobs() if not job.ended]:
            for job in running:
                if job.name not in asked:
                    self._say(f"cancels {job.display_name}")
                    self._vertex.cancel(job.name)
                    asked.add(job.name)
            self._wait(deadline, f"{len(running)} jobs are still ending")

    def empty_buckets(self) -> None:
        """Delete every object, noncurrent versions too, so that the buckets themselves can go."""
        for bucket in self._ours.buckets:
            base = f"{self._connection.endpoints.of('storage')}b/{quote(bucket, safe='')}/o"
            call = Call(f"empty gs://{bucket}", "storage.objects.delete", f"gs://{bucket}")
            try:
                items = list(self._connection.session.pages(base, call, "items", {"versions": "true"}))
            except NotFound:
                continue
            for item in items:
                self._gone(f"{base}/{quote(item['name'], safe='')}?generation={item['generation']}", call)

    def delete_rest(self, patience: float) -> None:
        """Delete clusters, buckets and the trainer account that the engine's state did not know.

        A cluster that is still being made is waited for, since the service refuses to delete it.
        """
        deadline = time.monotonic() + patience
        base = f"{self._connection.endpoints.vertex(self._ours.region)}projects/{self._ours.project}"
        while clusters := [
            one for one in self._vertex.persistent_resources() if one.labels.get(STACK_LABEL) == self._ours.stack
        ]:
            for cluster in clusters:
                if cluster.state in ("RUNNING", "ERROR", "UPDATING"):
                    self._say(f"deletes cluster {cluster.id}")
                    call = Call(f"delete cluster {cluster.id}", "aiplatform.persistentResources.delete", cluster.id)
                    self._gone(f"{base}/locations/{self._ours.region}/persistentResources/{cluster.id}", call)
            self._wait(deadline, f"{len(clusters)} clusters are still being deleted")
        for bucket in self._ours.buckets:
            at = Location(bucket)
            self._gone(
                f"{self._connection.endpoints.of('storage')}b/{quote(bucket, safe='')}",
                Call(f"delete {at}", "storage.buckets.delete", str(at)),
            )
        account = f"projects/{self._ours.project}/serviceAccounts/{self._ours.trainer}"
        call = Call(f"delete {self._ours.trainer}", "iam.serviceAccounts.delete", self._ours.trainer)
        self._gone(f"{self._connection.endpoints.of('iam')}{account}", call)

    def _jobs(self) -> list[VertexJob]:
        return list(self._vertex.jobs_of_every_kind(f'labels.{STACK_LABEL}="{self._ours.stack}"'))

    def _gone(self, url: str, call: Call) -> None:
        try:
            self._connection.session.delete(url, call)
        except NotFound:
            return

    def _wait(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            raise WaitTimeout(what, why="the time set aside for cleaning up is over", fix="run the same command again")
        time.sleep(self._poll)
