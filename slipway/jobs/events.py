"""What happened to a job, by the service's own log lines: preemptions, restarts, stock-outs. They are shown in the
service's words; a line that says nothing of these is not an event."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from slipway.cloud.failures import CloudError, Denied
from slipway.cloud.logging import LogEntry, Logging
from slipway.cloud.resources import CustomJob
from slipway.jobs.tail import TRIAL_LABEL, job_filter, newest

Kind = Literal["preemption", "restart", "stock-out"]

_MOST = 500
_SERVICE = 'resource.labels.task_name="service"'
_REPLICA = re.compile(r"\bworkerpool\d+-\d+\b")
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    # A restart may name the preemption it comes from, and either a lack of machines. A total is not an event.
    ("restart", re.compile(r"\b(restarting|retrying|being restarted|was restarted(?! \d+ times))\b", re.IGNORECASE)),
    ("preemption", re.compile(r"\bpreempt(ed|ion)\b(?!.*\brestarted \d+ times)", re.IGNORECASE)),
    ("stock-out", re.compile(r"\bstock-?out\b|resources are insufficient", re.IGNORECASE)),
)


@dataclass(frozen=True)
class Event:
    """`replica` as the service names it (`workerpool0-0`), empty where its line names none; `trial` of a tuning
    job."""

    kind: Kind
    at: datetime | None
    replica: str
    trial: str
    text: str


@dataclass(frozen=True)
class Events:
    """The oldest first. `why` says why they are not known; `more`: there were more than were read."""

    all: tuple[Event, ...] = ()
    why: str = ""
    more: bool = False

    def of(self, kind: Kind) -> tuple[Event, ...]:
        return tuple(event for event in self.all if event.kind == kind)


def kind_of(entry: LogEntry) -> Kind | None:
    """What a line of the service tells; what a replica writes tells nothing of this."""
    if entry.task.startswith("workerpool"):
        return None
    return next((kind for kind, pattern in _KINDS if pattern.search(entry.text)), None)


def events_of(entries: Iterable[LogEntry]) -> tuple[Event, ...]:
    found = []
    for entry in entries:
        kind = kind_of(entry)
        if kind:
            replica = _REPLICA.search(entry.text)
            text, trial = entry.text.strip(), entry.labels.get(TRIAL_LABEL, "")
            found.append(Event(kind, entry.timestamp, replica[0] if replica else "", trial, text))
    return tuple(found)


def read_events(logging: Logging, job: CustomJob) -> Events:
    """Costs one of the project's log queries. What can't be read is reported in the result, not raised."""
    if not job.log_ids:
        return Events()
    try:
        entries = newest(logging, _of_service(job), _MOST)
    except Denied as problem:
        return Events(why=f"{problem.message} ({problem.fix})")
    except CloudError as problem:
        return Events(why=f"{problem.what}: {problem.message}")
    return Events(events_of(entries), more=len(entries) >= _MOST)


def last_word(logging: Logging, job: CustomJob) -> str:
    """The service's newest line about a job, unchanged; empty where there is none or it may not be read."""
    if not job.log_ids:
        return ""
    try:
        entries = newest(logging, _of_service(job), 1)
    except CloudError:
        return ""
    return entries[-1].text.strip() if entries else ""


def _of_service(job: CustomJob) -> str:
    return f"{job_filter(job.log_ids)} AND {_SERVICE}"
