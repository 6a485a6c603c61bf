"""Documents in SQLite: named JSON objects by kind, with transactions that a kill can't cut in half."""

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (kind, name));
CREATE INDEX IF NOT EXISTS documents_by_creation ON documents (kind, seq);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""
_PUT = (
    "INSERT INTO documents (kind, name, body) VALUES (?, ?, ?) "
    "ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body"
)
_TOP = "\U0010ffff"
_FORMAT = 1
"""The form of all records: raised with each change after which those of before can't be read."""

Documents = list[tuple[str, dict[str, Any]]]
"""Names and bodies."""

Texts = list[tuple[str, str]]
"""Names and bodies in JSON."""


class _Connection(sqlite3.Connection):
    """A connection that takes weak references, unlike the library's, so that it goes when its thread goes."""


class Store:
    """The documents in one database file, for any number of threads. A replaced document keeps its place in creation
    order.

    Readers see the last commit (and the writes of their own thread's transaction). A full disk raises
    `sqlite3.OperationalError` and leaves the last committed state.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._writer = threading.RLock()
        self._registry = threading.Lock()
        self._open: weakref.WeakSet[_Connection] = weakref.WeakSet()
        new = not path.exists() or not path.stat().st_size
        path.touch(mode=0o600, exist_ok=True)
        connection = self._connection()
        if new:
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            raise OSError(f"{path.parent} was left by another version of the local cloud: remove it, or use that one")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the one writer's transaction, re-entrant in a thread: committed at its end, else rolled back."""
        with self._writer:
            depth = getattr(self._local, "depth", 0)
            if depth:
                yield
                return
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            self._local.depth = 1
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._local.depth = 0

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        row = self._connection().execute("SELECT body FROM documents WHERE kind = ? AND name = ?", (kind, name))
        value = row.fetchone()
        return None if value is None else _object(value[0])

    def put(self, kind: str, name: str, body: dict[str, Any]) -> None:
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        with self.transaction():
            self._connection().execute(_PUT, (kind, name, text))

    def delete(self, kind: str, name: str) -> bool:
        """Delete a document and return whether it existed."""
        with self.transaction():
            done = self._connection().execute("DELETE FROM documents WHERE kind = ? AND name = ?", (kind, name))
            return done.rowcount > 0

    def list(self, kind: str, prefix: str = "") -> Documents:
        """Return all documents of a kind whose names start with `prefix`, oldest first."""
        return [(name, _object(text)) for name, text in self.texts(kind, prefix)]

    def texts(self, kind: str, prefix: str = "") -> Texts:
        """Return the same, with bodies as stored JSON, for callers that know a text from an earlier look."""
        rows: sqlite3.Cursor = self._connection().execute(
            "SELECT name, body FROM documents WHERE kind = ? AND name >= ? AND name < ? ORDER BY seq",
            (kind, prefix, prefix + _TOP),
        )
        return rows.fetchall()

    def scan(self, kind: str, start: str, stop: str, size: int, *, inclusive: bool = True) -> Documents:
        """Return up to `size` documents by name, from `start` (or after it) up to and without `stop`."""
        comes = ">=" if inclusive else ">"
        rows = self._connection().execute(
            f"SELECT name, body FROM documents WHERE kind = ? AND name {comes} ? AND name < ? ORDER BY name LIMIT ?",
            (kind, start, stop, size),
        )
        return [(name, _object(body)) for name, body in rows]

    def count(self, kind: str, prefix: str = "") -> int:
        row = self._connection().execute(
            "SELECT count(*) FROM documents WHERE kind = ? AND name >= ? AND name < ?", (kind, prefix, prefix + _TOP)
        )
        return int(row.fetchone()[0])

    def execute(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a statement on a service's own tables, within this thread's transaction; writes need one."""
        return self._connection().execute(sql, values)

    def next_id(self, counter: str) -> int:
        """Return the next number of a counter that starts at 1 and survives restarts."""
        with self.transaction():
            row = self._connection().execute(
                "INSERT INTO counters (name, value) VALUES (?, 1) "
                "ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
                (counter,),
            )
            return int(row.fetchone()[0])

    def close(self) -> None:
        """Close every thread's connection; the store is of no use afterwards."""
        with self._writer, self._registry:
            for connection in list(self._open):
                connection.close()
            self._open.clear()

    def _connection(self) -> _Connection:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                self._path, timeout=30, isolation_level=None, check_same_thread=False, factory=_Connection
            )
            connection.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = connection
            with self._registry:
                self._open.add(connection)
        return connection


def _object(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    return body
