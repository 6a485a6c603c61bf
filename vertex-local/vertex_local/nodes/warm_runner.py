"""A process with a runner's imports done, which replicas' runners are forked from: importing was over half of what a
small replica cost. A fork is a runner like any other: it leads a session, writes its own log, and needs nobody."""

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ..program import IMPORTED_FROM, module_command
from . import processes
from . import spec as specs

_POLL_S = 0.01
_PATH_BYTES = 1 << 16


@dataclass(frozen=True)
class Started:
    """A runner that was started, known by its number and its birth, as it is not this process's child."""

    pid: int
    born: str

    @property
    def lives(self) -> bool:
        return bool(self.born) and processes.birth(self.pid) == self.born

    def kill(self) -> None:
        while self.lives:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(_POLL_S)


class WarmRunner:
    """The process, as its user sees it. It is started with the first runner, and ends with its user."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._link: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, folder: Path) -> Started:
        """Start the runner of the replica in the folder. Raises OSError."""
        with self._lock:
            if sys.platform != "linux":
                pid = _launched(folder)  # Other systems' libraries are not made for being forked.
            else:
                try:
                    pid = self._forked(folder)
                except OSError:  # It was killed; a second time is no accident.
                    self._end()
                    pid = self._forked(folder)
        return Started(pid, processes.birth(pid))

    def _forked(self, folder: Path) -> int:
        link = self._link = self._link or self._linked()
        link.send(os.fsencode(folder.absolute()))
        if answer := link.recv(_PATH_BYTES):
            return int(answer)
        raise ConnectionResetError("the process that runners are forked from has ended")

    def _linked(self) -> socket.socket:
        """Start the process, and return a link to it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*module_command(sys.executable, "nodes.warm_runner"), str(theirs.fileno())],
                cwd=IMPORTED_FROM,
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return ours

    def _end(self) -> None:
        if self._process and self._link:
            self._link.close()
            self._process.wait()
        self._link = self._process = None


def _launched(folder: Path) -> int:
    """Start a runner as a process of its own."""
    with (folder / "runner.log").open("ab") as output:
        return subprocess.Popen(
            [*module_command(sys.executable, "nodes.runner"), str(folder / specs.SPEC)],
            cwd=IMPORTED_FROM,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ).pid


def serve(link: socket.socket) -> None:
    """Fork a runner for each folder that is named, and answer with its number, until the link is closed."""
    from . import downloads, metadata_answers, runner  # noqa: F401 - each is needed by some runner
    from .buckets import fuse  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for them.
    gc.freeze()
    while path := link.recv(_PATH_BYTES):
        if pid := os.fork():
            link.send(str(pid).encode())
        else:
            link.close()
            _become_runner(Path(os.fsdecode(path)))


def _become_runner(folder: Path) -> NoReturn:
    from . import runner

    code = 1
    try:
        output = os.open(folder / "runner.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        for number in (1, 2):
            os.dup2(output, number)
        os.close(output)
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.chdir(folder)  # by which whoever stops a dead cloud's jobs finds it
        runner.main(folder / specs.SPEC)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
