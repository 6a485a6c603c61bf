"""Vertex AI in a project, in one region or several: jobs of every kind, and persistent resources."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, TypeVar

from slipway.google.answers import Json, garbled, region_of, shaped
from slipway.google.clusters import Operation, PersistentResource
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call, Garbled, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.session import Session
from slipway.model.kinds import KINDS, JobKind, kind_of

_Named = TypeVar("_Named", VertexJob, Operation, PersistentResource)
_Read = TypeVar("_Read")

_CLUSTERS = "persistentResources"
_LARGEST_PAGE = 100
_NEVER = datetime.min.replace(tzinfo=UTC)


class Vertex:
    """A client of Vertex AI. Every method raises `CloudError`; ids may be full names or the last part alone.

    A full name is looked up in its own region, an id alone in `region`. Lists are of all `regions`.
    """

    def __init__(
        self, session: Session, endpoints: Endpoints, project: str, region: str, others: Iterable[str] = ()
    ) -> None:
        self.project, self.region = project, region
        self.regions = tuple(dict.fromkeys((region, *others)))
        self._session, self._endpoints = session, endpoints

    def at(self, region: str) -> Vertex:
        """Return the client of one region alone; of its first where none is named."""
        return Vertex(self._session, self._endpoints, self.project, region or self.region)

    def _at_once(self, read: Callable[[Vertex], _Read]) -> list[_Read]:
        with ThreadPoolExecutor(len(self.regions), thread_name_prefix="regions") as threads:
            return list(threads.map(read, map(self.at, self.regions)))

    def _parent(self, name: str = "", version: str = "v1") -> str:
        region = region_of(name) or self.region
        base = self._endpoints.vertex(region)  # An override may have another version, which has all of v1.
        base = f"{base.removesuffix('v1/')}{version}/" if base.endswith("/v1/") else base
        return f"{base}projects/{self.project}/locations/{region}"

    def _call(self, doing: str, permission: str) -> Call:
        return Call(doing, f"aiplatform.{permission}", f"project {self.project}")

    def _url(self, name: str, kind: JobKind | None = None) -> str:
        parent = self._parent(name, kind.version) if kind else self._parent(name)
        return f"{parent}/{kind.collection if kind else _CLUSTERS}/{name.rsplit('/', 1)[-1]}"

    def create(self, kind: JobKind, body: Json) -> VertexJob:
        """Create a job, sent once; `CloudError.not_accepted` of a raised error says whether sending again is safe."""
        call = self._call(f"submit {body.get('displayName', '')}", f"{kind.collection}.create")
        params = {kind.id_parameter: kind.job_id(body)} if kind.id_parameter else None
        url = f"{self._parent(version=kind.version)}/{kind.collection}"
        return _read_job(call, kind, self._session.post(url, call, body, params))

    def job(self, name: str) -> VertexJob:
        """Return the job with a full name, of any kind; a number alone is a custom job's."""
        kind = kind_of(name)
        call = self._call(f"read job {name}", f"{kind.collection}.get")
        return _read_job(call, kind, self._session.get(self._url(name, kind), call))

    def body(self, name: str) -> dict[str, Any]:
        """Return what a request for a job like this one says."""
        kind = kind_of(name)
        described = self._session.get(self._url(name, kind), self._call(f"read job {name}", f"{kind.collection}.get"))
        return {
            key: described[key] for key in ("displayName", "labels", "encryptionSpec", kind.spec) if key in described
        }

    def found(self, name: str) -> VertexJob | None:
        """Return the job with a full name; None where there is none."""
        try:
            return self.job(name)
        except NotFound:
            return None

    def jobs(self, kind: JobKind, filter: str = "", *, page_size: int = _LARGEST_PAGE) -> Iterator[VertexJob]:
        """Yield jobs newest first, as the service lists them; pages are read on demand.

        `filter` is the API's: `state="JOB_STATE_RUNNING"`, `labels.key="value"`, `display_name="…"`.
        """
        if len(self.regions) > 1:
            yield from _newest_first(
                self._at_once(lambda region: _begun(region.jobs(kind, filter, page_size=page_size)))
            )
            return
        call = self._call(f"list the {kind.words}s of {self.project} in {self.region}", f"{kind.collection}.list")
        params: dict[str, str | int] = {"pageSize": page_size}
        if filter:
            params["filter"] = kind.filter(filter)
        for body in self._session.pages(
            f"{self._parent(version=kind.version)}/{kind.collection}", call, kind.collection, params
        ):
            yield _read_job(call, kind, body)

    def jobs_of_every_kind(self, filter: str = "", *, page_size: int = _LARGEST_PAGE) -> Iterator[VertexJob]:
        """Yield jobs of all kinds merged, newest first, as `jobs` does. The filter names states as a custom job's. The
        custom jobs of a pipeline's tasks are left out."""
        kinds = (kind for kind in KINDS.values() if kind.can_match(filter))
        every = _newest_first(self.jobs(kind, filter, page_size=page_size) for kind in kinds)
        return (job for job in every if not job.of_pipeline)

    def cancel(self, name: str) -> None:
        """Ask for the job's end; it passes through CANCELLING."""
        # Cancelling twice is harmless, so the request is retried.
        kind = kind_of(name)
        call = self._call(f"cancel job {name}", f"{kind.collection}.cancel")
        self._session.post(f"{self._url(name, kind)}:{kind.cancel_method}", call, {}, idempotent=True)

    def active_jobs(self, kind: JobKind, filter: str = "", *, page_size: int = _LARGEST_PAGE) -> Iterator[VertexJob]:
        parts = [f'state!="JOB_STATE_{state}"' for state in kind.ended]
        wanted = " AND ".join([*parts, *([filter] if filter else [])])
        return (job for job in self.jobs(kind, wanted, page_size=page_size) if not job.ended)

    def persistent_resource(self, cluster: str) -> PersistentResource:
        call = self._call(f"read cluster {cluster}", "persistentResources.get")
        return _read(call, PersistentResource.read, self._session.get(self._url(cluster), call))

    def persistent_resource_body(self, cluster: str) -> Json:
        """Return a cluster as the service answers it, which `PersistentResource.read` takes."""
        call = self._call(f"read cluster {cluster}", "persistentResources.get")
        body = self._session.get(self._url(cluster), call)
        _read(call, PersistentResource.read, body)
        return body

    def delete_persistent_resource(self, cluster: str) -> None:
        """Ask for the cluster's end; it passes through STOPPING. Raises Refused while it is being made or rebooted."""
        call = self._call(f"delete cluster {cluster.rsplit('/', 1)[-1]}", "persistentResources.delete")
        self._session.delete(self._url(cluster), call)

    def persistent_resources(self) -> tuple[PersistentResource, ...]:
        if len(self.regions) > 1:
            return tuple(chain.from_iterable(self._at_once(Vertex.persistent_resources)))
        call = self._call(f"list the clusters of {self.project} in {self.region}", "persistentResources.list")
        params = {"pageSize": _LARGEST_PAGE}
        bodies = self._session.pages(f"{self._parent()}/{_CLUSTERS}", call, _CLUSTERS, params)
        return tuple(_read(call, PersistentResource.read, body) for body in bodies)

    def create_persistent_resource(self, cluster: str, body: Json) -> Operation:
        """Make a cluster, sent once. As the id is the caller's, a repetition makes no second cluster, but raises
        Conflict."""
        call = self._call(f"create cluster {cluster}", "persistentResources.create")
        url = f"{self._parent()}/{_CLUSTERS}"
        return _read(call, Operation.read, self._session.post(url, call, body, {"persistentResourceId": cluster}))

    def operation(self, name: str) -> Operation:
        call = self._call(f"read operation {name}", "operations.get")
        return _read(call, Operation.read, self._session.get(f"{self._parent(name).split('projects/')[0]}{name}", call))


def _begun(jobs: Iterator[VertexJob]) -> Iterator[VertexJob]:
    """Return an iterator whose first page has been read."""
    return chain(tuple(islice(jobs, 1)), jobs)


def _newest_first(lists: Iterable[Iterator[VertexJob]]) -> Iterator[VertexJob]:
    return heapq.merge(*lists, key=lambda job: job.create_time or _NEVER, reverse=True)


def _read_job(call: Call, kind: JobKind, body: Json) -> VertexJob:
    try:
        return _read(call, lambda answer: VertexJob.read(answer, kind), body)
    except Garbled:
        if kind.runs_itself or kind.has_trials:
            raise
        # A pipeline's inputs may be any JSON: where they are not a job's, it is read without them. The job that the
        # service runs for it is of another kind, and is listed itself.
        return _read(call, lambda answer: VertexJob.read(answer, kind), {**body, kind.spec: None})


def _read(call: Call, read: Callable[[Json], _Named], body: Json) -> _Named:
    """Read a job, a cluster or an operation. Raises Garbled for an invalid one, such as one without a name."""
    value = shaped(call, read, body)
    if not value.name or not isinstance(value.name, str):
        raise garbled(call, "the answer has no name")
    return value
