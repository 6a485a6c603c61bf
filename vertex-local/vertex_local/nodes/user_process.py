"""The start of user code, in a view of its own where it is to have one, with a server of the buckets below /gcs."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from . import mounts
from . import spec as specs
from .logfile import LogFile
from .spec import ReplicaSpec, UnreadyError


class UserProcess:
    """User code in the folder `work`, its view entered by a fork. Raises UnreadyError where it can't be."""

    def __init__(self, command: Sequence[str], spec: ReplicaSpec, folder: Path, environ: Mapping[str, str]) -> None:
        self._own_view, self._before = spec.own_view, _last_change()
        self._link, far = socket.socketpair()
        report, reported = os.pipe()

        def enter() -> None:
            try:
                _enter(spec, folder, far)
            except OSError as error:
                os.write(reported, str(error).encode(errors="replace"))
                os._exit(127)

        try:
            self.popen = subprocess.Popen(
                command,
                cwd=folder / "work",
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                preexec_fn=enter if spec.own_view else None,
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
    root, latest = Path("/", mounts.BUCKETS), 0
    if root.is_mount():
        return 0
    for path in (root, *root.rglob("*")):
        with contextlib.suppress(OSError):
            latest = max(latest, path.lstat().st_ctime_ns)
    return latest


def _enter(spec: ReplicaSpec, folder: Path, link: socket.socket) -> None:
    """Enter the view, before this process becomes user code, and have the buckets in it served."""
    device = mounts.enter(spec.mounts, buckets=spec.buckets)
    if device is None:
        return
    if child := os.fork():
        os.close(device)
        os.waitpid(child, 0)
    elif os.fork():
        os._exit(0)  # The server is nobody's child but the runner's, which adopts it.
    else:
        _serve(device, link, spec, folder)


def _serve(device: int, link: socket.socket, spec: ReplicaSpec, folder: Path) -> NoReturn:
    """Serve the buckets in a group of its own: no signals to user code, no locks of the runner."""
    try:
        os.setpgid(0, 0)
        for asked in (signal.SIGTERM, signal.SIGINT):
            signal.signal(asked, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as before `Popen`: a cloud that is killed ends no server
        output = os.open(folder / "runner.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for number in (1, 2):
            os.dup2(output, number)
        kept = {0, 1, 2, device, link.fileno()}
        for number in {int(name) for name in os.listdir("/proc/self/fd")} - kept:  # noqa: PTH208
            with contextlib.suppress(OSError):
                os.close(number)
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
