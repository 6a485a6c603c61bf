"""Folders to be removed from the disk: out of their places at once, and deleted when there is time.

An environment has thousands of files. A thread that removed them itself would hold up its own work and, in a busy
process, wait for its turn after each file. So a process that does nothing else removes them.
"""

import logging
import shutil
import subprocess
import threading
import uuid
from collections.abc import Iterable
from pathlib import Path

_log = logging.getLogger("vertex_local")
_LOOK_S = 0.05


class Trash:
    """A folder of the state folder's file system. Between `start` and `stop` it is emptied in the background; anything
    left in it then is removed after the next start."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True, mode=0o700)
        self._folder = folder
        self._filled, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="trash", daemon=True)

    def take(self, paths: Iterable[Path]) -> None:
        """Take folders out of their places; missing ones are left out."""
        for path in paths:
            try:
                path.rename(self._folder / uuid.uuid4().hex)
            except FileNotFoundError:
                continue
            except OSError:  # a disk may be too full to move things, and still let them be removed
                shutil.rmtree(path, ignore_errors=True)
        self._filled.set()

    def start(self) -> None:
        self._filled.set()
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        self._filled.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while True:
            self._filled.wait()
            self._filled.clear()
            if self._ending.is_set():
                return
            found = list(self._folder.iterdir())
            if found:
                self._remove(found)

    def _remove(self, found: list[Path]) -> None:
        try:
            command = ("rm", "-rf", "--", *map(str, found))
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
                while child.poll() is None:
                    if self._ending.wait(_LOOK_S):
                        child.terminate()
                        return
                if child.returncode and child.stderr:
                    _log.warning("could not remove all of %s: %s", self._folder, child.stderr.read(2000).strip())
        except OSError as error:  # as when there are no processes left; the next one takes these along
            _log.warning("could not remove %s: %s", self._folder, error)
