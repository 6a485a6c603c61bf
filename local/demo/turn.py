"""A lock for one journey at a time, which the operating system frees when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slipway.base.errors import SlipwayError


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Hold the lock at `path` while the block runs. Raises SlipwayError when a living journey holds it. A lock whose
    holder was killed is free at once: the kernel drops it with the process, and no child inherits it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise SlipwayError(
                "another journey is running on this state folder",
                why=f"process {holder} holds {path.name}",
                fix="let it finish, or end that process; then run the same command again",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
