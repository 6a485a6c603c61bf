"""`slipway jobs download`: whole files or none, nothing outside of the folder, nothing fetched twice."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.packages.working_tree import read
from slipway.front.cli.jobs.download import _quarters
from slipway.front.cli.terminal.redrawn import transfer
from slipway.google.failures import Call, NoAnswer
from slipway.google.storage import Location, Storage, StoredObject
from slipway.using.jobs import download as module
from slipway.using.jobs.outputs import PARTS, OutputFile
from tests.checkouts.shell import slipway
from tests.slipway.front.cli.stack import Stack

pytestmark = pytest.mark.smoke

MODEL = bytes(range(256)) * 4096
"""1 MiB: several parts."""


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder but the one that has git ignore them."""
    contents = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in contents.items() if Path(name).name != ".gitignore"}


class Broken:
    """A service whose answers break off after their first part, as often as is said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.starts: list[int] = []
        self.times, whole = times, Storage.chunks

        def chunks(storage: Storage, stored: StoredObject, start: int = 0) -> Iterator[bytes]:
            self.starts.append(start)
            for chunk in whole(storage, stored, start):
                yield chunk
                if self.times:
                    self.times -= 1
                    raise NoAnswer(Call("read it"))

        monkeypatch.setattr(Storage, "chunks", chunks)


def test_a_full_disk_is_told_with_its_folder(tmp_path: Path) -> None:
    problem = module._not_written(tmp_path, OSError(28, "No space left on device"))
    assert problem.what == f"can't write into {tmp_path}" and problem.why == "no space left on device"
    full, at = Path("/dev/full"), Location("w", "jobs/x/model")
    output = OutputFile(StoredObject(at, 4, "1", "", None), PurePosixPath("model"))
    storage: Any = SimpleNamespace(chunks=lambda *_: iter([b"1234"]))
    fetching = module._Fetching(storage, tmp_path, [output], overwrite=False)
    (tmp_path / module._part(output)).symlink_to(full)
    fetching._fetch = lambda output, part: full.write_bytes(b"1234")  # type: ignore[method-assign, assignment]
    fetching._work(tmp_path)
    (failure,) = fetching._failures
    assert str(tmp_path) in str(failure)


def test_outputs_are_fetched_once_and_nothing_of_ones_own_is_replaced(stack: Stack) -> None:
    name = stack.ended("hello")
    assert f"{name} has written nothing below gs://w-" in stack.well("jobs", "download", name).err
    outputs = {"metrics.json": b'{"loss": 1}', "logs/events 1": MODEL, "empty": b""}
    for path, content in outputs.items():
        stack.write(quote(f"jobs/{name}/{path}"), content)
    stack.write(f"jobs/{name}/logs/", b"")
    stack.write(f"jobs/{name}2/metrics.json", b"another's")

    done = stack.run("jobs", "download", "hello")
    assert (done.code, done.out) == (0, f"3 files, 1.0 MB, in {name}\n"), done.err
    assert files(stack.folder / name) == outputs
    again = stack.run("jobs", "download", name, "--output", "json").json
    assert again["kind"] == "download" and again["folder"] == name and again["leftOut"] == []
    assert {file["path"]: (file["bytes"], file["fetched"]) for file in again["files"]} == {
        path: (len(content), False) for path, content in outputs.items()
    }

    mine = stack.folder / name / "metrics.json"
    mine.write_bytes(b'{"loss": 0}')
    (stack.folder / name / "empty").unlink()
    refused = stack.run("jobs", "download", name)
    assert refused.code == 2 and refused.out == "" and mine.read_bytes() == b'{"loss": 0}'
    assert f"1 file of {name} differs from" in refused.err and "why: metrics.json\n" in refused.err
    assert not (stack.folder / name / "empty").exists(), "nothing is fetched before all is known to fit"
    replaced = stack.run("jobs", "download", name, "--overwrite")
    assert replaced.out == f"3 files, 1.0 MB, in {name} (1 of them already there)\n" and files(mine.parent) == outputs
    stack.write(f"jobs/{name}/.gitignore", b"*.log\n")
    for _ in range(2):
        stack.well("jobs", "download", name, "out")
        assert (stack.folder / "out" / ".gitignore").read_bytes() == b"*.log\n", "a job's own stays"


def test_no_object_leaves_the_folder_and_what_can_be_no_file_is_said(snapshot: SnapshotAssertion, stack: Stack) -> None:
    name = stack.ended("hello")
    for path in ("kept", "../../evil", "a//b"):
        stack.write(quote(f"jobs/{name}/{path}"), b"1")
    before = set(stack.folder.rglob("*"))
    done = stack.run("jobs", "download", name, "into/here")
    assert done.code == 4 and done.out == snapshot
    assert "2 objects left out of" in done.err and "../../evil: its name leads to" in done.err
    new = {str(path.relative_to(stack.folder)) for path in set(stack.folder.rglob("*")) - before}
    assert new == {"into", "into/here", "into/here/.gitignore", "into/here/kept"}
    (stack.folder / "linked").mkdir()
    (stack.folder / "linked" / "logs").symlink_to(stack.folder)
    stack.write(f"jobs/{name}/logs/events", b"1")
    linked = stack.run("jobs", "download", name, "linked")
    assert linked.code == 2 and "linked/logs is a link" in linked.err and not (stack.folder / "events").exists()
    (stack.folder / "planted").mkdir()
    (stack.folder / "planted" / PARTS).symlink_to(stack.folder / "linked")
    planted = stack.run("jobs", "download", name, "planted")
    assert planted.code == 2 and f"planted/{PARTS} is a link" in planted.err
    blocked = stack.run("jobs", "download", name, "into/here/kept/below")
    assert blocked.code == 2 and "into/here/kept/below can't be made a folder" in blocked.err
    nowhere = stack.run("jobs", "download", name, "")  # A script's variable that nobody set, not the current folder.
    assert nowhere.code == 2 and "it is empty" in nowhere.err and not (stack.folder / "kept").exists()


def test_what_has_arrived_is_not_fetched_again_and_nothing_is_there_by_half(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = stack.ended("hello")
    stack.write(f"jobs/{name}/model", MODEL)
    model, parts = stack.folder / name / "model", stack.folder / name / PARTS
    broken = Broken(monkeypatch, times=2)
    assert stack.run("jobs", "download", name).code == 0 and model.read_bytes() == MODEL
    first, second, third = broken.starts
    assert 0 == first < second < third < len(MODEL) and not parts.exists()

    model.unlink()
    with monkeypatch.context() as interrupting:
        stopped_answers = threading.Event()

        def interrupt(_: int, come: int, __: int) -> None:
            if come:
                raise KeyboardInterrupt

        def stalled(*_: Any) -> Iterator[bytes]:
            yield MODEL[:1000]
            stopped_answers.wait()
            yield MODEL[1000:]

        interrupting.setattr(Storage, "chunks", stalled)
        interrupting.setattr("slipway.front.cli.jobs.download._quarters", lambda: interrupt)
        stopped = stack.run("jobs", "download", name)
    stopped_answers.set()
    for thread in threading.enumerate():
        if thread.daemon and "_work" in thread.name:
            thread.join()
    assert not model.exists(), "what comes after Ctrl-C is nobody's any more"
    assert stopped.code == 130 and f"what has arrived stays in {name}" in stopped.err
    assert f"on: slipway jobs download {name} {name}\n" in stopped.err

    broken.times, broken.starts = 99, []
    monkeypatch.setattr(module, "_FRUITLESS", 0)
    lost = stack.run("jobs", "download", name)
    assert lost.code == 1 and "could not read it" in lost.err and not model.exists()
    (part,) = parts.iterdir()
    assert broken.starts[0] == 1000 < part.stat().st_size < len(MODEL)
    broken.times, there = 0, part.stat().st_size
    part.write_bytes(b"?" * there)
    damaged = stack.run("jobs", "download", name)
    assert damaged.code == 4 and "arrived damaged" in damaged.err and not model.exists()
    assert stack.run("jobs", "download", name).code == 0 and files(model.parent) == {"model": MODEL}


def test_on_a_terminal_there_is_a_bar_and_elsewhere_a_line_for_each_quarter(
    snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    with transfer() as show:
        show(1, 500_000, 2_000_000)
    assert "0.5/2.0 MB" in capsys.readouterr().err
    tell = _quarters()
    for count in (0, 400_000, 500_000, 700_000, 1_900_000, 2_000_000):
        tell(1, count, 2_000_000)
    assert capsys.readouterr().err == snapshot


def test_a_composed_object_is_known_by_its_size_and_time(tmp_path: Path) -> None:
    """The service knows no hash of it."""
    when = datetime(2026, 11, 20, 12, 0, 0, 250_000, tzinfo=UTC)
    output = OutputFile(StoredObject(Location("work", "model"), 3, "1", "", when), PurePosixPath("model"))
    path = tmp_path / "model"
    path.write_bytes(b"abc")
    assert not output.is_at(path)
    os.utime(path, (when.timestamp(),) * 2)
    assert output.is_at(path)


def test_what_is_fetched_is_nobodys_code(stack: Stack) -> None:  # N11
    """Neither in a folder of its own, nor beside the code."""
    name = stack.ended("hello")
    for path in ("metrics.json", "logs/events*", "logs/deep/more"):
        stack.write(quote(f"jobs/{name}/{path}", safe="/"), b"x")
    mine = stack.folder / "mine"
    (mine / "logs").mkdir(parents=True)
    own = {"train.py", "logs/old.txt", ".gitignore"}
    for path in own:
        (mine / path).write_text("*.tmp")
    for dest in ((), (".",)):
        done = slipway(("jobs", "download", name, *dest), stack.env(), mine)
        assert done.code == 0, done.err
    assert len(files(mine)) == 2 + 2 * 3
    assert set(read(mine).files) == own
    ignored = (mine / ".gitignore").read_text().splitlines()
    assert ignored == ["*.tmp", "# fetched by slipway jobs download", r"/logs/deep", r"/logs/events\*", "/metrics.json"]
