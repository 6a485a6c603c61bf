"""Cloud Logging: the lines of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from slipway.google.answers import Json, parse_timestamp, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call
from slipway.google.session import Session


@dataclass(frozen=True)
class LogEntry:
    timestamp: datetime | None
    #: The timestamp as the service wrote it.
    stamp: str
    severity: str
    log: str
    #: The line's writer: `workerpool0-0`.
    task: str
    text: str
    #: Tells copies of a line from each other.
    insert_id: str
    labels: Mapping[str, str]
    job: str = ""

    @classmethod
    def read(cls, body: Json) -> LogEntry:
        payload = body.get("jsonPayload", {})
        writer = body.get("resource", {}).get("labels", {})
        log = body.get("logName", "").rsplit("/", 1)[-1]
        text = body.get("textPayload") or payload.get("message") or payload.get("msg") or ""
        return cls(
            timestamp=parse_timestamp(body.get("timestamp")),
            stamp=body.get("timestamp", ""),
            severity=body.get("severity", "DEFAULT"),
            log=log,
            task=writer.get("task_name") or log,
            text=str(text),
            insert_id=body.get("insertId", ""),
            labels=dict(body.get("labels", {})),
            job=str(writer.get("job_id", "")),
        )


class Logging:
    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session, self._project = session, project
        self._url = f"{endpoints.of('logging')}entries:list"

    def entries(self, filter: str, *, page_size: int = 1000, newest_first: bool = False) -> Iterator[LogEntry]:
        """Yield entries, oldest first unless asked otherwise.

        Pages are read on demand: each costs one of the project's 60 log queries a minute.
        """
        call = Call(f"read the logs of {self._project}", "logging.logEntries.list", f"project {self._project}")
        body = {
            "resourceNames": [f"projects/{self._project}"],
            "filter": filter,
            "orderBy": "timestamp desc" if newest_first else "timestamp asc",
            "pageSize": page_size,
        }
        for entry in self._session.pages(self._url, call, "entries", body=body):
            yield shaped(call, LogEntry.read, entry)
