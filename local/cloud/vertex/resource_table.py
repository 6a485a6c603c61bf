"""A kind of resource with a table of its own, indexed for lists: tuning jobs, pipelines, models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.cloud.store import Store
from local.cloud.vertex import job_filter
from local.cloud.vertex.job_filter import Field
from local.cloud.vertex.names import id_of, location_name, location_of

_COLUMNS = "number, name, id, region, cluster, state, display_name, create_time, body, work"


@dataclass(frozen=True)
class Entry:
    """What people see (canonical JSON) and, while it is not over, what the cloud works from."""

    number: int
    body: Mapping[str, Any]
    work: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def region(self) -> str:
        return location_of(self.name)


@dataclass(frozen=True)
class ResourceTable:
    """`name` is its segment in paths, `kind` its message, `title` what errors call one; ids count on from `first`.

    `fields` are those that its lists can be filtered by.
    """

    name: str
    kind: str
    table: str
    first: int
    fields: Mapping[str, Field] = field(default_factory=lambda: job_filter.FIELDS, hash=False)

    def open_table(self, store: Store) -> None:
        """Make the table where it is missing."""
        with store.transaction():
            store.execute(
                f"CREATE TABLE IF NOT EXISTS {self.table} (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
                "id TEXT NOT NULL, region TEXT NOT NULL, cluster TEXT, state TEXT NOT NULL, display_name TEXT NOT NULL,"
                " create_time TEXT NOT NULL, body TEXT NOT NULL, work TEXT)"
            )
            store.execute(f"CREATE INDEX IF NOT EXISTS {self.table}_by_age ON {self.table} (region, number)")
            store.execute(
                f"CREATE INDEX IF NOT EXISTS {self.table}_alive ON {self.table} (number) WHERE work IS NOT NULL"
            )

    def new_name(self, store: Store, location: str) -> tuple[int, str]:
        """The number of a new resource, and its full name."""
        number = store.next_id(self.table)
        return number, self.full_name(location, str(self.first + number))

    def full_name(self, location: str, resource_id: str) -> str:
        return f"{location_name(location)}/{self.name}/{resource_id}"

    def put(self, store: Store, entry: Entry, cluster: str | None = None) -> None:
        """Write a resource, new or changed. `cluster` is the id of the persistent resource it uses."""
        body, work = (
            None if item is None else json.dumps(item, separators=(",", ":")) for item in (entry.body, entry.work)
        )
        values = (entry.number, entry.name, id_of(entry.name), entry.region, cluster)
        shown = (entry.body.get("state", ""), entry.body["displayName"], entry.body["createTime"])
        with store.transaction():
            store.execute(
                f"INSERT INTO {self.table} ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (number) DO UPDATE SET state = excluded.state, display_name = excluded.display_name, "
                "body = excluded.body, work = excluded.work",
                (*values, *shown, body, work),
            )

    def get(self, store: Store, name: str) -> Entry | None:
        row = store.execute(f"SELECT number, body, work FROM {self.table} WHERE name = ?", (name,)).fetchone()
        return None if row is None else _entry(row)

    def remove(self, store: Store, name: str) -> None:
        with store.transaction():
            store.execute(f"DELETE FROM {self.table} WHERE name = ?", (name,))

    def alive(self, store: Store) -> list[Entry]:
        """Those that are not over, oldest first."""
        rows = store.execute(f"SELECT number, body, work FROM {self.table} WHERE work IS NOT NULL ORDER BY number")
        return [_entry(row) for row in rows]


def _entry(row: tuple[int, str, str | None]) -> Entry:
    number, body, work = row
    return Entry(number, json.loads(body), None if work is None else json.loads(work))
