"""A job's log, read as it grows: each line once, at a pace that the service permits. And the job's events by the
service's own lines (preemptions, restarts, stock-outs), in the service's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import nlargest
from itertools import islice
from typing import Annotated, Literal

from slipway.base.codec import At, MaybeText
from slipway.google.failures import CloudError, Exhausted
from slipway.google.jobs import NO_MACHINES, VertexJob
from slipway.google.logging import LogEntry, Logging
from slipway.google.session import HttpPolicy
from slipway.using.jobs.roles import REPLICA, SERVICE, TRIAL_LABEL, prefix, task_filter, who_of
from slipway.using.jobs.severity import is_at_least

_OVERLAP, _AGAIN = timedelta(seconds=20), 1000
"""The time that each query reads again, as entries arrive out of order, and the most lines; those read before are left
out."""

EventKind = Literal["preemption", "restart", "running", "stock-out"]

PAGES_A_MINUTE, PAGE = 60, 1000
"""A project's log queries a minute, which all its readers share, and the lines of one query."""
WHOLE_LOG = HttpPolicy(attempts=9, whole=float("inf"), most=1 << 50)
"""The policy for a whole log, however long: it bears with a minute's limit."""

_MOST_IDS, _MOST_LINES = 700, 10 * PAGE
"""The limits of a query for many jobs: Cloud Logging takes filters of 20,000 characters, and counts each page."""
_KINDS: tuple[tuple[EventKind, re.Pattern[str]], ...] = (
    # A restart's line may name the preemption that caused it, and either may name a lack of machines. A total is not an
    # event.
    ("restart", re.compile(r"\b(restarting|retrying|being restarted|was restarted(?! \d+ times))\b", re.IGNORECASE)),
    ("preemption", re.compile(r"\bpreempt(ed|ion)\b(?!.*\brestarted \d+ times)", re.IGNORECASE)),
    ("stock-out", NO_MACHINES),
    ("running", re.compile(r"\bjob is running\b", re.IGNORECASE)),  # The service's line at each start.
)


def log_pause(age: float, refusals: int, pages: int = 1) -> float:
    """Return the seconds until the next query, by the seconds of following, the rate limits met in a row, and the pages
    of the last query: each counts, and of a burst some may."""
    usual = 1.5 if age < 60 else 3.0 if age < 600 else 5.0
    return min(30.0, max(usual, min(5.0, pages * 60.0 / PAGES_A_MINUTE)) * 2.0**refusals)


def job_filter(ids: tuple[str, ...], *, since: datetime | None = None, severity: str = "", only: str = "") -> str:
    """Return Cloud Logging's filter for the lines of a job, or of several, such as one job's trials. `only`: a further
    condition on a line, such as its role (`slipway.using.jobs.roles.role_filter`)."""
    wanted = " OR ".join(f'"{id_}"' for id_ in ids)
    parts = ['resource.type="ml_job"', f"resource.labels.job_id={wanted if len(ids) == 1 else f'({wanted})'}"]
    if since:
        parts.append(f'timestamp>="{since.isoformat()}"')
    if severity:
        parts.append(f"severity>={severity}")
    if only:
        parts.append(only)
    return " AND ".join(parts)


@dataclass
class Tail:
    """A reader that returns each line of some jobs once. Not to be shared by threads."""

    logging: Logging
    ids: tuple[str, ...]
    severity: str = ""
    #: No line from before it is returned.
    begin: datetime | None = None
    #: A further condition on a line, as in `job_filter`.
    only: str = ""
    #: The rate limits met in a row.
    refusals: int = field(default=0, init=False)
    #: The pages of the last query.
    pages: int = field(default=1, init=False)
    _newest: datetime | None = field(default=None, init=False)
    _seen: dict[tuple[str, str, str], datetime | None] = field(default_factory=dict, init=False)

    def more(self) -> Iterator[LogEntry]:
        """Return the lines that came since the last call. A rate limit brings none and counts in `refusals`."""
        if not self.ids:
            return
        since = self._edge() if self._newest else self.begin
        if since and self.begin:
            since = max(since, self.begin)
        query = job_filter(self.ids, since=since, severity=self.severity, only=self.only)
        self.pages = 1
        try:
            for count, entry in enumerate(self.logging.entries(query, page_size=PAGE)):
                self.refusals, self.pages = 0, 1 + count // PAGE
                key = (entry.insert_id or entry.stamp, entry.log, "" if entry.insert_id else entry.text)
                if key in self._seen:
                    continue
                self._seen[key] = entry.timestamp
                if entry.timestamp and (self._newest is None or entry.timestamp > self._newest):
                    self._newest = entry.timestamp
                if is_at_least(entry, self.severity):
                    yield entry
        except Exhausted:
            self.refusals += 1
            return
        self.refusals = 0
        if self._newest:
            edge = self._edge()
            self._seen = {key: when for key, when in self._seen.items() if when is None or when >= edge}

    def _edge(self) -> datetime:
        """Return the time from which lines are read again: of a burst the last ones, as pages are few."""
        assert self._newest is not None
        times = nlargest(_AGAIN, filter(None, self._seen.values()))
        oldest = self._newest - _OVERLAP
        return max(oldest, times[-1]) if len(times) == _AGAIN else oldest


def newest(logging: Logging, query: str, count: int, severity: str = "", within: int | None = None) -> list[LogEntry]:
    """Return the last `count` lines that are at least as severe, oldest first; of those `within` the last ones."""
    pages = logging.entries(query, page_size=PAGE if severity else min(PAGE, count), newest_first=True)
    entries = islice(pages, within)
    return list(islice((entry for entry in entries if is_at_least(entry, severity)), count))[::-1]


def shown(text: str) -> str:
    """Return a line's text as a terminal would leave it: the last state of a progress bar that redraws itself."""
    return "\n".join(row.rstrip("\r").rpartition("\r")[2] for row in text.rstrip("\r\n").split("\n"))


def line(entry: LogEntry, job: VertexJob) -> str:
    """Return a line with its writer: `workers-1  epoch 3`"""
    text, who = shown(entry.text), prefix(entry, job)
    return "\n".join(f"{who}  {row}" for row in text.split("\n")) if who else text


@dataclass(frozen=True)
class JobEvent:
    """An event of a job."""

    kind: EventKind
    at: Annotated[datetime | None, At("time")]
    #: As the service names it (`workerpool0-0`), empty where the line names none.
    replica: MaybeText
    #: The replica as people name it, empty likewise.
    role: MaybeText
    trial: MaybeText
    text: str


@dataclass(frozen=True)
class JobEvents:
    """Events of a job, the oldest first."""

    all: tuple[JobEvent, ...] = ()
    why: str = ""
    more: bool = False

    def of(self, kind: EventKind) -> tuple[JobEvent, ...]:
        return tuple(event for event in self.all if event.kind == kind)


def event_kind(entry: LogEntry) -> EventKind | None:
    """Return the kind of event. Only the service's lines count, not a replica's."""
    return None if entry.task.startswith("workerpool") else kind_of_line(entry.text)


def kind_of_line(text: str) -> EventKind | None:
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), None)


def events_of(entries: Iterable[LogEntry], job: VertexJob) -> tuple[JobEvent, ...]:
    """Return the events in a job's lines. "Running" counts after another event of the same trial: it runs again."""
    events: list[JobEvent] = []
    stopped: set[str] = set()  # The trials that have not run since their last event.
    for entry in entries:
        kind, trial = event_kind(entry), entry.labels.get(TRIAL_LABEL, "")
        if not kind or (kind == "running" and trial not in stopped):
            continue
        if kind == "running":
            stopped.discard(trial)
        else:
            stopped.add(trial)
        named = REPLICA.search(entry.text)
        replica = named[0] if named else ""
        role = who_of(replica, job, "" if trial else entry.job) if replica else ""
        text = entry.text.strip()
        events.append(JobEvent(kind=kind, at=entry.timestamp, replica=replica, role=role, trial=trial, text=text))
    return tuple(events)


def read_events(logging: Logging, job: VertexJob) -> JobEvents:
    """Read a job's events. A failure to read is reported in the result, not raised."""
    return read_events_of_many(logging, [job]).get(job.name, JobEvents(more=True))


def read_events_of_many(logging: Logging, newest_first: Iterable[VertexJob]) -> Mapping[str, JobEvents]:
    """Read events by the jobs' names, with one query. Older jobs than it can name are left out. A failure to read is
    reported in the result, not raised."""
    ids: dict[str, str] = {}
    jobs: dict[str, VertexJob] = {}
    for job in newest_first:
        if len(ids) + len(job.log_ids) > _MOST_IDS:
            break
        ids |= dict.fromkeys(job.log_ids, job.name)
        jobs[job.name] = job
    if not ids:
        return dict.fromkeys(jobs, JobEvents())
    try:
        lines = list(islice(logging.entries(job_filter(tuple(ids), only=task_filter(SERVICE))), _MOST_LINES))
    except CloudError as problem:
        return dict.fromkeys(jobs, JobEvents(why=problem.brief))
    lines_of: dict[str, list[LogEntry]] = {name: [] for name in jobs}
    for entry in lines:
        if entry.job in ids:
            lines_of[ids[entry.job]].append(entry)
    more = len(lines) >= _MOST_LINES
    return {name: JobEvents(events_of(lines_of[name], job), more=more) for name, job in jobs.items()}


def last_word(logging: Logging, job: VertexJob) -> str:
    """Return the service's newest line about a job, unchanged; empty where there is none or it may not be read."""
    if not job.log_ids:
        return ""
    try:
        entries = newest(logging, job_filter(job.log_ids, only=task_filter(SERVICE)), 1)
    except CloudError:
        return ""
    return entries[-1].text.strip() if entries else ""
