"""Log entries in a database of their own: appended by jobs, read by job and time."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TASK = "json_extract(body, '$.resource.labels.task_name')"
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, job TEXT NOT NULL, log TEXT NOT NULL,
    body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_job ON entries (job, timestamp, seq);
CREATE INDEX IF NOT EXISTS entries_by_task ON entries (job, {_TASK}, timestamp, seq);
CREATE INDEX IF NOT EXISTS entries_by_time ON entries (timestamp, seq);
"""
_BATCH = 500


@dataclass(frozen=True)
class Window:
    """The bounds of a query: a job and its writer ("" for all), and times from `since` to `until` (timestamps,
    inclusive)."""

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
        self._lock = threading.Lock()
        path.touch(mode=0o600, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_SCHEMA)

    def append(self, entries: Iterable[dict[str, Any]], keep: int) -> None:
        """Add all entries or none, and remove the oldest beyond `keep`. Raises sqlite3.OperationalError on a full
        disk."""
        rows = [
            (
                entry["timestamp"],
                entry.get("resource", {}).get("labels", {}).get("job_id", ""),
                entry["logName"],
                json.dumps(entry, ensure_ascii=False, separators=(",", ":")),
            )
            for entry in entries
        ]
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "INSERT INTO entries (timestamp, job, log, body) VALUES (?, ?, ?, ?)", rows
                )
                self._connection.execute("DELETE FROM entries WHERE seq <= (SELECT max(seq) FROM entries) - ?", (keep,))
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

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
        with self._lock:
            return [row[0] for row in self._connection.execute("SELECT DISTINCT log FROM entries ORDER BY log")]

    def close(self) -> None:
        with self._lock:
            self._connection.close()

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
        with self._lock:
            return self._connection.execute(statement, (*values, *(after or ()))).fetchall()
