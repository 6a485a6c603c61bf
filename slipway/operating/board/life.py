"""The life of one job: its phases, its events, its utilization, and its last lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from slipway.base.errors import ConfigError
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, StoredObject
from slipway.model.labels import shown_name
from slipway.using.context import Context
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.idle import idle_accelerators, idle_words
from slipway.using.jobs.log import JobEvent, JobEvents, job_filter, line, newest, read_events
from slipway.using.jobs.utilization import Utilization, UtilizationRow, read_utilization

_LINES, _POINTS, _SERIES, _MARKS, _OBJECTS = 20, 120, 24, 60, 2000
_CHECKPOINT = re.compile(r"checkpoint|ckpt", re.IGNORECASE)


@dataclass(frozen=True)
class Phase:
    """A phase of a job."""

    #: waiting, running or preempted
    what: str
    begin: datetime
    end: datetime


@dataclass(frozen=True)
class Mark:
    """An event of a job at one moment, from the service, or a checkpoint."""

    time: datetime
    what: str
    text: str


@dataclass(frozen=True)
class Use:
    """A metric of a replica or accelerator."""

    who: str
    what: str
    mean: float
    max: float
    #: Times with shares from 0 to 1.
    points: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True)
class Life:
    """A job's life."""

    id: str
    name: str
    phases: tuple[Phase, ...]
    marks: tuple[Mark, ...]
    use: tuple[Use, ...]
    lines: tuple[str, ...]
    #: The idle time of its accelerators, and its cost, as text.
    idle: str = ""
    cause: str = ""
    #: The parts that could not be read.
    why: tuple[str, ...] = ()


def read_life(context: Context, job: VertexJob, *, lines: bool = True) -> Life:
    """Read a job's life, all parts at once. Failures to read are in `why`, and nothing is raised."""
    project = context.catalog.project
    logging, monitoring = context.brief.logging(project), context.brief.monitoring(project)
    with ThreadPoolExecutor(4, thread_name_prefix="life") as threads:
        events = threads.submit(read_events, logging, job)
        use = threads.submit(read_utilization, monitoring, job, context.now)
        log = threads.submit(_lines, context, job) if lines else None
        saved = threads.submit(_checkpoints, context, job)
        log_lines, why_no_lines = log.result() if log else ((), "")
        objects, why_no_objects = saved.result()
        why = (why_no_lines, why_no_objects)
        return life_of(job, events.result(), use.result(), log_lines, objects, context.now, why)


def life_of(
    job: VertexJob,
    events: JobEvents,
    use: Utilization,
    lines: Sequence[str],
    saved: Iterable[StoredObject],
    now: datetime,
    why: Iterable[str] = (),
) -> Life:
    """Return a job's life. Pure."""
    marks = [
        Mark(time=event.at, what=event.kind, text=event.text)
        for event in events.all
        if event.at and event.kind != "running"
    ]
    marks += checkpoints(saved)
    idle = idle_accelerators(use, job, job_cost(job, job.region, now, events))
    unread = (f"events: {events.why}" if events.why else "", f"use: {use.why}" if use.why else "", *why)
    return Life(
        id=job.id,
        name=shown_name(job.called, job.labels),
        phases=tuple(phases(job, events.all, now)),
        marks=tuple(sorted(marks, key=lambda mark: mark.time)[-_MARKS:]),
        use=tuple(map(_use, use.rows[:_SERIES])),
        lines=tuple(lines),
        idle=idle_words(idle) if idle else "",
        why=tuple(filter(None, unread)),
    )


def phases(job: VertexJob, events: Iterable[JobEvent], now: datetime) -> Iterator[Phase]:
    """Yield the phases: the wait for its first start, its runs, and the times without machines."""
    if job.create_time is None:
        return
    end = job.end_time or now
    yield Phase(what="waiting", begin=job.create_time, end=job.start_time or end)
    begin, lost = job.start_time, False
    for event in sorted((event for event in events if event.at), key=lambda event: event.at or now):
        if begin is None or event.at is None or event.trial or event.at <= begin:
            continue
        if event.kind == "preemption" and not lost:
            yield Phase(what="running", begin=begin, end=event.at)
            begin, lost = event.at, True
        elif event.kind == "running" and lost:
            yield Phase(what="preempted", begin=begin, end=event.at)
            begin, lost = event.at, False
    if begin:
        yield Phase(what="preempted" if lost else "running", begin=begin, end=end)


def checkpoints(saved: Iterable[StoredObject]) -> Iterator[Mark]:
    """Yield a mark for each minute in which objects named as checkpoints were written."""
    by_minute: dict[datetime, str] = {}
    for stored in saved:
        if stored.updated and _CHECKPOINT.search(stored.at.name):
            by_minute.setdefault(stored.updated.replace(second=0, microsecond=0), stored.at.name)
    for minute, name in sorted(by_minute.items()):
        yield Mark(time=minute, what="checkpoint", text=name)


def _use(row: UtilizationRow) -> Use:
    step = max(1, math.ceil(len(row.points) / _POINTS))
    return Use(
        who=row.role,
        what=row.what,
        mean=round(row.mean, 3),
        max=round(row.max, 3),
        points=tuple((point.at.replace(microsecond=0), round(point.value, 3)) for point in row.points[::step]),
    )


def _lines(context: Context, job: VertexJob) -> tuple[tuple[str, ...], str]:
    if not job.run_ids:
        return (), ""
    try:
        logging = context.brief.logging(context.catalog.project)
        entries = newest(logging, job_filter(job.run_ids), _LINES)
    except CloudError as problem:
        return (), f"log: {problem.brief}"
    return tuple(text for entry in entries for text in line(entry, job).splitlines())[-_LINES:], ""


def _checkpoints(context: Context, job: VertexJob) -> tuple[tuple[StoredObject, ...], str]:
    if not job.output:
        return (), ""
    try:
        under = Location.parse(f"{job.output.rstrip('/')}/")
        return tuple(islice(context.brief.storage.objects(under), _OBJECTS)), ""
    except ConfigError as problem:
        return (), f"checkpoints: {problem.what}"
    except CloudError as problem:
        return (), f"checkpoints: {problem.brief}"
