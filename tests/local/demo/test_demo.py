"""What `make demo-down` clears: the state folder, wherever an earlier call was killed, and what is beside it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local.cloud.server import daemon
from local.demo.demo import down

_TRASH = ("trash/1f/a.py", "trash/1f/b.py", "trash/2e/a.py")
_STATE = ("cloud.json", "demo.lock", "lock", "logs.sqlite", "logs.sqlite-wal", "serving", "settings.toml", *_TRASH)


class Killed(BaseException):
    """As by kill -9: nothing handles it."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where there is a state folder for `filled` to fill. No process of a local cloud ever ran in it."""
    monkeypatch.setenv("SLIPWAY_LOCAL_STATE", str(tmp_path / "state"))
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
