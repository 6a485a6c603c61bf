"""A lock for one journey at a time, which the operating system frees when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from slipway.base.errors import SlipwayError


@contextmanager
def turn(path: Path, claim: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock on the folder of `path` while the block runs, which may remove the folder; `path` names the holder.

    `claim` is called once the lock is held and nothing is written yet. Raises its errors, and SlipwayError when a
    living journey holds the lock. One whose holder was killed is free at once: the kernel drops it with the process,
    and no child inherits it.
    """
    handle = _locked(path)
    try:
        claim()
        path.write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        os.close(handle)


def _locked(path: Path) -> int:
    """Return a descriptor of the folder of `path`, with its lock; a folder that was removed meanwhile is made anew."""
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path.parent, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(path.parent.stat(), os.fstat(handle)):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            raise SlipwayError(
                "another journey is running on this state folder",
                why=f"process {_holder(path)} holds {path.parent}",
                fix="let it finish, or end that process; then run the same command again",
            ) from None
        os.close(handle)


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return "unknown"
