"""Resources that end: custom jobs and, kept by the repository, those that the cloud itself goes on with until then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .. import document_filters, documents
from ..documents import Body, Pages
from ..repository import Repository
from ..store import Store
from ..wire import Call, Reply, failed_precondition, not_found
from ..world import World
from .collection import Collection, Kind
from .field_errors import Mistake, field_errors


class Kept(Protocol):
    """A resource with its body for people (canonical JSON); `over` means that nothing goes on with it."""

    @property
    def body(self) -> Mapping[str, Any]: ...

    @property
    def over(self) -> bool: ...


K = TypeVar("K", bound=Kept)


class Resources(Collection, Generic[K]):
    """The methods of resources that end; their ids are numbers. Subclasses add create and cancel."""

    def look(self, name: str) -> K | None:
        """Return the resource with this full name, if any."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Forget a resource that is over. Within a transaction."""
        raise NotImplementedError

    def pages(self, call: Call) -> Pages[Body]:
        """Return the pages of the bodies that a call asks for, the newest first. Raises 400."""
        raise NotImplementedError

    def cancelled(self, call: Call, end: Callable[[K], None]) -> Reply:
        """End the resource of a path that is not over, within a transaction."""
        self.enter(call, "cancel")
        call.nothing()
        with self.world.store.transaction():
            record = self.find(call)
            self.check_alive(record)
            end(record)
        self.world.changed.set()
        return Reply(body={})

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        return self.shown(call, self.find(call).body)

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        return self.listed(call, self.pages(call))

    def delete(self, call: Call) -> Reply:
        """Delete a resource that is over, by an operation that is done at once."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            record = self.find(call)
            self.check_over(record)
            self.remove(record.body["name"])
            return self.done(call, record.body["name"])

    def find(self, call: Call) -> K:
        """Return the resource of a path. Raises 400 for an invalid id, and 404."""
        if not call.params[self.kind.one].isdigit():
            raise field_errors([Mistake("name", f"Invalid {self.kind.message} resource name.")])
        record = self.look(self.named(call))
        if record is None:
            raise not_found(f"The {self.kind.message} does not exist.")
        return record

    def check_alive(self, record: Kept) -> None:
        if record.over:
            raise failed_precondition(f"{self._state(record)} and cannot be cancelled.")

    def check_over(self, record: Kept) -> None:
        if not record.over:
            raise failed_precondition(f"{self._state(record)}; only one that has ended can be deleted.")

    def _state(self, record: Kept) -> str:
        return f"The {self.kind.message} {record.body['name']} is in state {record.body['state']}"


@dataclass(frozen=True)
class Followed(Repository[K]):
    """The records that the cloud goes on with; those `alive` are listed by name too, for a quick look."""

    def put(self, store: Store, record: K) -> None:
        with store.transaction():
            super().put(store, record)
            if record.over:
                store.delete(self._alive, self.key(record))
            else:
                store.put(self._alive, self.key(record), {})

    def alive(self, store: Store) -> list[K]:
        """Return the records that are not over, oldest first."""
        records = (self.get(store, name) for name, _ in store.list(self._alive))
        return [record for record in records if record is not None]

    @property
    def _alive(self) -> str:
        return f"{self.kind}.alive"


class FollowedResources(Resources[K]):
    """The methods of resources that the repository keeps."""

    def __init__(self, world: World, kind: Kind, records: Followed[K]) -> None:
        super().__init__(world, kind)
        self._records = records

    def look(self, name: str) -> K | None:
        return self._records.get(self.world.store, name)

    def remove(self, name: str) -> None:
        self._records.remove(self.world.store, name)

    def pages(self, call: Call) -> Pages[Body]:
        test = document_filters.parsed(call.query.get("filter", ""), self.fields(call))
        since = self.hidden_since(call) or "9"
        bodies = (
            dict(record.body) for record in self._records.every(self.world.store, self.name(self.parent(call), ""))
        )
        kept = [body for body in bodies if test(self.filtered(body)) and body["createTime"] < since]
        if call.query.get("orderBy"):
            return documents.sliced(self.in_order(call, reversed(kept)))
        return documents.sliced(kept, newest_first=True)

    def filtered(self, body: Body) -> Body:
        """Return a body with what filters may name beside its fields."""
        return body
