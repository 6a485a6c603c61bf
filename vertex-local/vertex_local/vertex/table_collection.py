"""The methods of resources in a table, which find, list and delete them."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from ..wire import Call, Reply, failed_precondition, invalid_argument, not_found
from ..world import World
from . import conditions, tables
from .collection import Collection, Kind
from .conditions import Field
from .field_errors import Mistake, field_errors
from .tables import Entry, ResourceTable


class Kept(Protocol):
    """A resource in a table; `over` means that nothing goes on with it."""

    @property
    def body(self) -> Mapping[str, Any]: ...

    @property
    def over(self) -> bool: ...


K = TypeVar("K", bound=Kept)


class TableCollection(Collection, Generic[K]):
    """The methods of resources in the table with the name `table`; their ids are numbers.

    `fields` are those that lists can be filtered by. Subclasses add create and cancel.
    """

    def __init__(self, world: World, kind: Kind, table: str, fields: Mapping[str, Field]) -> None:
        super().__init__(world, kind)
        self._table, self._fields = table, fields

    def look(self, name: str) -> K | None:
        """Return the resource with this full name, if any."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Forget a resource that is over. Within a transaction."""
        raise NotImplementedError

    def cancelled(self, call: Call, end: Callable[[K], None]) -> Reply:
        """End the resource of a path that is not over, within a transaction."""
        self.enter(call, "cancel")
        call.nothing()
        with self.world.store.transaction():
            found = self.find(call)
            if found.over:
                raise failed_precondition(f"{self._state(found)} and cannot be cancelled.")
            end(found)
        self.world.changed.set()
        return Reply(body={})

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        return self.shown(call, self.find(call).body)

    def list(self, call: Call) -> Reply:
        location = self.enter(call, "list")
        condition = conditions.condition(call.query.get("filter", ""), self._fields, self.fields(call))
        since = self.hidden_since(call)
        condition = condition.older_than(since) if since else condition
        order, descending = _order(call.query.get("orderBy", ""))
        return self.listed(
            call,
            lambda after, size: tables.page(
                self.world.store, self._table, location, condition, after, size, order=order, descending=descending
            ),
        )

    def delete(self, call: Call) -> Reply:
        """Delete a resource that is over, by an operation that is done at once."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            found = self.find(call)
            if not found.over:
                raise failed_precondition(f"{self._state(found)}; only one that has ended can be deleted.")
            self.remove(found.body["name"])
            return self.done(call, found.body["name"])

    def find(self, call: Call) -> K:
        """Return the resource of a path. Raises 400 for an invalid id, and 404."""
        if not call.params[self.kind.one].isdigit():
            raise field_errors([Mistake("name", f"Invalid {self.kind.message} resource name.")])
        found = self.look(self.named(call))
        if found is None:
            raise not_found(f"The {self.kind.message} does not exist.")
        return found

    def _state(self, found: Kept) -> str:
        return f"The {self.kind.message} {found.body['name']} is in state {found.body['state']}"


class Entries(TableCollection[Entry]):
    """The methods of resources that a `ResourceTable` keeps."""

    def __init__(self, world: World, table: ResourceTable) -> None:
        super().__init__(world, table.kind, table.table, table.fields)
        self.entries = table
        table.open_table(world.store)

    def look(self, name: str) -> Entry | None:
        return self.entries.get(self.world.store, name)

    def remove(self, name: str) -> None:
        self.entries.remove(self.world.store, name)


def _order(text: str) -> tuple[str, bool]:
    """Return the column and whether it descends; the newest first when nothing is asked."""
    if not text.strip():
        return "create_time", True
    name, _, direction = text.strip().partition(" ")
    column = {"createTime": "create_time", "displayName": "display_name"}.get(name, name)
    if column not in tables.ORDERS or direction.strip().lower() not in ("", "asc", "desc"):
        raise invalid_argument(f"Invalid order by: {text}; known are {', '.join(tables.ORDERS)}.")
    return column, direction.strip().lower() == "desc"
