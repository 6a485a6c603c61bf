"""A file that a process of a job has open for writing is kept as one that is whole, or beside one. # X3

Against the storage of the local cloud, with real files that real processes write.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from slipway.authoring.packages.slipway_results import Results

from .conftest import Machine
from .writer import Writer, age

OVERWRITES = """
import sys, time
for number in range(10**9):
    with open(sys.argv[1], "wb") as file:
        for _ in range(16):
            file.write(b"%d" % (number % 10) * 4096)
            file.flush()
    time.sleep(0.2)
"""


def test_a_file_that_is_overwritten_in_place_is_kept_whole_at_each_look(machine: Machine) -> None:
    results = machine.results()
    process = subprocess.Popen([sys.executable, "-c", OVERWRITES, str(results.folder / "checkpoint")])
    try:
        versions: set[bytes] = set()
        while len(versions) < 5:
            results.keep()
            if content := machine.kept.get("checkpoint"):
                assert len(content) == 65536 and len(set(content)) == 1, "of one version, and all of it"
                versions.add(content[:1])
    finally:
        process.kill()
        process.wait()


def test_half_a_file_takes_the_place_of_none(machine: Machine) -> None:
    results = machine.results()
    path = results.folder / "checkpoint"
    path.write_text("the first, whole\n")
    results.keep()
    writer = Writer.of(path, "w")
    writer.write("the second\n")
    results.keep()
    assert machine.kept == {"checkpoint": b"the first, whole\n"}
    assert results.unkept["checkpoint"][1] == "it is still open for writing"
    writer.write("and its end\n")
    writer.close()
    results.keep()
    assert machine.kept == {"checkpoint": b"the second\nand its end\n"} and not results.unkept


def test_a_log_that_is_never_closed_is_kept_with_each_line(machine: Machine) -> None:
    results = machine.results()
    path = results.folder / "log"
    path.write_text("0\n")
    results.keep()
    writer = Writer.of(path, "a")
    for lines in ("0\n1\n", "0\n1\n2\n"):
        writer.write(lines[-2:])
        results.keep()
        assert machine.kept == {"log": lines.encode()}
    writer.close()


def await_close(results: Results, seconds: float = 31) -> None:
    """Let files have been open for writing for as long."""
    results.unkept = {name: (since - seconds, why) for name, (since, why) in results.unkept.items()}


def saved_in_place(results: Results, machine: Machine) -> Writer:
    """A process that is amid a save in place, of the size of the version before, which was kept."""
    path = results.folder / "checkpoint"
    path.write_text("1111\n1111\n")
    results.keep()
    writer = Writer.of(path, "r+", 0)
    writer.write("2222\n")
    results.keep()
    assert machine.kept == {"checkpoint": b"1111\n1111\n"}, "its size and time say nothing, its writer is not done"
    return writer


def test_a_save_in_place_is_kept_once_its_writer_has_closed_it(machine: Machine) -> None:
    results = machine.results()
    writer = saved_in_place(results, machine)
    assert results.unkept["checkpoint"][1] == "it is still open for writing"
    writer.close()
    results.keep()
    assert machine.kept == {"checkpoint": b"2222\n1111\n"} and not results.unkept


def test_a_file_that_is_never_closed_is_kept_beside_its_last_whole_version(machine: Machine) -> None:
    results = machine.results()
    writer = saved_in_place(results, machine)
    await_close(results)
    for line in ("3333\n", "4444\n"):
        writer.write(line)
        results.keep()
        torn = {"checkpoint": f"{line}1111\n".encode(), "previous/checkpoint": b"1111\n1111\n"}
        assert machine.kept == torn
        writer.write(line.upper())
        results.keep()
        assert machine.kept == torn, "neither is sent again before its time"
        await_close(results)
    writer.close()
    results.keep()
    assert machine.kept == {"checkpoint": b"4444\n1111\n"}, "it is whole, and nothing is needed beside it"


def test_another_machine_is_offered_both_until_a_whole_version_is_there(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    first = machine.results()
    writer = saved_in_place(first, machine)
    await_close(first)
    writer.write("3333\n")
    first.keep()
    writer.process.kill()
    writer.process.wait()
    first.keep(ended=True, killed=True)
    capsys.readouterr()
    second = machine.results()
    assert second.restore() == ["checkpoint", "previous/checkpoint"]
    said = "checkpoint was open for writing when it was kept, its last whole version is previous/checkpoint\n"
    assert capsys.readouterr().out == f"slipway: {said}"
    second.keep()
    second.keep()
    both = {"checkpoint": b"3333\n1111\n", "previous/checkpoint": b"1111\n1111\n"}
    assert machine.kept == both, "that nobody writes it here makes nothing whole"
    (second.folder / "checkpoint").write_text("5555\n5555\n")
    second.keep()
    assert machine.kept == {"checkpoint": b"5555\n5555\n"} and set(second.files()) == {"checkpoint"}
    second.keep()
    assert machine.kept == {"checkpoint": b"5555\n5555\n"}


def test_a_replica_sets_the_chiefs_whole_version_aside_in_its_own_folder(machine: Machine) -> None:
    chief = machine.results()
    (chief.folder / "checkpoint").write_text("1111\n1111\n")
    chief.keep()
    results = machine.results("workerpool1-0")
    results.restore()
    writer = Writer.of(results.folder / "checkpoint", "r+", 0)
    for line in ("2222\n", "3333\n"):
        writer.write(line)
        results.keep()
        await_close(results)
    writer.close()
    assert machine.kept == {
        "checkpoint": b"1111\n1111\n",
        "replicas/workerpool1-0/checkpoint": b"3333\n1111\n",
        "replicas/workerpool1-0/previous/checkpoint": b"1111\n1111\n",
    }


def test_a_folder_of_the_codes_own_is_not_written_over(machine: Machine) -> None:
    results = machine.results()
    (results.folder / "previous").mkdir()
    (results.folder / "previous" / "checkpoint").write_text("its own")
    path = results.folder / "checkpoint"
    path.write_text("1111\n1111\n")
    results.keep()
    writer = Writer.of(path, "r+", 0)
    for line in ("2222\n", "3333\n"):
        writer.write(line)
        results.keep()
        await_close(results)
    assert machine.kept == {"checkpoint": b"1111\n1111\n", "previous/checkpoint": b"its own"}
    writer.close()


def test_where_no_open_file_is_seen_one_that_rests_counts_as_closed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a Mac, without leases and without /proc."""
    monkeypatch.delattr("fcntl.F_SETLEASE")
    monkeypatch.setattr("slipway.authoring.packages.slipway_files.PROCESSES", str(tmp_path / "nowhere"))
    results = machine.results()
    path = results.folder / "checkpoint"
    path.write_text("1111\n1111\n")
    results.keep()
    assert machine.kept == {}
    age(path, 3)
    results.keep()
    assert machine.kept == {"checkpoint": b"1111\n1111\n"}


@pytest.mark.parametrize("leases", [True, False])
def test_open_files_are_seen_with_leases_and_without(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, leases: bool
) -> None:
    """File systems without leases, and a file that is another user's."""
    if not leases:
        monkeypatch.delattr("fcntl.F_SETLEASE")
    results = machine.results()
    saved_in_place(results, machine).close()
    results.keep()
    assert machine.kept == {"checkpoint": b"2222\n1111\n"}


def test_a_file_that_is_open_and_rests_is_kept(machine: Machine) -> None:
    results = machine.results()
    writer = Writer.of(results.folder / "table.csv", "w")
    writer.write("loss\n")
    results.keep()
    assert machine.kept == {}
    age(results.folder / "table.csv", 31)
    results.keep()
    assert machine.kept == {"table.csv": b"loss\n"}
    writer.close()
