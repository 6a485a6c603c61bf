"""Leftovers of a killed demo: the next one runs through, and `make demo-down` clears all of it. # N4"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from vertex_local.server import daemon

from local.demo.demo import down
from local.demo.leftovers import MARK, drop_dead_locks, end, marked, repair_backend
from local.demo.turn import turn
from slipway.base.errors import SlipwayError

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


def start(command: list[str], **environment: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def write_lock(backend: Path, pid: int, host: str) -> Path:
    file = backend / ".pulumi" / "locks" / "organization" / "slipway" / "local" / "a.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"pid": pid, "hostname": host, "username": "ada", "timestamp": "2026-11-20T00:00:00Z"}))
    return file


def test_only_processes_of_this_state_folder_are_ended(tmp_path: Path) -> None:
    ours = start(SLEEP, **{MARK: str(tmp_path)})
    other = start(SLEEP, **{MARK: str(tmp_path / "other")})
    try:
        assert [process.pid for process in marked(tmp_path)] == [ours.pid]
        assert end(marked(tmp_path), patience=1) == 1
        assert marked(tmp_path) == []
        assert other.poll() is None
    finally:
        other.kill()
        ours.kill()


def test_children_of_a_killed_demo_are_found(tmp_path: Path) -> None:
    code = f"import subprocess, sys; subprocess.run({SLEEP!r})"
    parent = start([sys.executable, "-c", code], **{MARK: str(tmp_path)})
    parent.kill()
    parent.wait()
    orphans = marked(tmp_path)
    assert len(orphans) == 1
    end(orphans, patience=1)
    assert marked(tmp_path) == []


def test_whoever_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    process = start([sys.executable, "-c", deaf], **{MARK: str(tmp_path)})
    assert end(marked(tmp_path), patience=0.2) == 1
    assert not psutil.pid_exists(process.pid)


def test_a_dead_holders_lock_goes_and_a_living_ones_stays(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    lock = write_lock(tmp_path, int(dead.stdout), socket.gethostname())
    assert drop_dead_locks(tmp_path, print) == 1
    assert not lock.exists()
    lock = write_lock(tmp_path, os.getpid(), socket.gethostname())
    assert drop_dead_locks(tmp_path, print) == 0
    assert lock.exists()


def test_a_reused_pid_does_not_keep_a_lock_alive(tmp_path: Path) -> None:
    lock = write_lock(tmp_path, os.getpid(), socket.gethostname())
    before = psutil.Process().create_time() - 60
    os.utime(lock, (before, before))
    assert drop_dead_locks(tmp_path, print) == 1


def test_a_lock_of_another_host_or_one_that_cannot_be_read_stays(tmp_path: Path) -> None:
    lock = write_lock(tmp_path, 1, "elsewhere")
    assert drop_dead_locks(tmp_path, print) == 0
    lock.write_text("{")
    said: list[str] = []
    assert drop_dead_locks(tmp_path, said.append) == 0
    assert said
    assert lock.exists()


def test_a_file_that_was_cut_off_in_writing_goes_and_the_state_stays(tmp_path: Path) -> None:
    stacks = tmp_path / ".pulumi" / "stacks" / "slipway"
    stacks.mkdir(parents=True)
    state, whole = stacks / "local.json", stacks / "local.json.bak.attrs"
    state.write_text("{}")
    whole.write_text("{}")
    (stacks / "local.json.attrs").touch()
    (stacks / "local.json.18e9a8f50ffae4a4.tmp").write_text('{"version": 3')
    assert repair_backend(tmp_path) == 1
    assert sorted(stacks.iterdir()) == [state, whole]


@pytest.mark.parametrize(
    "half",
    [
        "stacks/slipway/local.json.attrs",
        "history/slipway/local/local-1.history.json.attrs",
        "locks/organization/slipway/local/b.json.attrs",
    ],
)
@pytest.mark.parametrize(("locked", "repaired"), [("local", 0), ("other", 1)])
def test_only_a_stack_that_nobody_has_locked_is_repaired(tmp_path: Path, half: str, locked: str, repaired: int) -> None:
    lock = tmp_path / ".pulumi" / "locks" / "organization" / "slipway" / locked / "a.json"
    file = tmp_path / ".pulumi" / half
    for path in (lock, file):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert repair_backend(tmp_path) == repaired
    assert file.exists() == (repaired == 0)
    assert lock.exists()


def test_a_lock_that_was_cut_off_in_writing_goes(tmp_path: Path) -> None:
    """The engine counts it as a lock, and says `unexpected end of JSON input` alone."""
    half = tmp_path / ".pulumi" / "locks" / "organization" / "slipway" / "local" / "a.json.18e9a8f50ffae4a4.tmp"
    half.parent.mkdir(parents=True)
    half.touch()
    repair_backend(tmp_path)
    assert not half.exists()


def test_a_second_demo_is_refused_while_the_first_lives_and_not_after_it_was_killed(tmp_path: Path) -> None:
    lock = tmp_path / "demo.lock"
    code = (
        "import time; from pathlib import Path; from local.demo.turn import turn\n"
        f"with turn(Path({str(lock)!r})):\n print('up', flush=True); time.sleep(60)"
    )
    holder = start([sys.executable, "-c", code])
    with pytest.raises(SlipwayError, match=r"another journey"), turn(lock):
        pass
    holder.kill()
    holder.wait()
    with turn(lock):
        pass


# What `make demo-down` clears

_TRASH = ("trash/1f/a.py", "trash/1f/b.py", "trash/2e/a.py")
_STATE = ("cloud.json", "demo.lock", "lock", "logs.sqlite", "logs.sqlite-wal", "serving", "settings.toml", *_TRASH)


class Killed(BaseException):
    """An end as by kill -9, which nothing handles."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home in which `filled` may fill a state folder. No process of a local cloud ever ran in it."""
    monkeypatch.setenv("VERTEX_LOCAL_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("local.demo.demo.daemon.stop", lambda _: (False, 0))
    monkeypatch.setattr("local.demo.demo.marked", lambda _: [])
    return tmp_path / "state"


def filled(state: Path) -> None:
    for name in _STATE:
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("")


def test_wherever_it_is_killed_the_folder_stays_ours_and_the_next_call_goes_on(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 0

    def until_killed(real: Callable[..., None]) -> Callable[..., None]:
        def remove(*args: Any, **kwargs: Any) -> None:
            nonlocal left
            if not left:
                raise Killed
            left -= 1
            real(*args, **kwargs)

        return remove

    removals = len(_STATE) + len({"trash", "trash/1f", "trash/2e", "the folder"})
    for survived in range(removals):
        filled(state)
        left = survived
        with monkeypatch.context() as killing:
            killing.setattr(os, "unlink", until_killed(os.unlink))
            killing.setattr(os, "rmdir", until_killed(os.rmdir))
            with pytest.raises(Killed):
                down()
        assert daemon.foreign(state) == [], f"after {survived} removals"
        down()
        assert not state.exists()


def test_what_somebody_else_deletes_meanwhile_is_as_good_as_deleted(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(state)
    real = os.unlink

    def late(path: Any, **kwargs: Any) -> None:
        monkeypatch.setattr(os, "unlink", real)
        shutil.rmtree(state / "trash" / "1f")
        (state / "serving").unlink()
        real(path, **kwargs)

    monkeypatch.setattr(os, "unlink", late)
    down()
    assert not state.exists()
