"""Folders to be removed from the disk: out of their places at once, and deleted when there is time.

An environment has thousands of files. A thread that removed them itself would hold up its own work and, in a busy
process, wait for its turn after each file. So a process that does nothing else removes them.
"""

import contextlib
import shutil
import subprocess
import threading
import uuid
from collections.abc import Iterable
from pathlib import Path


class Trash:
    """A folder on the state folder's disk, emptied between `start` and `stop`: what is taken goes at once or, while
    others are being removed, with the next; anything left goes after the next start."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True, mode=0o700)
        self._folder, self._lock, self._open = folder, threading.Lock(), False
        self._remover: subprocess.Popen[bytes] | None = None

    def take(self, paths: Iterable[Path]) -> None:
        """Take folders out of their places; missing ones are left out."""
        for path in paths:
            try:
                path.rename(self._folder / uuid.uuid4().hex)
            except FileNotFoundError:
                continue
            except OSError:  # a disk may be too full to move things, and still let them be removed
                shutil.rmtree(path, ignore_errors=True)
        self._empty()

    def start(self) -> None:
        self._open = True
        self._empty()

    def stop(self) -> None:
        with self._lock:
            self._open = False
            if self._remover is not None:
                self._remover.terminate()
                self._remover.wait()

    def _empty(self) -> None:
        with self._lock:
            busy = self._remover is not None and self._remover.poll() is None
            if not self._open or busy:
                return
            with contextlib.suppress(OSError):  # as when there are no processes left; the next take tries again
                if paths := [str(path) for path in self._folder.iterdir()]:
                    self._remover = subprocess.Popen(("rm", "-rf", "--", *paths), stdin=subprocess.DEVNULL)
