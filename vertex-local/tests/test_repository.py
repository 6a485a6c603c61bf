"""Records come back from the store as they were: those inside of others, several of them, and none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path

from vertex_local.repository import Repository
from vertex_local.store import Store


@dataclass(frozen=True)
class Part:
    size: int


@dataclass(frozen=True)
class Whole:
    name: str
    first: Part
    others: tuple[Part, ...] = ()
    words: tuple[str, ...] = ()
    last: Part | None = None
    body: Mapping[str, object] = field(default_factory=dict)


WHOLES = Repository(kind="whole", record=Whole, key=attrgetter("name"))


def test_a_record_is_the_same_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.sqlite")
    bare = Whole("a/one", Part(1))
    full = Whole("a/two", Part(1), (Part(2), Part(3)), ("x",), Part(4), {"first": {"size": 5}})
    for whole in (bare, full, replace(bare, name="b/one")):
        WHOLES.put(store, whole)
    assert [WHOLES.get(store, name) for name in ("a/one", "a/two", "a/none")] == [bare, full, None]
    assert WHOLES.every(store, "a/") == [bare, full]
    first, more = WHOLES.page(store, "a/", "", 1)
    assert first == [bare] and WHOLES.page(store, "a/", more, 1) == ([full], "")
    WHOLES.remove(store, "a/two")
    assert WHOLES.every(store, "a/") == [bare]
    store.close()
