"""Files that a kill can't truncate, and locks that a kill frees."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_POLL_S = 0.05


class BusyError(Exception):
    """Another process holds the lock."""


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a file in one step, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
    draft.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the file's object, None when there is no such file."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return document


@contextlib.contextmanager
def locked(path: Path, wait_s: float = 0.0, give_up: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a file's lock; the kernel frees it when this process ends, however it ends. Raises BusyError when another
    process still holds it after `wait_s` seconds; `give_up` is called at each look and may raise."""
    until = time.monotonic() + wait_s
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                give_up()
                if time.monotonic() >= until:
                    raise BusyError(str(path)) from None
                time.sleep(_POLL_S)
        yield


def share(path: Path) -> None:
    """Share a file's lock until this process ends; its children do not hold it."""
    fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), fcntl.LOCK_SH)
