"""A restart finds an output that the job's disk had at one moment, whenever its machine is lost. # X3

Code saves checkpoints in the ways that frameworks have; the machine is lost before each request that keeps them.
Against the storage of the local cloud, with real files.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_results import Results

from .checkpoint_styles import STYLES, Step, link, remove, remove_folder, replace, write
from .conftest import Machine

State = dict[str, str]


class LostError(BaseException):
    """The machine is gone."""


def state_of(folder: Path) -> State:
    """Return the content of each file, and where each link to a folder leads. A link to a file is kept as that file."""
    state = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() and not path.is_file():
            state[name] = f"link to {path.readlink()}"
        elif path.is_file():
            state[name] = path.read_text()
    return state


class Job:
    """Code that takes a step before every second request of its machine, which is lost at one of them."""

    def __init__(self, results: Results, steps: Iterator[Step], lost_at: int) -> None:
        self.results, self.steps, self.lost_at = results, steps, lost_at
        self.requests = 0
        self.states: list[State] = [{}]
        self.lock = threading.Lock()
        self.send = results.storage.send
        self.running = True
        results.storage.send = self.request  # type: ignore[method-assign]

    def request(self, *args: Any, **more: Any) -> Any:
        with self.lock:
            self.requests += 1
            if self.requests >= self.lost_at:
                raise LostError
            if self.requests % 2 == 0:
                self.step()
        return self.send(*args, **more)

    def step(self) -> None:
        step = next(self.steps, None)
        if step is None:
            self.running = False
            return
        step(self.results.folder)
        self.states.append(state_of(self.results.folder))

    def run(self) -> bool:
        """Return whether the machine lives until the end."""
        try:
            while self.running:
                with self.lock:
                    self.step()
                self.results.keep()
            self.results.keep(ended=True)
        except LostError:
            return False
        return True


@pytest.mark.parametrize("style", STYLES)
def test_a_restart_finds_what_the_disk_had_whenever_the_machine_is_lost(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    monkeypatch.setattr("slipway.authoring.packages.slipway_results.QUIET_S", 0)
    root, lives, lost_at = machine.prefix, False, 0
    while not lives:
        lost_at += 2
        machine.prefix = f"{root}{lost_at}/"
        job = Job(machine.results(), STYLES[style](), lost_at)
        lives = job.run()
        again = machine.results()
        again.restore()
        found = state_of(again.folder)
        assert found in job.states, f"lost at request {lost_at}: {found}"
        assert sorted(machine.kept) == sorted(found), "nothing else is left"
    assert found == job.states[-1]
    assert lost_at > 10


def test_a_pass_goes_on_after_its_copies_failed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    results = machine.results()
    for name in ("model", "optimizer", "state"):
        write(name, f"{name} of I")(results.folder)
    results.keep()
    before = state_of(results.folder)
    for name in before:
        write(name, f"{name} of II")(results.folder)

    def denied(*_: object) -> None:
        raise StorageError("HTTP 403: made up", 403)

    with monkeypatch.context() as patch:
        patch.setattr(results.storage, "copy", denied)
        with pytest.raises(StorageError):
            results.keep()
    keep = results.storage.keep

    def lost(uri: str, *more: Any) -> None:
        if uri.endswith("/state"):
            raise LostError
        keep(uri, *more)

    monkeypatch.setattr(results.storage, "keep", lost)
    with pytest.raises(LostError):
        results.keep()
    again = machine.results()
    again.restore()
    assert state_of(again.folder) == before


def test_a_replica_that_starts_while_the_chief_undoes_a_pass_reads_the_output_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    chief, other = machine.results(), machine.results("workerpool1-0")
    for name in ("model", "optimizer"):
        write(name, f"{name} of I")(chief.folder)
    chief.keep()
    chief.pass_.begin((), ("model", "optimizer"), time.sleep)
    read = other.storage.read

    def undone(*args: Any) -> str:
        machine.results().pass_.recover()
        return read(*args)

    monkeypatch.setattr(other.storage, "read", undone)
    assert other.restore() == ["model", "optimizer"]


FILE, FOLDER, LINK = write("last", "model"), write("last/model", "model"), link("last", "model-1")


@pytest.mark.parametrize(
    ("clears", "then"),
    [
        ((FILE, remove("last")), FOLDER),
        ((FOLDER, remove_folder("last")), FILE),
        ((FOLDER, replace("last", "model-1")), LINK),
        ((write("model-1/model", "model"), LINK, remove("last")), FOLDER),
    ],
)
def test_a_restart_finds_what_took_the_place_of_a_file_or_a_folder(
    machine: Machine, clears: Sequence[Step], then: Step
) -> None:
    results = machine.results()
    *before, clear = clears
    for step in before:
        step(results.folder)
    results.keep()
    clear(results.folder)
    then(results.folder)
    results.keep()
    again = machine.results()
    again.restore()
    assert state_of(again.folder) == state_of(results.folder)


def test_a_link_to_a_folder_that_was_empty_makes_room_for_a_folder(machine: Machine) -> None:
    results = machine.results()
    (results.folder / "empty").mkdir()
    link("last", "empty")(results.folder)
    results.keep()
    assert [*machine.kept] == ["last"]
    again = machine.results()
    again.restore()
    remove("last")(again.folder)
    write("last/model", "model")(again.folder)
    again.keep()
    third = machine.results()
    third.restore()
    assert state_of(third.folder) == {"last/model": "model"}


def test_a_link_to_a_link_follows_it(machine: Machine) -> None:
    results = machine.results()
    for step in (
        write("model-1/model", "I"),
        write("model-2/model", "II"),
        link("last", "model-1"),
        link("best", "last"),
    ):
        step(results.folder)
    results.keep()
    link("last", "model-2")(results.folder)
    results.keep()
    again = machine.results()
    again.restore()
    assert (again.folder / "best/model").read_text() == "II"


def test_files_in_slipways_own_folder_are_not_kept_and_said(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    results = machine.results()
    write("model", "model")(results.folder)
    write(".slipway/pass.json", "mine")(results.folder)
    results.keep()
    assert ".slipway in $SLIPWAY_OUTPUT is not kept" in capsys.readouterr().out
    again = machine.results()
    again.restore()
    assert state_of(again.folder) == {"model": "model"}


@pytest.mark.parametrize("text", [b"", b"[1, 2", b"[1]", b'{"added": 1}', b"\xff"])
def test_a_journal_that_is_none_is_an_error_that_names_it(machine: Machine, text: bytes) -> None:
    machine.bucket.put(f"{machine.prefix}.slipway/pass.json", text)
    with pytest.raises(StorageError, match=r"\.slipway/pass\.json can't be read"):
        machine.results().restore()
