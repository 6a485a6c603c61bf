"""The reader of a stack's history: jobs, versions of the catalog and samples, all asked for at once.

It sends GETs, and one query of the log. The history tells the parts that can't be read; nothing is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from slipway.base.clock import TOLERANCE
from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted, seconds
from slipway.google.catalog import document
from slipway.google.catalog.lookup import address
from slipway.google.connection import Connection
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live_reader import Recent
from slipway.google.storage import StoredObject
from slipway.google.vertex import Vertex
from slipway.model.catalog.model import HISTORY_DAYS, Catalog
from slipway.model.kinds import KINDS, PIPELINE_JOB, JobKind
from slipway.model.labels import STACK_LABEL
from slipway.model.season import moment_text
from slipway.operating.history.model import Deployment, History, PastJob, Sample
from slipway.operating.history.past_job import ClustersOverTime, past_job
from slipway.operating.history.samples import day_objects, read_day
from slipway.operating.history.timeline import HOLDS
from slipway.using.jobs.cost import needs_events
from slipway.using.jobs.log import read_events_of_many

Found = TypeVar("Found")

LONGEST_RUN = timedelta(days=7)
"""Vertex AI's default limit of a run: a job created so long before may still have been running."""
MOST_JOBS = 40_000
"""The most jobs that are read for a region and kind, however they are spread over the time."""
MOST_VERSIONS = 50
"""The most versions of the catalog: its bucket keeps as many."""
_AT_ONCE = 64
_DAYS_OF_WINDOW = 5


def time_back(text: str) -> timedelta:
    """Return the time that `30d` reaches back. Raises ConfigError for a time beyond all retention."""
    length = seconds(text)
    if length > timedelta(days=HISTORY_DAYS).total_seconds():
        raise ConfigError(
            f"{quoted(text)} is too long ago",
            why=f"what happened is kept for {HISTORY_DAYS} days",
            fix=f"--since {HISTORY_DAYS}d, or less",
        )
    return timedelta(seconds=length)


def read_history(
    connection: Connection, catalog: Catalog, since: datetime, now: datetime, most: int = MOST_JOBS
) -> History:
    """Read a stack's history from `since` until `now`, by the cloud's time."""
    return _HistoryReader(connection, catalog, since, now, most).read()


class _HistoryReader:
    def __init__(self, connection: Connection, catalog: Catalog, since: datetime, now: datetime, most: int) -> None:
        self._connection, self._catalog = connection, catalog
        self._since, self._now, self._most = since, now, most
        self._storage = connection.storage
        self._published = address(catalog.source or f"gs://{catalog.catalog_bucket}")
        self._unread = dict[str, None]()
        self._jobs_unread = set[str]()

    def read(self) -> History:
        catalog = self._catalog
        self._connection.session.widen(_AT_ONCE)
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="history") as threads:
            lists = [threads.submit(part) for part in self._lists_of_jobs()]
            read_days = partial(day_objects, self._storage, self._published.bucket, self._since - HOLDS, self._now)
            days = threads.submit(self._asked, "samples of machines", read_days)
            versions = self._asked("earlier deployments", self._versions)
            deployments = tuple(deployment for found in threads.map(self._deployment, versions) for deployment in found)
            samples = [sample for of_day in threads.map(self._samples, days.result()) for sample in of_day]
            clusters = ClustersOverTime(deployments or (Deployment(self._now, catalog),))
            # Of a pipeline its tasks' own jobs had the machines.
            jobs = distinct(job for part in lists for job in part.result() if job.kind is not PIPELINE_JOB)
        listed = [job for job in jobs if self._counts(job, clusters.ids)]
        # The answer's time is in whole seconds, and reading takes time: nothing that was read is of the future.
        times = (
            *(at for job in listed for at in (job.create_time, job.start_time, job.end_time) if at),
            *(deployment.at for deployment in clusters.deployments),
            *(sample.at for sample in samples),
        )
        self._now = max(self._now, *times)
        return History(
            stack=catalog.stack,
            project=catalog.project,
            region=catalog.region,
            since=self._since,
            until=self._now,
            jobs=tuple(self._past_jobs(listed, clusters)),
            deployments=tuple(clusters.deployments),
            samples=tuple(sorted(samples, key=lambda sample: sample.at)),
            unread=tuple(self._unread),
            jobs_unread=frozenset(self._jobs_unread),
        )

    def _asked(self, what: str, read: Callable[[], Sequence[Found]], jobs_of: str = "") -> Sequence[Found]:
        """Return an answer with its failure, if any. `jobs_of`: the region, where jobs are asked for."""
        try:
            return read()
        except (CloudError, ConfigError, ValueError) as problem:
            reason = problem.why if isinstance(problem, ConfigError) else problem
            self._unread[f"{what}: {problem.brief if isinstance(problem, CloudError) else reason}"] = None
            if jobs_of:
                self._jobs_unread.add(jobs_of)
            return ()

    def _lists_of_jobs(self) -> Iterator[Callable[[], Sequence[VertexJob]]]:
        """Yield readers of all of the project's jobs, as others' may be on the stack's clusters: unfinished ones, and
        those created in a window of the time."""
        catalog = self._catalog
        days = math.ceil((self._now - self._since + LONGEST_RUN) / timedelta(days=1))
        windows = math.ceil(days / _DAYS_OF_WINDOW)
        recent = Recent(days, self._most, windows=windows)
        for region in catalog.regions_ever:
            vertex = self._connection.vertex(catalog.project, region)
            for kind in KINDS.values():
                of_kind = partial(self._asked, f"jobs in {region}", jobs_of=region)
                yield partial(of_kind, partial(_unfinished, vertex, kind))
                left = iter(range(self._most))  # Shared: a sweep fills one window, and leaves others empty.
                for window in range(windows):
                    yield partial(of_kind, partial(self._made_in, vertex, kind, recent, window, left))

    def _made_in(
        self, vertex: Vertex, kind: JobKind, recent: Recent, window: int, left: Iterator[int]
    ) -> tuple[VertexJob, ...]:
        jobs = list[VertexJob]()
        for job in vertex.jobs(kind, recent.filter(window, self._now)):
            if next(left, None) is None:
                day = self._now - window * timedelta(days=recent.days) / recent.windows
                newest = f"only the newest {len(jobs):,} of those before {moment_text(day)} were looked at"
                self._unread[f"jobs in {vertex.region}: {newest}"] = None
                self._jobs_unread.add(vertex.region)
                break
            jobs.append(job)
        return tuple(jobs)

    def _counts(self, job: VertexJob, clusters: frozenset[str]) -> bool:
        ours = job.labels.get(STACK_LABEL) == self._catalog.identity.label or job.persistent_resource_id in clusters
        return ours and (job.end_time is None or job.end_time > self._since)

    def _past_jobs(self, jobs: Iterable[VertexJob], clusters: ClustersOverTime) -> Iterator[PastJob]:
        """Yield jobs by creation. For Spot jobs the log tells how long they had no machines."""
        in_order = sorted(jobs, key=lambda job: (job.create_time or self._since, job.name))
        spot = [job for job in reversed(in_order) if needs_events(job)]
        events = read_events_of_many(self._connection.logging(self._catalog.project), spot)
        self._unread |= {
            f"preemptions: {events_of_job.why}": None for events_of_job in events.values() if events_of_job.why
        }
        for job in in_order:
            yield past_job(job, clusters, self._now, events.get(job.name))

    def _versions(self) -> tuple[StoredObject, ...]:
        """Return the version of the catalog in force at the beginning, and all later ones."""
        listed = self._storage.objects(self._published, versions=True)
        dated = (version for version in listed if version.at == self._published and version.created)
        versions = sorted(dated, key=_created)[-MOST_VERSIONS:]
        in_force = [version for version in versions if _created(version) <= self._since][-1:]
        if len(versions) == MOST_VERSIONS and not in_force:
            newest = f"only the newest {MOST_VERSIONS} are kept"
            self._unread[f"deployments before {moment_text(_created(versions[0]))}: {newest}"] = None
        return (*in_force, *(version for version in versions if _created(version) > self._since))

    def _deployment(self, version: StoredObject) -> Sequence[Deployment]:
        def read() -> tuple[Deployment]:
            content = self._storage.read(version.at, generation=version.generation)
            return (Deployment(_created(version), document.read(content, str(version.at))),)

        return self._asked(f"the deployment of {moment_text(_created(version))}", read)

    def _samples(self, day: StoredObject) -> tuple[Sample, ...]:
        samples = self._asked(str(day.at), partial(read_day, self._storage, day))
        return tuple(sample for sample in samples if self._since - HOLDS < sample.at <= self._now + TOLERANCE)


def _unfinished(vertex: Vertex, kind: JobKind) -> tuple[VertexJob, ...]:
    return tuple(islice(vertex.active_jobs(kind), MOST_JOBS))


def _created(version: StoredObject) -> datetime:
    assert version.created, "versions without a time were left out"
    return version.created
