"""Records in the store: frozen dataclasses, or bodies as an API has them, each a document of a kind under its name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from json import loads
from typing import Generic

from .records import R, document, read
from .store import Store
from .wire import not_found


@dataclass(frozen=True)
class Repository(Generic[R]):
    """The records of a kind."""

    kind: str
    record: type[R]
    #: Gives the name that a record is kept under.
    key: Callable[[R], str]

    def get(self, store: Store, name: str) -> R | None:
        text = store.get(self.kind, name)
        return None if text is None else read(self.record, text)

    def find(self, store: Store, name: str, lacking: str) -> R:
        """Return the record with this name. Raises 404 in these words."""
        record = self.get(store, name)
        if record is None:
            raise not_found(lacking)
        return record

    def put(self, store: Store, record: R) -> None:
        store.put(self.kind, self.key(record), document(record))

    def remove(self, store: Store, name: str) -> bool:
        """Remove the record and return whether it was there."""
        return store.delete(self.kind, name)

    def every(self, store: Store, prefix: str = "") -> list[R]:
        """Return all whose names start with `prefix`, oldest first."""
        parsed = loads if self.record is dict else partial(_again, self)  # Whoever gets a body may change it.
        return [parsed(text) for _, text in store.texts(self.kind, prefix)]


@lru_cache(1024)
def _again(repository: Repository[R], text: str) -> R:
    """Return a record, cached: the scheduler reads all several times a second, and most have not changed since."""
    return read(repository.record, loads(text))
