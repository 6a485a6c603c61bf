"""Log entries in a database of their own: appended by jobs, read by job and time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .store import Store

_TASK = "json_extract(body, '$.resource.labels.task_name')"
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,
        job TEXT NOT NULL, log TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS entries_by_job ON entries (job, timestamp, seq)",
    f"CREATE INDEX IF NOT EXISTS entries_by_task ON entries (job, {_TASK}, timestamp, seq)",
    "CREATE INDEX IF NOT EXISTS entries_by_time ON entries (timestamp, seq)",
)
_BATCH = 500


@dataclass(frozen=True)
class Window:
    """The bounds of a query: a job and its writer ("" for all), and inclusive times."""

    job: str = ""
    since: str = ""
    until: str = "9"
    task: str = ""

    def within(self, other: "Window") -> "Window":
        """Return the bounds that both windows have in common."""
        since, until = max(self.since, other.since), min(self.until, other.until)
        return Window(other.job or self.job, since, until, other.task or self.task)


class Logs:
    """The entries as `LogEntry` objects whose `timestamp` is the service's fixed-width form (it sorts as text)."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path)
        for statement in _SCHEMA:
            self._store.execute(statement)
        self.close = self._store.close

    def append(self, entries: Iterable[dict[str, Any]], keep: int) -> None:
        """Add all or none, and remove the oldest beyond `keep`. Raises sqlite3.OperationalError on a full disk."""
        rows = [
            (
                entry["timestamp"],
                entry.get("resource", {}).get("labels", {}).get("job_id", ""),
                entry["logName"],
                json.dumps(entry, ensure_ascii=False, separators=(",", ":")),
            )
            for entry in entries
        ]
        with self._store.transaction():
            for row in rows:
                self._store.execute("INSERT INTO entries (timestamp, job, log, body) VALUES (?, ?, ?, ?)", row)
            self._store.execute("DELETE FROM entries WHERE seq <= (SELECT max(seq) FROM entries) - ?", (keep,))

    def read(
        self, window: Window, after: tuple[str, int] | None, descending: bool
    ) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
        """Return the entries of a window by time, after the position `after`, each with its own position."""
        while True:
            rows = self._batch(window, after, descending)
            for timestamp, seq, body in rows:
                after = (timestamp, seq)
                yield after, json.loads(body)
            if len(rows) < _BATCH:
                return

    def names(self) -> list[str]:
        """Return the names of all logs that have entries."""
        return [row[0] for row in self._store.execute("SELECT DISTINCT log FROM entries ORDER BY log")]

    def _batch(self, window: Window, after: tuple[str, int] | None, descending: bool) -> list[tuple[str, int, str]]:
        where, values = ["timestamp >= ?", "timestamp <= ?"], [window.since, window.until]
        if window.job:
            where.append("job = ?")
            values.append(window.job)
        if window.task:
            where.append(f"{_TASK} = ?")
            values.append(window.task)
        if after:
            where.append(f"(timestamp, seq) {'<' if descending else '>'} (?, ?)")
        order = "DESC" if descending else "ASC"
        statement = (
            f"SELECT timestamp, seq, body FROM entries WHERE {' AND '.join(where)} "
            f"ORDER BY timestamp {order}, seq {order} LIMIT {_BATCH}"
        )
        return self._store.execute(statement, (*values, *(after or ()))).fetchall()
