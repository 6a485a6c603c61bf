"""A small model of the service, for orders of events that no real one can be made to take.

Jobs start when the model says so, launchers race for claims, lists lag, answers get lost, and callers are killed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.failures import Answer, Call, CloudError, NoAnswer, NotFound, failure
from slipway.google.jobs import VertexJob
from slipway.google.quotas import QuotaInfo
from slipway.google.storage import Location, StoredObject
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.machines.spec import MachineSpec
from slipway.using.context import Clock
from slipway.using.submission.journal import JournalEntry

BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CALL = Call("ask the model")
HOME = "us-central1"
N1 = MachineSpec("n1-standard-4")
_ANSWERS = {
    "busy": Answer(503, "UNAVAILABLE", "busy"),
    "later": Answer(503, "UNAVAILABLE", "come back", retry_after=3.0),
    "limited": Answer(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric"),
    "refused": Answer(400, "INVALID_ARGUMENT", "no such machine"),
    "denied": Answer(403, "PERMISSION_DENIED", "denied"),
    "small": Answer(429, "RESOURCE_EXHAUSTED", "The following quota metrics exceed quota limits: x"),
}
"""Faults that are answers, by their names: nothing was done."""


class Killed(BaseException):
    """The `kill -9` of a caller: it does nothing after this."""


@dataclass
class Job:
    """A job. `starts_after`: the number of looks before it starts; None for never, unless the world ends."""

    number: int
    body: Mapping[str, Any]
    created: float
    starts_after: int | None
    state: str = "JOB_STATE_QUEUED"
    started: float | None = None
    ended: float | None = None
    ran: bool = False
    region: str = HOME

    @property
    def id(self) -> str:
        return str(self.number)

    @property
    def name(self) -> str:
        return f"projects/1/locations/{self.region}/customJobs/{self.id}"


@dataclass
class Service:
    """The service."""

    launcher: bool
    #: Lists hide jobs of that age, in seconds.
    lag: float = 0.0
    #: Of each quota with a known id.
    limit: int = 1000
    #: Limits of other quotas by metric.
    listed: dict[str, int] = field(default_factory=dict)
    #: Machines of the pool's one.
    busy: int = 1
    pool_region: str = HOME
    #: By kind of call, used up in order: "", "lost" (done, not answered), an answer's name, "kill" (before) or "killed"
    #: (after it was done).
    faults: dict[str, list[str]] = field(default_factory=dict)
    starts: list[int | None] = field(default_factory=list)
    time: float = 0.0
    dead: bool = False
    jobs: list[Job] = field(default_factory=list)
    deleted: list[Job] = field(default_factory=list)
    stored: dict[str, str] = field(default_factory=dict)
    notes: dict[str, JournalEntry] = field(default_factory=dict)
    ended_runs: list[str] = field(default_factory=list)
    #: The present catalog, where that is a newer one.
    published: Catalog | None = None
    #: Missing clusters, by id.
    gone: frozenset[str] = frozenset()
    #: Of quotas that the catalog may have.
    ids: Mapping[str, str] | None = None
    #: Where jobs may have machines of their own.
    regions: tuple[str, ...] = (HOME,)
    #: Of each quota with a known id, where it is not `limit`.
    region_limits: Mapping[str, int] = field(default_factory=dict)

    # The caller sees these.

    @property
    def clock(self) -> Clock:
        return Clock(lambda: BEGIN + timedelta(seconds=self.time), lambda: self.time, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.time += max(seconds, 0.01)

    @contextlib.contextmanager
    def _call(self, kind: str) -> Iterator[None]:
        left = self.faults.get(kind, [])
        fault = left.pop(0) if left else ""
        if self.dead or fault == "kill":
            self.dead = True
            raise Killed
        if fault in _ANSWERS:
            raise failure(CALL, _ANSWERS[fault])
        yield
        if fault == "killed":
            self.dead = True
            raise Killed
        if fault == "lost":
            raise NoAnswer(CALL, "lost")

    def create(self, at: Location, body: bytes, media: str = "", *, again: bool = False) -> bool:
        """Create an object that must not exist: one that ends an attempt, or a note of something else."""
        ends = body in (b"moved", b"cancelled") and (self.launcher or at.name.endswith("/end"))
        with self._call("take" if ends else "note"):
            return self._put(str(at), body.decode())

    def create_job(self, kind: JobKind, body: Mapping[str, Any], region: str) -> VertexJob:
        with self._call("create"):
            on_pool = "persistentResourceId" in body[kind.spec]
            assert region in ((self.pool_region,) if on_pool else self.regions), "there is no such pool, or no quota"
            starts = self.starts.pop(0) if self.starts else None
            job = Job(7000 + len(self.jobs) + len(self.deleted), body, self.time, starts, region=region)
            self.jobs.append(job)
        return self._seen(job, kind)

    def job(self, name: str) -> VertexJob:
        with self._call("get"):
            job = next((candidate for candidate in self.jobs if candidate.name == name), None)
            if job is None:
                raise NotFound(CALL)
            self._pass(job)
        return self._seen(job)

    def found(self, name: str) -> VertexJob | None:
        with contextlib.suppress(NotFound):
            return self.job(name)
        return None

    def jobs_listed(self, filter: str, regions: tuple[str, ...]) -> list[VertexJob]:
        with self._call("list"):
            shown = [job for job in self.jobs if self.time - job.created >= self.lag and job.region in regions]
        wanted = [part.partition("=") for part in filter.removeprefix("labels.").split(" AND labels.") if part]
        matching = [job for job in shown if all(job.body["labels"].get(k) == v.strip('"') for k, _, v in wanted)]
        return [self._seen(job) for job in matching]

    def cancel(self, name: str) -> None:
        with self._call("cancel"):
            job = next(candidate for candidate in self.jobs if candidate.name == name)
            if job.ended is not None:
                raise failure(CALL, Answer(400, "FAILED_PRECONDITION", "it has ended"))
            if job.ran:
                self.ended_runs.append(job.id)
            job.state, job.ended = "JOB_STATE_CANCELLED", self.time

    def read(self, at: Location, **_: object) -> bytes:
        with self._call("read"):
            if str(at) not in self.stored:
                raise NotFound(CALL)
        return self.stored[str(at)].encode()

    def objects(self, under: Location) -> list[StoredObject]:
        listed = (Location.parse(name) for name in sorted(self.stored) if name.startswith(str(under)))
        return [StoredObject(at, size=0, generation="1", md5="", updated=None) for at in listed]

    def active_jobs(self, kind: JobKind, filter: str = "") -> Iterator[VertexJob]:
        return iter(())

    def persistent_resource(self, cluster: str) -> PersistentResource:
        if cluster in self.gone:
            raise failure(CALL, Answer(404, "NOT_FOUND", "no such cluster"))
        pool = ResourcePool("workers", N1, 1, self.busy, None, None)
        return PersistentResource(f"p/{cluster}", "RUNNING", {}, (pool,), BEGIN)

    def persistent_resources(self) -> tuple[PersistentResource, ...]:
        return (self.persistent_resource("cpu-1"),)

    def info(self, quota_id: str) -> QuotaInfo:
        metric = next((metric for metric, id_ in (self.ids or {}).items() if id_ == quota_id), None)
        limit = self.listed[metric] if metric else self.limit
        return QuotaInfo(quota_id, tuple(((region,), self.region_limits.get(region, limit)) for region in self.regions))

    def infos(self, metrics: Iterable[str]) -> Iterator[QuotaInfo]:
        with self._call("quotas"):
            limits = [(f"aiplatform.googleapis.com/{metric}", self.listed.get(metric)) for metric in metrics]
        return (QuotaInfo(name, (((HOME,), limit),)) for name, limit in limits if limit is not None)

    # The service's own life.

    def _put(self, name: str, content: str) -> bool:
        if name in self.stored:
            return False
        self.stored[name] = content
        return True

    def _pass(self, job: Job) -> None:
        """Look once more: the job may start."""
        if job.starts_after is not None and job.ended is None and job.started is None:
            job.starts_after -= 1
            if job.starts_after < 0:
                self.start(job)

    def start(self, job: Job) -> None:
        """Start a job: the launcher takes the claim, or the image just runs."""
        if job.started is not None or job.ended is not None:
            return
        job.state, job.started = "JOB_STATE_RUNNING", self.time
        if not self.launcher:
            job.ran = True
            return
        claim = f"gs://work/claims/{job.body['labels']['slipway-request']}"
        self._put(claim, job.id)
        job.ran = self.stored[claim] == job.id
        if not job.ran:
            job.state, job.ended = "JOB_STATE_SUCCEEDED", self.time

    def delete(self, job: Job) -> None:
        """Delete a job as in the console. A running one ends."""
        self.jobs.remove(job)
        self.deleted.append(job)

    def end_of_days(self) -> None:
        """Give machines to all waiting jobs."""
        for job in self.jobs:
            self.start(job)

    @property
    def runs(self) -> list[str]:
        """The jobs that ran user code."""
        return [job.id for job in (*self.deleted, *self.jobs) if job.ran]

    def _seen(self, job: Job, kind: JobKind | None = None) -> VertexJob:
        def stamp(at: float | None) -> dict[str, str] | None:
            return None if at is None else {"": (BEGIN + timedelta(seconds=at)).isoformat()}

        times = {"createTime": stamp(job.created), "startTime": stamp(job.started), "endTime": stamp(job.ended)}
        known = {key: value[""] for key, value in times.items() if value}
        return VertexJob.read({**job.body, **known, "name": job.name, "state": job.state})


class Vertex:
    """The model as the typed client, in one region or several: its list is a method of its own, where the model's jobs
    are a field."""

    def __init__(self, service: Service, region: str = HOME, others: Iterable[str] = ()) -> None:
        self._service, self.region, self.project = service, region, "1"
        self.regions = tuple(dict.fromkeys((region, *others)))

    def at(self, region: str) -> Vertex:
        return Vertex(self._service, region or self.region)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    def jobs(self, kind: JobKind, filter: str = "", **_: object) -> Iterator[VertexJob]:
        if kind is CUSTOM_JOB:
            yield from self._service.jobs_listed(filter, self.regions)

    def jobs_of_every_kind(self, filter: str = "") -> Iterator[VertexJob]:
        return self.jobs(CUSTOM_JOB, filter)

    def create(self, kind: JobKind, body: Mapping[str, Any]) -> VertexJob:
        return self._service.create_job(kind, body, self.region)

    def persistent_resource(self, cluster: str) -> PersistentResource:
        assert self.region == self._service.pool_region
        return self._service.persistent_resource(cluster)


class Connection:
    def __init__(self, service: Service) -> None:
        self._service, self.session = service, SimpleNamespace(widen=lambda threads: None)

    def vertex(self, project: str, region: str, others: Iterable[str] = ()) -> Vertex:
        return Vertex(self._service, region, others)

    def quotas(self, project: str, ids: Mapping[str, str] | None) -> Service:
        assert ids is self._service.ids
        return self._service

    @property
    def storage(self) -> Service:
        return self._service


class Context:
    """The start of a command, with the model for the service."""

    look_for = 60.0
    no_contact = 3600.0
    agent = ""
    user = "ada"
    environ: Mapping[str, str] = {}
    folder = Path("/")

    def __init__(self, service: Service, catalog: Catalog | None = None) -> None:
        self._service, self.catalog, self.clock = service, catalog, service.clock
        self.connection = self.hurried = Connection(service)
        self.vertex = Vertex(service, HOME, (service.pool_region, *service.regions))

    def anew(self) -> Context:
        with self._service._call("catalog"):
            return Context(self._service, self._service.published or self.catalog)

    def with_policy(self, policy: object) -> Context:
        return self

    def cluster_name(self, cluster_id: str) -> str:
        cluster = self.catalog.cluster_named(cluster_id) if self.catalog else None
        return cluster.name if cluster else cluster_id

    def looked_up(self, read: Callable[[Any], Any], say: object) -> Any:
        return read(self.vertex)

    @property
    def now(self) -> datetime:
        return self._service.clock.now()


class Journal:
    """A journal in memory; a dead process writes nothing more."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def read(self, request_id: str) -> JournalEntry | None:
        return self._service.notes.get(request_id)

    def write(self, entry: JournalEntry, *, durable: bool = True) -> None:
        if not self._service.dead:
            self._service.notes[entry.request_id] = entry

    @contextlib.contextmanager
    def held(self, request_id: str) -> Iterator[None]:
        yield


def is_passing(problem: CloudError) -> bool:
    """Tell whether the same command, typed again, gets on."""
    return isinstance(problem, NoAnswer) or problem.status == 503
