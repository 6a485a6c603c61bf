"""The machine's cache is bounded: what no job used for long goes, and nothing that one uses (N4)."""

import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import ROOT
from vertex_local import files
from vertex_local.images import cache, device_code, upkeep, wheels
from vertex_local.testing.local_cloud import LocalCloud

NOW = 1_800_000_000.0
EARLIER, KB = NOW - 600, 1000


def made(root: Path, name: str, used: float = EARLIER, kilobytes: int = 100) -> Path:
    """An entry of the cache, such as `images/a`, that a job used then."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "module.py").write_bytes(b"x" * kilobytes * KB)
    (folder / cache.READY).touch()
    folder.with_name(f"{folder.name}.lock").touch()
    for path in (folder / cache.READY, folder.with_name(f"{folder.name}.lock"), folder, folder.parent):
        os.utime(path, (used, used))
    return folder


def left(root: Path) -> set[str]:
    return {entry.folder.name for entry in upkeep.entries(root)}


def test_beyond_the_bound_those_go_that_were_used_longest_ago(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 250 * KB)
    for at, part in enumerate(("images/oldest", "environments/old", "wheels/newer", "environments/newest")):
        made(tmp_path, part, used=EARLIER + at)
    upkeep.trim(tmp_path, NOW)
    assert left(tmp_path) == {"newer", "newest"}


def test_one_beyond_the_bound_by_itself_stays_for_a_day_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch from PyPI takes minutes to make, and must not push out all else at each look."""
    monkeypatch.setattr(upkeep, "MOST_BYTES", 250 * KB)
    made(tmp_path, "images/large", kilobytes=300)
    for at, name in enumerate("abc"):
        made(tmp_path, f"environments/{name}", used=EARLIER + 1 + at)
    upkeep.trim(tmp_path, NOW)
    assert left(tmp_path) == {"large", "b", "c"}
    made(tmp_path, "environments/d", used=NOW + upkeep.LARGE_FOR_S)
    upkeep.trim(tmp_path, NOW + upkeep.LARGE_FOR_S + 1)
    assert left(tmp_path) == {"c", "d"}


def test_what_a_job_uses_while_others_are_measured_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 0)
    image, measured = made(tmp_path, "images/a"), upkeep.size

    def used(folder: Path, seen: set[tuple[int, int]]) -> int:
        os.utime(image / cache.READY, (NOW, NOW))
        return measured(folder, seen)

    monkeypatch.setattr(upkeep, "size", used)
    assert upkeep.trim(tmp_path, NOW) == [] and left(tmp_path) == {"a"}


def test_files_that_entries_share_count_once_and_for_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 250 * KB)
    image = made(tmp_path, "images/a", kilobytes=200)
    for name in ("b", "c", "d"):
        copy = made(tmp_path, f"environments/{name}", used=EARLIER + 1, kilobytes=1)
        (copy / "shared.py").hardlink_to(image / "module.py")
    assert upkeep.trim(tmp_path, NOW) == []


def test_an_environment_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured, size = list[str](), upkeep.size

    def measure(folder: Path | str, seen: set[tuple[int, int]]) -> int:
        if isinstance(folder, Path):  # and no folder below it
            measured.append(folder.name)
        return size(folder, seen)

    monkeypatch.setattr(upkeep, "size", measure)
    for name in ("images/a", "environments/b", "environments/unfinished"):
        made(tmp_path, name)
    (tmp_path / "environments/unfinished" / cache.READY).unlink()
    first = upkeep.entries(tmp_path)
    assert sorted(measured) == ["a", "b", "unfinished"]
    measured.clear()
    assert upkeep.entries(tmp_path) == first and sorted(measured) == ["a", "unfinished"]


def test_files_of_an_image_that_went_count_for_its_environment(tmp_path: Path) -> None:
    image, copy = made(tmp_path, "images/a", kilobytes=200), made(tmp_path, "environments/b", kilobytes=1)
    (copy / "shared.py").hardlink_to(image / "module.py")
    sizes = {entry.folder: entry for entry in upkeep.entries(tmp_path)}
    assert sizes[copy].size < 100 * KB
    assert upkeep.remove(sizes[image])
    (left,) = upkeep.entries(tmp_path)
    assert left.size > 200 * KB and left.used == EARLIER


def test_it_looks_where_something_was_made_since_and_once_a_minute_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Path] = []

    def entries(root: Path) -> list[upkeep.Entry]:
        measured.append(root)
        return []

    monkeypatch.setattr(upkeep, "entries", entries)
    assert upkeep.trim(tmp_path, NOW) == [] and measured == [], "there is none yet"
    made(tmp_path, "images/a")
    os.utime(tmp_path / "images", (NOW - 1, NOW - 1))
    for after, looks in ((0, 1), (90, 1), (100, 2), (130, 2), (170, 3)):
        if after >= 100:
            os.utime(tmp_path / "images", (NOW + after - 1, NOW + after - 1))
        upkeep.trim(tmp_path, NOW + after)
        assert len(measured) == looks, after


def test_one_that_is_being_made_or_run_from_stays_until_then(tmp_path: Path) -> None:
    building, running = made(tmp_path, "environments/a"), made(tmp_path, "images/b")
    code = f"""
from pathlib import Path
from vertex_local.images import cache
print(cache.hold(Path({str(running)!r})), flush=True)
input()
"""
    with (
        files.locked(building.with_name("a.lock")),
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as replica,
    ):
        assert replica.stdout and replica.stdout.readline() == "True\n"
        assert [upkeep.remove(entry) for entry in upkeep.entries(tmp_path)] == [False, False]
        replica.communicate("\n")
    assert [upkeep.remove(entry) for entry in upkeep.entries(tmp_path)] == [True, True]
    assert not cache.hold(running), "which is why a replica looks again"


def test_the_verb_shows_and_clears_it(tmp_path: Path) -> None:
    cloud = LocalCloud(tmp_path / "state", {"VERTEX_LOCAL_CACHE": str(tmp_path / "cache")})
    made(tmp_path / "cache", "images/a", kilobytes=3000)
    shown = cloud.command("cache").stdout.splitlines()
    assert [line.split()[:3] for line in shown if line.startswith("images")] == [["images", "3", "MB"]]
    assert any(line.startswith("3 MB of 2.0 GB in ") for line in shown), "the sum of the lines, and the bound"
    cloud.up()
    try:
        assert re.search(r"^cache +3 MB of 2.0 GB$", cloud.command("status").stdout, re.M)
    finally:
        cloud.command("down")
    assert cloud.command("cache", "clear").stdout == "removed 1 entry, 3 MB\n"


# --- What a job brings as source is built once for the machine, whoever builds, and whoever is killed (B4, N4).


class Uv:
    """Stands for uv: its wheels have the bytes of what they were made of. It can be killed half way."""

    def __init__(self) -> None:
        self.builds = 0
        self.killed = False

    def __call__(self, command: Sequence[str]) -> None:
        if not command:
            return
        self.builds += 1
        folder = Path(command[command.index("--out-dir") + 1])
        if self.killed:
            (folder / "half").write_text("half")
            raise KeyboardInterrupt
        (folder / "digits-1.0-py3-none-any.whl").write_bytes(Path(command[-1]).read_bytes())


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder, self.shelf, self.uv = folder, folder / "cache" / "wheels", Uv()
        self.said: list[str] = []

    def brought(self, job: str, content: str = "one", name: str = "digits.tar.gz") -> Path:
        """A package as a job has downloaded it."""
        file = self.folder / job / name
        file.parent.mkdir()
        file.write_text(content)
        return file

    def wheel(self, package: Path) -> Path:
        return wheels.built(self.shelf, package, self.uv, "uv", self.said.append)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_next_job_with_the_same_package_gets_the_same_wheel(machine: Machine) -> None:
    one, two = (machine.wheel(machine.brought(job)) for job in ("a", "b"))
    assert machine.uv.builds == 1
    assert (one.parent.name, two.parent.name) == ("a", "b")
    assert one.read_text() == two.read_text() == "one"
    (said,) = machine.said
    assert "digits.tar.gz" in said


def test_other_contents_under_the_same_name_are_another_wheel(machine: Machine) -> None:
    assert [machine.wheel(machine.brought(text, text)).read_text() for text in ("one", "two")] == ["one", "two"]
    assert machine.uv.builds == 2


def test_what_is_a_wheel_already_is_taken_as_it_is(machine: Machine) -> None:
    package = machine.brought("a", name="digits-1.0-py3-none-any.whl")
    assert machine.wheel(package) == package
    assert not machine.shelf.exists()


def test_jobs_that_come_at_once_wait_for_the_first(machine: Machine) -> None:
    packages = [machine.brought(str(number)) for number in range(8)]
    with ThreadPoolExecutor(8) as jobs:
        assert {wheel.read_text() for wheel in jobs.map(machine.wheel, packages)} == {"one"}
    assert machine.uv.builds == 1


def test_what_was_broken_off_is_begun_again(machine: Machine) -> None:
    machine.uv.killed = True
    with pytest.raises(KeyboardInterrupt):
        machine.wheel(machine.brought("a"))
    machine.uv.killed = False
    assert machine.wheel(machine.brought("b")).read_text() == "one"


# --- What only a GPU runs takes no room in an image, and all else of a library stays as it is (N4).


CODE, FATBIN = b"\x90" * 8192, b"g" * 1_000_000


def library(place: Path, section: bytes = b".nv_fatbin") -> Path:
    """A library of two sections, as a linker lays them out: headers, contents, names, table."""
    names = b"\0.text\0" + section + b"\0.shstrtab\0"
    contents = {b".text": CODE, section: FATBIN, b".shstrtab": names}
    body, table, at = b"", bytes(64), 64
    for name, content in contents.items():
        table += struct.pack("<IIQQQQIIQQ", names.index(name), 1, 0, 0, at, len(content), 0, 0, 0, 0)
        body, at = body + content, at + len(content)
    head = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<QI6H", at, 0, 64, 0, 0, 64, 4, 3)
    place.write_bytes(head + body + table)
    return place


def test_code_for_gpus_reads_as_zeros(tmp_path: Path) -> None:
    made = library(tmp_path / "libtorch_cuda.so")
    size, blocks = made.stat().st_size, made.stat().st_blocks
    whole = made.read_bytes()
    device_code.forget(tmp_path)
    assert made.stat().st_size == size and made.read_bytes().replace(b"\0", b"") == whole.replace(FATBIN, b"").replace(
        b"\0", b""
    )
    if sys.platform == "linux":
        assert made.stat().st_blocks < blocks - 1500


@pytest.mark.parametrize(
    ("folder", "section", "dropped"),
    [
        ("torch", b".strtab", True),
        ("nvidia", b".ldata", True),
        ("torch", b".ldata", False),
        ("nvidia", b".dynstr", False),
    ],
)
def test_only_sections_that_nothing_reads_are_dropped(
    tmp_path: Path, folder: str, section: bytes, dropped: bool
) -> None:
    (tmp_path / folder).mkdir()
    made = library(tmp_path / folder / "lib.so", section)
    device_code.forget(tmp_path)
    assert (FATBIN not in made.read_bytes()) is dropped


def test_a_file_that_others_share_stays(tmp_path: Path) -> None:
    made = library(tmp_path / "libcublas.so.12")
    (tmp_path / "cached").hardlink_to(made)
    before = made.read_bytes()
    device_code.forget(tmp_path)
    assert made.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"", b"GROUP ( libc.so.6 )", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 90]
)
def test_what_is_no_library_stays(tmp_path: Path, content: bytes) -> None:
    made = tmp_path / "odd.so"
    made.write_bytes(content)
    device_code.forget(tmp_path)
    assert made.read_bytes() == content
