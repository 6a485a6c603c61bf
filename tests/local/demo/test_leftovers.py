"""Leftovers of a killed demo: the next one runs through, and `make demo-down` clears all of it. # N4"""

import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from vertex_local.server import daemon

from local.demo.demo import down, play
from local.demo.leftovers import MARK, drop_dead_locks, end, marked
from local.demo.turn import turn
from slipway.base.errors import SlipwayError

pytestmark = pytest.mark.journey

_DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
DEAF = [sys.executable, "-c", _DEAF]


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


def test_children_of_a_killed_demo_are_ended_though_deaf_and_those_of_another_state_folder_stay(tmp_path: Path) -> None:
    code = f"import subprocess, sys; subprocess.run({DEAF!r})"
    parent = start([sys.executable, "-c", code], **{MARK: str(tmp_path)})
    other = start(DEAF, **{MARK: str(tmp_path / "other")})
    try:
        parent.kill()
        parent.wait()
        orphans = marked(tmp_path)
        assert (len(orphans), end(orphans, patience=0.2), marked(tmp_path)) == (1, 1, [])
        assert other.poll() is None
    finally:
        other.kill()


def test_a_dead_holders_lock_goes_and_a_living_ones_stays(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    lock = write_lock(tmp_path, int(dead.stdout), socket.gethostname())
    assert drop_dead_locks(tmp_path, print) == 1
    assert not lock.exists()
    lock = write_lock(tmp_path, os.getpid(), socket.gethostname())
    assert drop_dead_locks(tmp_path, print) == 0
    assert lock.exists()
    before = psutil.Process().create_time() - 60
    os.utime(lock, (before, before))
    assert drop_dead_locks(tmp_path, print) == 1, "its pid is another process's by now"


def test_a_lock_of_another_host_or_one_that_cannot_be_read_stays(tmp_path: Path) -> None:
    lock = write_lock(tmp_path, 1, "elsewhere")
    assert drop_dead_locks(tmp_path, print) == 0
    lock.write_text("{")
    said: list[str] = []
    assert drop_dead_locks(tmp_path, said.append) == 0
    assert said
    assert lock.exists()


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


DOWN = "from local.demo.demo import down; down()"
# Waits where its folder is half cleared until a line comes.
SLOW_DOWN = f"""
from local.demo import demo
clear = demo.daemon.clear
def slowly(folder):
    print("up", flush=True)
    input()
    clear(folder)
demo.daemon.clear = slowly
{DOWN.replace("from local.demo.demo import down; ", "demo.")}
"""


def started_cloud(state: Path) -> None:
    filled(state)
    (state / "cloud.json").unlink()  # of no running cloud


def test_a_second_demo_down_beside_the_first_is_refused_and_the_next_finds_nothing(state: Path) -> None:
    started_cloud(state)
    first = subprocess.Popen(
        [sys.executable, "-c", SLOW_DOWN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout and first.stdout.readline().startswith("local cloud was not running")
    assert first.stdout.readline() == "up\n"
    with pytest.raises(SlipwayError, match="another journey") as refused:
        down()
    assert str(first.pid) in str(refused.value.why)
    with pytest.raises(SlipwayError, match="another journey"):
        play("local")
    assert first.communicate("\n")[0] == (
        "state removed; the engine and the packages stay in their cache outside the tree, packed code in .slipway\n"
    )
    assert not state.exists()
    down()


def test_a_demo_down_that_waits_for_a_lock_whose_folder_goes_makes_it_anew_and_clears_it(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other removed it between the look at it and the lock."""
    started_cloud(state)
    lock = fcntl.flock

    def removed(handle: int, how: int) -> None:
        lock(handle, how)
        if (state / "settings.toml").exists():
            daemon.clear(state)
            state.rmdir()

    monkeypatch.setattr("local.demo.turn.fcntl.flock", removed)
    down()
    assert not state.exists()


def test_many_at_once_leave_nothing_and_no_traceback(state: Path) -> None:
    for _ in range(3):
        started_cloud(state)
        code = "import sys; sys.argv = ['demo', 'down']; from local.demo.__main__ import main; sys.exit(main())"
        several = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        told = [process.communicate() for process in several]
        assert [errors for _, errors in told if "Traceback" in errors] == []
        assert any(process.returncode == 0 for process in several)
        assert not state.exists()
