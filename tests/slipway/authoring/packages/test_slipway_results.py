"""What a job writes to `$SLIPWAY_OUTPUT` is kept, as the disk had it, whoever is killed. # X3

Against the storage of the local cloud, with real files.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_storage import Body, Storage
from tests.python_files import ROOT

from .conftest import Machine
from .writer import Writer, age


def test_a_rename_is_a_finished_file_and_its_first_name_goes(machine: Machine) -> None:
    results = machine.results()
    for number in (1, 2):
        (results.folder / "checkpoint.new").write_text(str(number))
        results.keep()
        (results.folder / "checkpoint.new").replace(results.folder / "checkpoint")
        results.keep()
        assert machine.kept["checkpoint"] == b"%d" % number
    results.keep()
    assert machine.kept == {"checkpoint": b"2"}


def test_what_code_deletes_goes_and_what_is_gone_for_a_moment_stays(machine: Machine) -> None:
    results = machine.results()
    for name in ("old", "replaced"):
        (results.folder / name).write_text(name)
    results.keep()
    for path in results.folder.iterdir():
        path.unlink()
    results.keep()
    assert sorted(machine.kept) == ["old", "replaced"]
    (results.folder / "replaced").write_text("again")
    results.keep()
    assert machine.kept == {"replaced": b"again"}


def test_many_files_are_sent_at_the_same_time(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    results, keep = machine.results(), Storage.keep
    for number in range(40):
        (results.folder / f"{number}.png").write_text("x")
    together = threading.Barrier(16, timeout=60)
    waiting = iter(range(32))

    def kept(*words: Any) -> None:
        if next(waiting, None) is not None:
            together.wait()  # Raises if fewer than that are sent at the same time.
        keep(*words)

    monkeypatch.setattr(Storage, "keep", kept)
    monkeypatch.setattr(results.pass_, "begin", lambda *_: None)
    results.keep()
    assert len(machine.kept) == 40


def test_what_code_renames_and_deletes_just_before_its_end_is_no_result(machine: Machine) -> None:
    results = machine.results()
    for name in ("model.pt.tmp", "cache/a.bin"):
        (results.folder / name).parent.mkdir(exist_ok=True)
        (results.folder / name).write_text(name)
    results.keep()
    (results.folder / "model.pt.tmp").replace(results.folder / "model.pt")
    shutil.rmtree(results.folder / "cache")
    results.keep(ended=True)
    assert machine.kept == {"model.pt": b"model.pt.tmp"}


def test_what_is_deleted_is_sent_anew_when_it_is_written_again(machine: Machine) -> None:
    """Whatever the trouble was in between."""
    results = machine.results()
    path = results.folder / "x"
    path.write_text("first")
    results.keep()
    path.unlink()
    results.keep()
    machine.server.handler.faults = [None, 403]
    with pytest.raises(StorageError, match="HTTP 403"):
        results.keep()
    path.write_text("second")
    results.keep()
    assert machine.kept == {"x": b"second"}
    again = machine.results()
    assert again.restore() == ["x"]


def test_another_machine_finds_what_was_kept_as_old_as_it_was_and_nothing_else(machine: Machine) -> None:
    """The job's own files in its output are its own: they may be large, and code that writes them can read them."""
    first = machine.results()
    for name in ("new", "deep/old"):
        (first.folder / name).parent.mkdir(exist_ok=True)
        (first.folder / name).write_text(name)
    age(first.folder / "deep/old", 1000)
    first.keep()
    machine.bucket.put(f"{machine.prefix}model/x", b"x")
    second = machine.results()
    assert second.restore() == ["deep/old", "new"]
    times = [{name: moment.time for name, moment in results.files().items()} for results in (first, second)]
    assert times[0] == times[1]
    before = machine.generations
    second.keep()
    assert machine.generations == before, "nothing is sent back"


def test_each_replica_has_its_own_folder_and_finds_the_chiefs_files(machine: Machine) -> None:
    chief, other = machine.results(), machine.results("workerpool1-0")
    for results, text in ((chief, "of the chief"), (other, "of another")):
        (results.folder / "log").write_text(text)
    (chief.folder / "checkpoint").write_text("of all")
    (other.folder / "shard").write_text("1")
    chief.keep()
    other.keep()
    assert machine.kept == {
        "log": b"of the chief",
        "checkpoint": b"of all",
        "replicas/workerpool1-0/log": b"of another",
        "replicas/workerpool1-0/shard": b"1",
    }
    again, third = machine.results("workerpool1-0"), machine.results("workerpool1-1")
    assert again.restore() == ["checkpoint", "log", "shard"]
    assert (again.folder / "log").read_text() == "of another"
    assert third.restore() == ["checkpoint", "log"] and machine.results().restore() == ["checkpoint", "log"]
    (again.folder / "checkpoint").unlink()
    again.keep()
    again.keep()
    assert "checkpoint" in machine.kept, "it is the chief's"


def test_a_replica_that_starts_again_finds_what_the_chief_replaces_meanwhile(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:  # X3
    chief = machine.results()
    for name in ("checkpoint", "gone"):
        (chief.folder / name).write_text("first")
    chief.keep(ended=True)
    looks: list[str] = []
    objects = Storage.objects

    def then_replaced(storage: Storage, uri: str, replica: str = "") -> Any:
        listed = objects(storage, uri, replica)
        looks.append(uri)
        if len(looks) == 1:
            (chief.folder / "gone").unlink()
            (chief.folder / "checkpoint").write_text("another")
            chief.keep(ended=True)
            chief.keep(ended=True)
        return listed

    monkeypatch.setattr(Storage, "objects", then_replaced)
    again = machine.results("worker-0")
    assert again.restore() == ["checkpoint"]
    assert {path.name: path.read_text() for path in again.folder.iterdir()} == {"checkpoint": "another"}


def test_a_link_to_a_file_is_kept_as_the_file_and_one_to_a_folder_as_a_link(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    results = machine.results()
    (results.folder / "checkpoint-1").mkdir()
    (results.folder / "checkpoint-1" / "model").write_text("1")
    (results.folder / "last").symlink_to("checkpoint-1/model")
    (results.folder / "nowhere").symlink_to("gone")
    (results.folder / "newest").symlink_to("checkpoint-1")
    (results.folder / "around").symlink_to(".")
    (results.folder / "absolute").symlink_to(results.folder / "checkpoint-1")
    (results.folder / "elsewhere").symlink_to("/")
    results.keep()
    results.keep()
    links = dict.fromkeys(("newest", "around", "absolute"), b"")
    assert machine.kept == {"checkpoint-1/model": b"1", "last": b"1", **links}
    said = capsys.readouterr().out
    assert said.count("elsewhere leads to a folder elsewhere") == 1 and "nowhere" not in said
    again = machine.results()
    again.restore()
    assert {name: str((again.folder / name).readlink()) for name in links} == {
        "newest": "checkpoint-1",
        "around": ".",
        "absolute": "checkpoint-1",
    }
    before = machine.generations
    again.keep()
    assert machine.generations == before, "nothing is sent back"


def test_a_file_with_a_name_that_no_object_can_have_is_kept_under_another_and_restored(machine: Machine) -> None:
    results = machine.results()
    long = "/".join("d" * 250 for _ in range(4))
    names = [os.fsdecode(b"\xff"), "two%0Alines", "two\nlines", "größe 1 ☃ %2F?#", f"{long}/1", f"{long}/2"]
    (results.folder / long).mkdir(parents=True)
    for name in names:
        (results.folder / name).write_bytes(os.fsencode(name)[-9:])
    results.keep()
    assert not results.unkept
    assert {"%FF", "two%0Alines", "two%250Alines", "größe 1 ☃ %2F?#"} < machine.kept.keys()
    again = machine.results()
    assert again.restore() == sorted(names)
    assert [(again.folder / name).read_bytes() for name in names] == [os.fsencode(name)[-9:] for name in names]


def test_a_disk_without_room_for_copies_is_said_and_files_are_kept_all_the_same(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any, **__: Any) -> IO[bytes]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("slipway.authoring.packages.slipway_results.tempfile.SpooledTemporaryFile", full)
    results = machine.results()
    (results.folder / "large").write_bytes(b"1" * 3_000_000)
    (results.folder / "small").write_bytes(b"")
    results.keep()
    results.keep()
    assert machine.kept == {"large": b"1" * 3_000_000, "small": b""}
    assert capsys.readouterr().out.count("the disk has no room for copies") == 1


@pytest.mark.parametrize("change", ["grow", "rewrite", "shrink"])
def test_a_file_that_changes_while_it_is_sent_is_no_object_until_it_is_sent_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    results = machine.results()
    path = results.folder / "large"
    path.write_bytes(b"1" * 3_000_000)
    changes: dict[str, Callable[[], object]] = {
        "grow": lambda: path.open("ab").write(b"2"),
        "rewrite": lambda: path.write_bytes(b"2" * 3_000_000),
        "shrink": lambda: os.truncate(path, 5),
    }
    keep, sizes = results.storage.keep, []

    def kept(uri: str, body: Callable[[str], Body], sleep: Callable[[float], None]) -> None:
        sizes.append(path.stat().st_size)
        if len(sizes) == 1:
            changes[change]()
        keep(uri, body, sleep)

    monkeypatch.setattr(results, "copy", lambda file, size: None)
    monkeypatch.setattr(results.storage, "keep", kept)
    results.keep()
    assert len(sizes) == 2 and machine.kept == {"large": path.read_bytes()}


@pytest.mark.parametrize(("known", "kept"), [(True, b"one"), (False, None)])
def test_what_a_killed_process_was_writing_takes_the_place_of_nothing(
    machine: Machine, known: bool, kept: bytes | None
) -> None:
    results = machine.results()
    path = results.folder / "checkpoint"
    if known:
        path.write_text("one")
        results.keep()
    path.write_text("half of t")
    (results.folder / "earlier").write_text("x")
    age(results.folder / "earlier", 10)
    results.keep(ended=True, killed=True)
    assert machine.kept.get("checkpoint") == kept and machine.kept["earlier"] == b"x"
    assert machine.kept["checkpoint.partial"] == b"half of t"
    assert "half" in results.unkept["checkpoint"][1] and "checkpoint.partial" in results.unkept["checkpoint"][1]


def test_a_save_in_place_that_paused_before_its_process_was_killed_takes_the_place_of_nothing(machine: Machine) -> None:
    """As memory runs out within a save, for instance."""
    results = machine.results()
    path = results.folder / "checkpoint"
    path.write_text("1111\n1111\n")
    results.keep()
    with path.open("r+") as file:
        file.write("2222\n")
    age(path, 4)
    results.keep(ended=True, killed=True)
    assert machine.kept == {"checkpoint": b"1111\n1111\n", "checkpoint.partial": b"2222\n1111\n"}
    assert "half" in results.unkept["checkpoint"][1]


def test_what_was_whole_at_the_notice_is_kept_whoever_is_killed_then(machine: Machine) -> None:
    results = machine.results()
    for name in ("checkpoint", "later"):
        (results.folder / name).write_text("one")
    writer = Writer.of(results.folder / "open", "w")
    writer.write("half\n")
    results.look()
    (results.folder / "later").write_text("half of t")
    writer.process.kill()
    writer.process.wait()
    results.keep(ended=True, killed=True)
    assert machine.kept == {"checkpoint": b"one", "later.partial": b"half of t", "open.partial": b"half\n"}
    assert sorted(results.unkept) == ["later", "open"]


def test_what_is_closed_as_its_writer_may_be_ending_is_kept_once_it_is_older(machine: Machine) -> None:
    """At a look between a writer's death and its parent's knowledge of it."""
    results = machine.results()
    path = results.folder / "checkpoint"
    path.write_text("one")
    results.keep()
    results.ending = lambda: True
    path.write_text("half of t")
    results.keep()
    assert machine.kept == {"checkpoint": b"one"} and "half" in results.unkept["checkpoint"][1]
    age(path, 3)
    results.keep()
    assert machine.kept == {"checkpoint": b"half of t"} and not results.unkept, "who lives on had closed it"


@pytest.mark.parametrize("first", ["saved", "deleted"])
def test_after_the_notice_what_code_deletes_stays_until_all_that_is_left_is_kept(machine: Machine, first: str) -> None:
    """Code that saves a last checkpoint in place of the one before may lose its machine at any moment."""
    results = machine.results()
    before, new = results.folder / "checkpoint-1", results.folder / "checkpoint-2"
    before.write_text("one")
    results.keep()
    results.ending = lambda: True
    if first == "saved":
        new.write_text("two")
    before.unlink()
    for _ in range(2):
        results.keep()
        assert machine.kept == {"checkpoint-1": b"one"}
    new.write_text("two")
    results.keep(ended=True, killed=True)
    assert machine.kept == {"checkpoint-1": b"one", "checkpoint-2.partial": b"two"}
    assert "half" in results.unkept["checkpoint-2"][1]
    results.keep(ended=True)
    assert machine.kept == {"checkpoint-2": b"two"}


def test_trouble_that_does_not_pass_is_raised(machine: Machine) -> None:
    results = machine.results()
    (results.folder / "model").write_text("x")
    machine.server.handler.faults = [403]
    with pytest.raises(StorageError, match="HTTP 403"):
        results.keep()
    machine.server.handler.faults = [503] * 8
    waits: list[float] = []
    with pytest.raises(StorageError, match="no good answer in 8 tries"):
        results.keep(waits.append)
    assert len(waits) == 8 and machine.kept == {}
    results.keep()
    assert machine.kept == {"model": b"x"}


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="only Linux has a device that is always full")
def test_a_log_that_can_not_be_written_keeps_the_exit_code() -> None:
    script = "import sys; from slipway.authoring.packages.slipway_results import say; say('a'); say('b'); sys.exit(7)"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (7, b"")


@pytest.mark.parametrize("own", ["last/model", "last"])
def test_a_replica_keeps_its_own_files_where_the_chief_has_others(machine: Machine, own: str) -> None:
    chief = machine.results()
    (chief.folder / "of-chief").mkdir()
    (chief.folder / "of-chief/model").write_text("chief's")
    (chief.folder / "last").symlink_to("of-chief")
    chief.keep()
    replica = machine.results("workerpool1-0")
    replica.restore()
    (replica.folder / "last").unlink()
    if own == "last":
        (replica.folder / "mine").mkdir()
        (replica.folder / "mine/model").write_text("mine")
        (replica.folder / "last").symlink_to("mine")
    else:
        (replica.folder / "last").mkdir()
        (replica.folder / "last/model").write_text("mine")
    replica.keep()
    again = machine.results("workerpool1-0")
    again.restore()
    assert (again.folder / "last/model").read_text() == "mine"
    assert (again.folder / "of-chief/model").read_text() == "chief's"
