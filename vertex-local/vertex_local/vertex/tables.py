"""Tables of resources, indexed for lists: tuning jobs, pipelines, models.

The columns for lists are name, region, number (by age), display_name, state, create_time and body.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..documents import Body
from ..identities import Project
from ..store import Store
from . import conditions
from .collection import Kind
from .conditions import Condition, Field
from .names import id_of, location_name, location_of

ORDERS = {"create_time": "number", "display_name": "display_name", "state": "state"}
_COLUMNS = "number, name, id, region, cluster, state, display_name, create_time, body, work"


@dataclass(frozen=True)
class Entry:
    """A resource: its body for people (canonical JSON) and, while it is not over, the cloud's own working state."""

    number: int
    body: Mapping[str, Any]
    work: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def region(self) -> str:
        return location_of(self.name)

    @property
    def over(self) -> bool:
        return self.work is None


@dataclass(frozen=True)
class ResourceTable:
    """The table of a kind: tuning jobs, pipelines, models. Ids count on from `first`.

    `fields` are those that lists can be filtered by.
    """

    kind: Kind
    table: str
    first: int
    fields: Mapping[str, Field] = field(default_factory=lambda: conditions.FIELDS, hash=False)

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

    def new_name(self, store: Store, project: Project, location: str) -> tuple[int, str]:
        """Return the number of a new resource, and its full name."""
        number = store.next_id(self.table)
        return number, self.full_name(project, location, str(self.first + number))

    def full_name(self, project: Project, location: str, resource_id: str) -> str:
        return f"{location_name(project, location)}{self.kind.path}/{resource_id}"

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
        """Return the resources that are not over, oldest first."""
        rows = store.execute(f"SELECT number, body, work FROM {self.table} WHERE work IS NOT NULL ORDER BY number")
        return [_entry(row) for row in rows]


def page(
    store: Store, table: str, region: str, condition: Condition, after: str, size: int, *, order: str, descending: bool
) -> tuple[list[Body], str]:
    """Return up to `size` bodies and where the next page starts ("" at the end). `order` is a key of ORDERS.

    By age, the cost is that of the page, whatever there is before it. Raises ValueError for a foreign `after`.
    """
    column, direction = ORDERS[order], "DESC" if descending else "ASC"
    start, values = "1", list(condition.values)
    if after:
        key, _, number = after.rpartition("|")
        comes = "<" if descending else ">"
        if column == "number":
            start, values = f"number {comes} ?", [*values, int(number)]
        else:
            start, values = f"({column}, number) {comes} (?, ?)", [*values, key, int(number)]
    rows = store.execute(
        f"SELECT body, number, {column} FROM {table} WHERE region = ? AND ({condition.sql}) AND {start} "
        f"ORDER BY {column} {direction}, number {direction} LIMIT ?",
        (region, *values, size + 1),
    ).fetchall()
    more = f"{rows[size - 1][2]}|{rows[size - 1][1]}" if len(rows) > size else ""
    return [json.loads(body) for body, _, _ in rows[:size]], more


def _entry(row: tuple[int, str, str | None]) -> Entry:
    number, body, work = row
    return Entry(number, json.loads(body), None if work is None else json.loads(work))
