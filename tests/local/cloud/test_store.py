"""Documents in SQLite: transactions, order, pages."""

import sqlite3
import threading
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.cloud.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cloud.sqlite")


def names(documents: list[tuple[str, dict[str, object]]]) -> list[str]:
    return [name for name, _ in documents]


def test_documents_are_put_got_and_deleted(store: Store) -> None:
    store.put("job", "a", {"state": "ü", "n": 1})
    assert store.get("job", "a") == {"state": "ü", "n": 1}
    assert store.get("cluster", "a") is None
    assert store.delete("job", "a") and not store.delete("job", "a")


def test_a_list_is_in_order_of_creation_also_after_an_update(store: Store) -> None:
    for name in ("p/2", "p/1", "q/1"):
        store.put("job", name, {})
    store.put("job", "p/2", {"changed": True})
    assert names(store.list("job")) == ["p/2", "p/1", "q/1"]
    assert names(store.list("job", "p/")) == ["p/2", "p/1"] and store.count("job", "p/") == 2


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(count=st.integers(0, 12), size=st.integers(1, 5), newest_first=st.booleans())
def test_pages_put_together_are_the_list(store: Store, count: int, size: int, newest_first: bool) -> None:
    kind = uuid.uuid4().hex
    for number in range(count):
        store.put(kind, f"p/{number}", {"n": number})
    store.put(kind, "other", {})
    found, after = [], ""
    while True:
        page, after = store.page(kind, "p/", after, size, newest_first=newest_first)
        assert len(page) <= size
        found += [int(str(body["n"])) for _, body in page]
        if not after:
            break
    assert found == sorted(range(count), reverse=newest_first)


def test_a_page_token_that_is_none_is_a_value_error(store: Store) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        store.page("job", "", "nonsense", 5)


def test_a_scan_goes_by_name_within_bounds(store: Store) -> None:
    for name in ("b", "a", "c", "d"):
        store.put("object", name, {})
    assert names(store.scan("object", "a", "d", 10)) == ["a", "b", "c"]
    assert names(store.scan("object", "a", "d", 1, inclusive=False)) == ["b"]


def test_an_exception_rolls_everything_back(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.put("job", "a", {})
        with store.transaction():
            store.put("job", "b", {})
        raise RuntimeError
    assert store.list("job") == []


def test_others_see_a_transaction_only_when_it_is_committed(store: Store) -> None:
    seen: list[object] = []

    def look() -> None:
        seen.append(store.get("job", "a"))

    with store.transaction():
        store.put("job", "a", {"n": 1})
        assert store.get("job", "a") == {"n": 1}
        reader = threading.Thread(target=look)
        reader.start()
        reader.join()
    look()
    assert seen == [None, {"n": 1}]


def test_writers_take_turns(store: Store) -> None:
    def count() -> None:
        for _ in range(25):
            with store.transaction():
                before = store.get("counter", "x") or {"n": 0}
                store.put("counter", "x", {"n": before["n"] + 1})
            store.next_id("jobs")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get("counter", "x") == {"n": 100} and store.next_id("jobs") == 101


def test_another_store_on_the_same_file_finds_everything(tmp_path: Path) -> None:
    first = Store(tmp_path / "cloud.sqlite")
    first.put("job", "a", {"n": 1})
    assert first.next_id("jobs") == 1
    first.close()
    with pytest.raises(sqlite3.ProgrammingError):
        first.get("job", "a")
    second = Store(tmp_path / "cloud.sqlite")
    assert second.get("job", "a") == {"n": 1} and second.next_id("jobs") == 2
