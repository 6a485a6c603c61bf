"""Inputs are copied before the code starts: all of them and whole, or the job does not start. # N31

Against the storage of the local cloud, with faults in between.
"""

from __future__ import annotations

import errno
import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from slipway.authoring.packages import slipway_storage
from slipway.authoring.packages.slipway_http import patiently
from slipway.authoring.packages.slipway_inputs import AGAIN, DISK, LATER, Progress, copied
from slipway.authoring.packages.slipway_storage import RefusedError, Storage

from .conftest import Between, Bucket
from .test_slipway_launcher import Replica

SHOWS = """
import os, pathlib
for name in ("SLIPWAY_INPUT_DATA", "SLIPWAY_INPUT_MORE"):
    folder = pathlib.Path(os.environ[name])
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    print(name, *(f"{path.relative_to(folder)}={path.read_text()}" for path in files))
"""


@pytest.fixture
def replica(server: Between, bucket: Bucket, tmp_path: Path) -> Replica:
    (tmp_path / "work.py").write_text(SHOWS)
    return Replica(server, tmp_path, bucket)


def test_the_code_finds_each_input_as_a_folder_and_the_log_says_what_was_copied(replica: Replica) -> None:  # N31
    for name, text in (("train/a", "1"), ("train/deep/b c", "22"), ("train-old/no", "3"), ("one.csv", "4,4")):
        replica.bucket.put(f"inputs/{name}", text.encode())
    at = f"gs://{replica.bucket.name}/inputs"
    replica.environ |= {"SLIPWAY_INPUT_DATA": f"{at}/train", "SLIPWAY_INPUT_MORE": f"{at}/one.csv"}
    done = replica.start("inputs", "11")
    assert done.returncode == 0, done.stderr
    assert "SLIPWAY_INPUT_DATA a=1 deep/b c=22\nSLIPWAY_INPUT_MORE one.csv=4,4\n" in done.stdout
    assert f"slipway: copies {at}/train to $SLIPWAY_INPUT_DATA: 2 objects, 3 bytes\n" in done.stdout
    assert f"slipway: copies {at}/one.csv to $SLIPWAY_INPUT_MORE: 1 object, 3 bytes\n" in done.stdout
    assert "slipway: inputs: 6 bytes of 6 bytes copied, " in done.stdout
    assert not list(Path.home().glob("slipway-*/inputs*")), "nothing is left on the disk"


@pytest.mark.parametrize(
    ("name", "why", "fix"),
    [
        ("packages-work/nowhere/", "nothing is at gs://packages-work/nowhere/", "correct the address"),
        ("no-bucket/x", "HTTP 404", AGAIN),
    ],
)
def test_a_job_whose_input_is_not_there_does_not_start(replica: Replica, name: str, why: str, fix: str) -> None:  # N31
    replica.environ["SLIPWAY_INPUT_DATA"] = f"gs://{name}"
    done = replica.start(f"input-{len(name)}", "11")
    assert done.returncode == 70 and "SLIPWAY_INPUT_DATA " not in done.stdout
    assert "error: the inputs of this job can't be copied, so it does not start" in done.stderr
    assert why in done.stderr and fix in done.stderr


def copy(server: Between, folder: Path, address: str) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an input, and what the log has."""
    said: list[str] = []
    (place,) = copied(folder, {**server.environ, "SLIPWAY_INPUT_DATA": address}, said.append).values()
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in Path(place).rglob("*.*")}, said


def test_a_large_object_is_copied_in_parts_of_one_version(
    server: Between, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # N31
    monkeypatch.setattr(slipway_storage, "PART", 1000)
    content = bytes(range(256)) * 20
    bucket.put("parts/large.bin", content)
    bucket.put("parts/empty.bin", b"")
    server.handler.faults = [None, 503, None, "half"]  # as it is listed, and as its parts are read
    monkeypatch.setattr(slipway_storage, "patiently", lambda ask, _: patiently(ask, lambda _: None))
    files, _ = copy(server, tmp_path, f"gs://{bucket.name}/parts")
    assert files == {"large.bin": content, "empty.bin": b""} and not server.handler.faults


def test_an_object_that_is_stored_compressed_is_copied_as_it_is_stored(
    server: Between, bucket: Bucket, tmp_path: Path
) -> None:  # N31
    """The size is that of the list, as Cloud Storage FUSE shows it, whatever the service would unpack."""
    content = gzip.compress(b"words " * 1000)
    assert bucket.post("packed/words.json", content, "&contentEncoding=gzip") == 200
    assert copy(server, tmp_path, f"gs://{bucket.name}/packed")[0] == {"words.json": content}


def test_a_copy_that_is_not_whole_is_none(
    server: Between, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # N31
    bucket.put("half/a.bin", b"1" * 10)
    bucket.put("half/b.bin", b"1" * 10)
    server.handler.faults = [None, 403, 403]
    with pytest.raises(RefusedError) as error:
        copy(server, tmp_path, f"gs://{bucket.name}/half")
    assert "HTTP 403" in error.value.args[1] and "--member=serviceAccount:" in error.value.args[2]
    assert "{" not in error.value.args[1], "the service's words, not its JSON"
    assert not (tmp_path / "inputs").exists()


def test_inputs_that_the_disk_has_no_room_for_are_refused_before_any_is_copied(
    server: Between, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # N31
    bucket.put("room/a.bin", b"1" * 2000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1500))
    with pytest.raises(RefusedError) as error:
        copy(server, tmp_path, f"gs://{bucket.name}/room")
    assert error.value.args[1:] == ("the inputs take 2.0 kB, and the disk has 1.5 kB left", DISK)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("full", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_in_the_middle_is_said_at_once(
    server: Between, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int
) -> None:  # N31
    bucket.put("fills/a.bin", b"1" * 2000)
    waited: list[float] = []
    opened = Path.open

    def fills(path: Path, mode: str = "r", **given: Any) -> Any:
        if mode == "r+b":
            raise OSError(full, "no room")
        return opened(path, mode, **given)

    monkeypatch.setattr(Path, "open", fills)
    monkeypatch.setattr("time.sleep", waited.append)
    with pytest.raises(RefusedError) as error:
        copy(server, tmp_path, f"gs://{bucket.name}/fills")
    assert "no room" in error.value.args[1] and error.value.args[2] == DISK and not waited


@pytest.mark.parametrize("became", ["replaced", "deleted"])
def test_an_object_that_is_replaced_while_it_is_copied_is_said_at_once(
    server: Between, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, became: str
) -> None:  # N31
    """What was there was told as "No such object"."""
    address = bucket.put("replaced/a.bin", b"1" * 20)
    found = Storage.found

    def then_replaced(*given: Any) -> Any:
        listed = found(*given)
        if became == "replaced":
            bucket.put("replaced/a.bin", b"2" * 20)
        else:
            Storage(server.environ).drop(address, lambda _: None)
        return listed

    monkeypatch.setattr(Storage, "found", then_replaced)
    with pytest.raises(RefusedError) as error:
        copy(server, tmp_path, f"gs://{bucket.name}/replaced")
    said = f"gs://{bucket.name}/replaced: {address} was {became} meanwhile"
    assert error.value.args[1:] == (said, LATER)
    assert not (tmp_path / "inputs").exists()


@pytest.mark.parametrize(
    ("case", "names"),
    [
        ("empty", ["/odd//b"]),
        ("here", ["/odd/./b"]),
        ("above", ["/odd/../../b"]),
        ("slash", ["/a", "//a"]),
        ("itself", ["", "/itself"]),
        ("folder", ["/a", "/a/b"]),
        ("between", ["/a", "/a.b", "/a/b"]),
        ("long", ["/" + "é" * 128]),
    ],
)
def test_a_name_that_no_file_can_have_is_said(
    server: Between, bucket: Bucket, tmp_path: Path, case: str, names: list[str]
) -> None:  # N31
    """Nor can two objects be one file, or one be a file and the folder of another."""
    for name in names:
        bucket.put(f"named/{case}{name}", b"1")
    with pytest.raises(RefusedError, match="has a name that no file can have") as error:
        copy(server, tmp_path, f"gs://{bucket.name}/named/{case}")
    assert error.value.args[2] == AGAIN and not list(tmp_path.iterdir())


def test_the_log_has_a_line_every_few_seconds_and_not_one_for_each_object() -> None:  # N31
    said: list[str] = []
    times = iter([0.0, 1.0, 4.9, 5.0, 6.0, 10.5, 10.6])
    progress = Progress(3_000_000_000, said.append, lambda: next(times))
    for _ in range(6):
        progress.add(500_000_000)
    assert said == [
        "inputs: 1.5 GB of 3.0 GB copied, 300 MB a second",
        "inputs: 2.5 GB of 3.0 GB copied, 238 MB a second",
        "inputs: 3.0 GB of 3.0 GB copied, 283 MB a second",
    ]


def test_a_job_without_inputs_asks_for_nothing(tmp_path: Path) -> None:
    assert copied(tmp_path, {"SLIPWAY_INPUT_DATA": "", "PATH": "gs://x"}) == {} and not list(tmp_path.iterdir())
