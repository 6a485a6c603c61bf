"""Documents in SQLite: transactions, order, pages."""

import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from vertex_local import settings as cloud_settings
from vertex_local.clock import ManualClock, RealClock, timestamp
from vertex_local.log_store import Window
from vertex_local.logging import query
from vertex_local.logging.entries import write
from vertex_local.repository import Repository
from vertex_local.settings import Settings, SettingsError
from vertex_local.store import Store
from vertex_local.testing.calling import Calling
from vertex_local.trash import Trash
from vertex_local.world import open_world


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


def test_what_another_version_left_is_refused_in_words(tmp_path: Path) -> None:
    store = Store(tmp_path / "cloud.sqlite")
    store.execute("PRAGMA user_version = 0")
    store.close()
    with pytest.raises(OSError, match="another version of the local cloud: remove it"):
        Store(tmp_path / "cloud.sqlite")


# --- Log entries. What lists of them answer: `contracts/answered_logs.txt`. (N4)


def entry(text: str, at: int) -> dict[str, Any]:
    return {"textPayload": text, "timestamp": f"2026-11-20T10:00:{at:02d}Z"}


def test_only_so_many_entries_are_kept(tmp_path: Path) -> None:
    world = open_world(tmp_path)
    world.change_settings({"log_entries_kept": 5})
    resource = {"type": "ml_job", "labels": {"job_id": "1"}}
    write(world, "projects/local-project/logs/w", resource, [entry(str(number), number) for number in range(9)])
    kept = [line["textPayload"] for _, line in world.logs.read(Window(), None, False)]
    assert kept == ["4", "5", "6", "7", "8"]


def test_of_one_writer_s_lines_no_others_are_read(tmp_path: Path) -> None:
    """A page about a job asks for the service's few, among hundreds of thousands of its replicas'."""
    world = open_world(tmp_path)
    for task, number in (("workerpool0-0", 9), ("service", 2)):
        labels = {"job_id": "1", "task_name": task}
        resource = {"type": "ml_job", "labels": labels}
        write(world, f"projects/local-project/logs/{task}", resource, [entry(f"{task} {n}", n) for n in range(number)])
    window = query.parse('resource.labels.job_id="1" AND resource.labels.task_name="service"').window
    assert (window.job, window.task) == ("1", "service")
    kept = [line["textPayload"] for _, line in world.logs.read(window, None, True)]
    assert kept == ["service 1", "service 0"]
    either = query.parse('resource.labels.task_name="service" OR resource.labels.task_name="workerpool0-0"').window
    assert either == Window()


def test_an_entry_from_before_with_such_a_severity_breaks_no_filter(calling: Calling) -> None:
    written = {"logName": "projects/local-project/logs/l", "entries": [{"textPayload": "x", "severity": "ERROR"}]}
    calling.call("POST", "/v2/entries:write", written)
    (_, kept), *_ = calling.world.logs.read(Window(), None, False)
    calling.world.logs.append([{**kept, "severity": "LOUD"}], 10)
    asked = {"resourceNames": ["projects/local-project"], "filter": "severity>=ERROR"}
    line = calling.call("POST", "/v2/entries:list", asked)["entries"]
    assert [entry["severity"] for entry in line] == ["ERROR"]


# --- What is removed is out of its place at once, and gone when there is time; a kill loses nothing of that. (N4)


def filled(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    return folder


def emptied(folder: Path) -> None:
    until = time.monotonic() + 600
    while any(folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_is_taken_is_gone_from_its_place_and_removed_in_the_background(tmp_path: Path) -> None:
    trash = Trash(tmp_path / "trash")
    old = filled(tmp_path / "work")
    trash.take([old, tmp_path / "never-was"])
    assert not old.exists()
    assert [item.name for item in (tmp_path / "trash").glob("*/deep/*")] == ["file"], "nobody waited for it"
    trash.start()
    emptied(tmp_path / "trash")
    trash.take([filled(tmp_path / "another")])
    until = time.monotonic() + 600
    while any((tmp_path / "trash").iterdir()):  # The first remover may not have ended yet: it goes with the next.
        assert time.monotonic() < until
        trash.take(())
        time.sleep(0.01)
    trash.stop()


def test_what_a_killed_cloud_left_goes_with_the_next_start(tmp_path: Path) -> None:
    filled(tmp_path / "trash" / "left")
    trash = Trash(tmp_path / "trash")
    trash.start()
    emptied(tmp_path / "trash")
    trash.stop()


def test_what_cannot_be_moved_is_removed_where_it_is(tmp_path: Path) -> None:
    """A full disk is such a case: nothing can be moved into the trash."""
    trash = Trash(tmp_path / "trash")
    (tmp_path / "trash").rmdir()
    (tmp_path / "trash").touch()
    old = filled(tmp_path / "work")
    trash.take([old])
    assert not old.exists()


# --- The clock that a test stops and advances.


START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def test_a_waiter_wakes_when_its_time_has_come() -> None:
    clock, woke = ManualClock(START), threading.Event()

    def wait() -> None:
        assert clock.wait(60, threading.Event()) is False
        woke.set()

    thread = threading.Thread(target=wait)
    thread.start()
    clock.advance(59)
    assert not woke.wait(0.1)
    clock.advance(1)
    thread.join(10)
    assert woke.is_set()


def test_a_waiter_wakes_when_its_event_is_set() -> None:
    event = threading.Event()
    event.set()
    assert ManualClock(START).wait(3600, event) is True
    assert RealClock().wait(3600, event) is True


def test_timestamps_are_utc_and_of_one_width() -> None:
    moment = datetime(2026, 11, 20, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    assert timestamp(moment) == "2026-11-20T10:00:00.000000Z"
    assert RealClock().now().tzinfo is UTC


# --- Settings from a file, the environment and the command line.


def test_texts_become_the_settings_types() -> None:
    changed = Settings().changed({"submissions_per_minute": "5", "quota.custom_model_training_cpus": "8"})
    assert changed.submissions_per_minute == 5 and changed.quota == {"custom_model_training_cpus": 8}


def test_a_file_written_is_the_file_read(tmp_path: Path) -> None:
    policy = {"policy.gcp.resourceLocations": "us-east1 us", "policy.storage.publicAccessPrevention": "true"}
    values = {"calls_per_minute": 1, "quota.m.us-central1": 3, "quota.n": -1, "customers.acme.example": "C0acme"}
    first = Settings().changed({**values, **policy})
    assert first.policy["gcp.resourceLocations"] == ("us-east1", "us")
    (tmp_path / "s.toml").write_text(cloud_settings.dump(asdict(first)))
    assert cloud_settings.load(tmp_path / "s.toml", {}) == first
    assert cloud_settings.load(tmp_path / "s.toml", {"calls_per_minute": "2"}).calls_per_minute == 2


def test_pairs_are_name_equals_value() -> None:
    assert cloud_settings.pairs("a=1, b=2,") == {"a": "1", "b": "2"}
    with pytest.raises(SettingsError, match="name=value"):
        cloud_settings.pairs("a")


def test_a_file_that_is_no_toml_is_said(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("= 3")
    with pytest.raises(SettingsError, match="is not TOML"):
        cloud_settings.load(tmp_path / "s.toml", {})


# --- Records come back as they were: those inside of others, several of them, and none.


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
    WHOLES.remove(store, "a/two")
    assert WHOLES.every(store, "a/") == [bare]
    store.close()
