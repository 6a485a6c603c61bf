"""Records in the store: frozen dataclasses, or bodies as an API has them, each a document of a kind under its name."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache, lru_cache, partial
from json import loads
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from .store import Store
from .wire import not_found

R = TypeVar("R")
Read = Callable[[Any], Any]


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


def document(record: Any) -> dict[str, Any]:
    """Return a record as JSON takes it."""
    return record if isinstance(record, dict) else asdict(record)


def read(record: type[R], body: Mapping[str, Any]) -> R:
    """Return a record from its document, with the records inside of it."""
    of: Any = record
    inside = _inside(of)
    return record(**{name: inside[name](value) if name in inside else value for name, value in body.items()})


@lru_cache(1024)
def _again(repository: Repository[R], text: str) -> R:
    """Return a record, cached: the scheduler reads all several times a second, and most have not changed since."""
    return read(repository.record, loads(text))


@cache
def _inside(record: type[Any]) -> Mapping[str, Read]:
    """Return how fields are read whose values JSON keeps as something else."""
    readers = {name: _reader(hint) for name, hint in get_type_hints(record).items()}
    return {name: reader for name, reader in readers.items() if reader is not None}


def _reader(hint: Any) -> Read | None:
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(read, hint)
    options = get_args(hint)
    if get_origin(hint) is tuple:
        each = _reader(options[0])
        return tuple if each is None else lambda items: tuple(map(each, items))
    if get_origin(hint) is Mapping:
        value_of = _reader(options[1])
        return value_of and (lambda items: {name: value_of(value) for name, value in items.items()})
    if NoneType in options:
        one = next((reader for option in options if (reader := _reader(option))), None)
        return None if one is None else lambda value: None if value is None else one(value)
    return None
