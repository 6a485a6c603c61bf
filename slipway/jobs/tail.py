"""The log of a job, read as it grows: each line once, late ones too, at a pace the service permits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.cloud.failures import Exhausted
from slipway.cloud.logging import LogEntry, Logging
from slipway.cloud.resources import CustomJob
from slipway.labels import ROLES_LABEL, roles_of

_OVERLAP = timedelta(seconds=20)
"""Entries arrive out of order: this many seconds are read again, and lines that were seen are left out."""

TRIAL_LABEL = "ml.googleapis.com/trial_id"


@dataclass(frozen=True)
class LogPolling:
    """Seconds between queries. A project has 60 log queries a minute, which all its followers share."""

    first: float = 1.5
    steady: float = 3.0
    patient: float = 5.0
    longest: float = 30.0

    def interval(self, age: float, refusals: int) -> float:
        """`age`: seconds of following; `refusals`: rate limits met in a row."""
        base = self.first if age < 60 else self.steady if age < 600 else self.patient
        return min(self.longest, base * 2.0**refusals)


def job_filter(ids: tuple[str, ...], *, since: datetime | None = None, severity: str = "") -> str:
    """Cloud Logging's filter for the lines of a job, or of several, such as the trials of one."""
    wanted = " OR ".join(f'"{id_}"' for id_ in ids)
    parts = ['resource.type="ml_job"', f"resource.labels.job_id={wanted if len(ids) == 1 else f'({wanted})'}"]
    if since:
        parts.append(f'timestamp>="{since.isoformat()}"')
    if severity:
        parts.append(f"severity>={severity}")
    return " AND ".join(parts)


class Tail:
    """Gives each line once, none from before `begin`. Not to be shared by threads."""

    def __init__(
        self, logging: Logging, ids: tuple[str, ...], *, severity: str = "", begin: datetime | None = None
    ) -> None:
        self._begin = begin
        self._logging, self._ids, self._severity = logging, ids, severity
        self._newest: datetime | None = None
        self._seen: dict[tuple[str, str, str], datetime | None] = {}
        self.refusals = 0

    def read_of(self, ids: tuple[str, ...]) -> None:
        """From now on the lines of these jobs: a tuning job's trials come one after the other."""
        self._ids = ids

    def more(self) -> Iterator[LogEntry]:
        """The lines that came since the last call. A rate limit gives none and counts in `refusals`."""
        if not self._ids:
            return
        since = self._newest - _OVERLAP if self._newest else self._begin
        if since and self._begin:
            since = max(since, self._begin)
        query, token = job_filter(self._ids, since=since, severity=self._severity), ""
        while True:
            try:
                page = self._logging.entries(query, token=token)
            except Exhausted:
                self.refusals += 1
                return
            self.refusals = 0
            for entry in page.entries:
                key = (entry.insert_id or entry.stamp, entry.log, "" if entry.insert_id else entry.text)
                if key in self._seen:
                    continue
                self._seen[key] = entry.timestamp
                if entry.timestamp and (self._newest is None or entry.timestamp > self._newest):
                    self._newest = entry.timestamp
                yield entry
            token = page.next_token
            if not token:
                self._forget()
                return

    def _forget(self) -> None:
        """Keeps only what the next query can return again."""
        if self._newest:
            edge = self._newest - _OVERLAP
            self._seen = {key: when for key, when in self._seen.items() if when is None or when >= edge}


def newest(logging: Logging, query: str, count: int) -> list[LogEntry]:
    """The last `count` lines, oldest first."""
    found: list[LogEntry] = []
    token = ""
    while len(found) < count:
        page = logging.entries(query, token=token, page_size=min(1000, count - len(found)), newest_first=True)
        found += page.entries
        token = page.next_token
        if not token:
            break
    return found[::-1]


def prefix(entry: LogEntry, roles: tuple[str, ...], replicas: tuple[int, ...]) -> str:
    """Who wrote a line: `scheduler`, `workers-1`; the service's own lines have the log's name. A trial's number
    comes before it: `3/trial`."""
    trial = entry.labels.get(TRIAL_LABEL, "")
    who = who_of(entry.task, roles, replicas)
    return f"{trial}/{who}" if trial else who


def of_role(who: str, role: str) -> bool:
    """Whether a prefix is that of a role: its only replica's, one of many, or a trial's."""
    alone = who.rpartition("/")[2]
    return role in (who, alone, alone.rpartition("-")[0])


def who_of(task: str, roles: tuple[str, ...], replicas: tuple[int, ...]) -> str:
    """`workerpool1-0` as `workers-0`, or `workers` where there is one alone; other names as they are."""
    pool, dash, index = task.removeprefix("workerpool").partition("-")
    if not dash or not pool.isdigit() or not task.startswith("workerpool"):
        return task
    position = int(pool)
    if position >= len(roles):
        return task
    alone = position < len(replicas) and replicas[position] == 1
    return roles[position] if alone else f"{roles[position]}-{index}"


def roles(job: CustomJob) -> tuple[str, ...]:
    """The roles of a job's worker pools, from its label."""
    return roles_of(job.labels.get(ROLES_LABEL, ""))


def role_at(job: CustomJob, index: int) -> str:
    named = roles(job)
    return named[index] if index < len(named) else f"workerpool{index}"


def line(entry: LogEntry, job: CustomJob) -> str:
    """`workers-1  epoch 3`"""
    replicas = tuple(pool.replicas for pool in job.worker_pools)
    text = entry.text.rstrip("\n")
    who = prefix(entry, roles(job), replicas)
    return "\n".join(f"{who}  {one}" for one in text.split("\n")) if who else text
