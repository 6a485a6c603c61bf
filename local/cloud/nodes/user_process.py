"""The start of user code, in its replica's own view of this machine's files where it is to have one.

`main` runs in that view first: it gives the buckets below /gcs a server, a process beside user code, and becomes user
code.
"""

import contextlib
import os
import select
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from ... import IMPORTED_FROM, PACKAGE
from . import mounts
from . import spec as specs
from .logfile import LogFile
from .spec import ReplicaSpec, UnreadyError

_MAIN = f"import sys; sys.path.insert(0, sys.argv.pop(1)); from {PACKAGE}.cloud.nodes.user_process import main; main()"


class UserProcess:
    """User code, started in the folder `work`. Raises UnreadyError where it can't be."""

    def __init__(self, command: Sequence[str], spec: ReplicaSpec, folder: Path, environ: Mapping[str, str]) -> None:
        self._own_view, self._before = spec.own_view, _last_change()
        self._link, far = socket.socketpair()
        report, reported = os.pipe()
        words = list(command)
        if spec.own_view:
            own = [str(IMPORTED_FROM), str(folder / specs.SPEC), str(reported), str(far.fileno())]
            # Neither packages of this machine nor the job's own variables have a part in it.
            words = [sys.executable, "-I", "-S", "-c", _MAIN, *own, *command]
        try:
            self.popen = subprocess.Popen(
                words,
                cwd=folder / "work",
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                pass_fds=(reported, far.fileno()) if len(words) > len(command) else (),
            )
            os.close(reported)
            with open(report, encoding="utf-8", errors="replace") as failure:  # noqa: PTH123 - a pipe
                if trouble := failure.read():
                    self.popen.wait()
                    raise OSError(trouble)
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument, a variable without a name
            raise UnreadyError(f"{command[0]} can't be run: {error}") from error
        finally:
            far.close()

    def wrote_astray(self) -> bool:
        """Return whether /gcs of this machine was written to while user code ran, which could see it."""
        return not self._own_view and _last_change() != self._before

    def keep(self, most_s: float) -> None:
        """Have kept what user code, which has ended, has written below /gcs."""
        with contextlib.suppress(OSError):  # abandoned, or without buckets
            self._link.send(b"e")
            select.select([self._link], [], [], most_s)

    def abandon(self) -> None:
        """Have nothing more kept of what it writes below /gcs."""
        self._link.close()


def _last_change() -> int:
    """Return when /gcs of this machine was last changed, 0 for one that has buckets."""
    root, found = Path("/", mounts.BUCKETS), 0
    if root.is_mount():
        return 0
    for path in (root, *root.rglob("*")):
        with contextlib.suppress(OSError):
            found = max(found, path.lstat().st_ctime_ns)
    return found


def main() -> NoReturn:
    """Become the command of the arguments; say in a pipe why that can't be."""
    path, report, link, *command = sys.argv[1:]
    reported, end = int(report), socket.socket(fileno=int(link))
    environ = _environ()
    try:
        for number in (reported, end.fileno()):
            os.set_inheritable(number, False)
        spec = specs.read(Path(path))
        device = mounts.enter(spec.mounts, buckets=spec.buckets)
        if device is not None:
            _serve_beside(device, end, spec, Path(path).parent, reported)
        os.execvpe(command[0], command, environ)
    except OSError as error:
        os.write(reported, str(error).encode(errors="replace"))
    os._exit(127)


def _serve_beside(device: int, link: socket.socket, spec: ReplicaSpec, folder: Path, reported: int) -> None:
    """Serve the buckets in a process that is nobody's child but the runner's, which adopts it, and in a group of its
    own, as signals to user code are not for it."""
    if child := os.fork():
        os.close(device)
        os.waitpid(child, 0)
        return
    try:
        if os.fork():
            os._exit(0)
        os.setpgid(0, 0)
        os.close(reported)
        output = os.open(folder / "runner.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for number in (1, 2):
            os.dup2(output, number)
        from .buckets.fuse import Server
        from .buckets.objects import Objects
        from .buckets.tree import Tree

        log = LogFile(folder / specs.LOG)
        tree = Tree(
            Objects(spec.url, spec.identity.token), folder, spec.identity.email, lambda text: log.service(text, "ERROR")
        )
        Server(device, link, tree).serve()
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _environ() -> dict[bytes, bytes]:
    """Return the environment as it was given: Python has put its own choice of a locale into its copy."""
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)
