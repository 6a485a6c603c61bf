"""The life of one job: its phases, its events, its utilization, and its last lines."""

from __future__ import annotations

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
from slipway.using.context import Context
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.idle import idle_accelerators, idle_words
from slipway.using.jobs.log import JobEvent, JobEvents, job_filter, line, newest, read_events
from slipway.using.jobs.utilization import Utilization, UtilizationRow, read_utilization

_LINES, _POINTS, _SERIES, _MARKS, _OBJECTS = 20, 120, 24, 60, 2000
_CHECKPOINT = re.compile(r"checkpoint|ckpt", re.IGNORECASE)


@dataclass(frozen=True)
class Phase:
    """A phase. `what`: waiting, running or preempted."""

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
    """A metric of a replica or accelerator: points are times with shares from 0 to 1."""

    who: str
    what: str
    mean: float
    max: float
    points: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True)
class Life:
    """A job's life. `idle`: the idle time of its accelerators, and its cost, as text. `cause`: of its failure, in a
    line. `why`: the parts that could not be read."""

    id: str
    name: str
    phases: tuple[Phase, ...]
    marks: tuple[Mark, ...]
    use: tuple[Use, ...]
    lines: tuple[str, ...]
    idle: str = ""
    cause: str = ""
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
        (said, why_lines), (found, why_saved) = log.result() if log else ((), ""), saved.result()
        return life_of(job, events.result(), use.result(), said, found, context.now, (why_lines, why_saved))


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
    marks = [Mark(one.at, one.kind, one.text) for one in events.all if one.at and one.kind != "running"]
    marks += checkpoints(saved)
    idle = idle_accelerators(use, job, job_cost(job, job.region, now, events))
    unread = (f"events: {events.why}" if events.why else "", f"use: {use.why}" if use.why else "", *why)
    return Life(
        id=job.id,
        name=job.called,
        phases=tuple(phases(job, events.all, now)),
        marks=tuple(sorted(marks, key=lambda one: one.time)[-_MARKS:]),
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
    yield Phase("waiting", job.create_time, job.start_time or end)
    begin, lost = job.start_time, False
    for event in sorted((one for one in events if one.at), key=lambda one: one.at or now):
        if begin is None or event.at is None or event.trial or event.at <= begin:
            continue
        if event.kind == "preemption" and not lost:
            yield Phase("running", begin, event.at)
            begin, lost = event.at, True
        elif event.kind == "running" and lost:
            yield Phase("preempted", begin, event.at)
            begin, lost = event.at, False
    if begin:
        yield Phase("preempted" if lost else "running", begin, end)


def checkpoints(saved: Iterable[StoredObject]) -> Iterator[Mark]:
    """Yield a mark for each minute in which objects named as checkpoints were written."""
    found: dict[datetime, str] = {}
    for one in saved:
        if one.updated and _CHECKPOINT.search(one.at.name):
            found.setdefault(one.updated.replace(second=0, microsecond=0), one.at.name)
    for minute, name in sorted(found.items()):
        yield Mark(minute, "checkpoint", name)


def _use(row: UtilizationRow) -> Use:
    step = max(1, -(-len(row.points) // _POINTS))
    points = tuple((one.at.replace(microsecond=0), round(one.value, 3)) for one in row.points[::step])
    return Use(row.role, row.what, round(row.mean, 3), round(row.max, 3), points)


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
