"""What the sender of a sweep asks of the service: to make jobs, and which of a sweep's jobs are listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from slipway.cloud.metadata import Metadata
from slipway.cloud.resources import CustomJob
from slipway.cloud.vertex import Vertex
from slipway.kinds import Kind
from slipway.labels import REQUEST_LABEL
from slipway.submission.experiment_run import create_run
from slipway.submission.request import Request
from slipway.sweep.runs import sweep_filter

_ONE_BY_ONE = 8
_PAGE = 100


class SweepService(Protocol):
    """What a sweep's sender asks of the service."""

    def create(self, request: Request) -> CustomJob: ...

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        """The jobs' names by request id, of those that are listed, and how many calls it took."""


class VertexSweepService:
    """For one sweep of one kind of jobs. May be shared by threads."""

    def __init__(self, vertex: Vertex, metadata: Metadata, kind: Kind, stack: str, sweep: str) -> None:
        self._vertex, self._metadata, self._kind = vertex, metadata, kind
        self._filter = sweep_filter(stack, sweep)

    def create(self, request: Request) -> CustomJob:
        """With the run of an experiment that the request names. What fails there has made no job all the same."""
        create_run(self._metadata, request)
        return self._vertex.create(request.kind, request.body)

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        """A few are asked for one by one; many by reading the whole sweep."""
        wanted = [request.id for request in requests]
        if len(wanted) > _ONE_BY_ONE:
            jobs = self.all()
            found = {job.labels.get(REQUEST_LABEL, ""): job.name for job in reversed(jobs)}
            return {id_: found[id_] for id_ in wanted if id_ in found}, 1 + len(jobs) // _PAGE
        listed = {
            id_: job.name
            for id_ in wanted
            for job in self._vertex.jobs(self._kind, f'{self._filter} AND labels.{REQUEST_LABEL}="{id_}"')
        }
        return listed, len(wanted)

    def all(self) -> tuple[CustomJob, ...]:
        """Every job of the sweep that is listed."""
        return tuple(self._vertex.jobs(self._kind, self._filter))
