"""A shell beside a replica's user code: bash on a terminal, with its environment, folder and view (Linux)."""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import termios
import threading
from pathlib import Path

from .. import files
from . import spec as specs

_KEPT = 1 << 18
"""The bytes of output that a terminal keeps."""
_ROWS, _COLUMNS = 40, 160
_VIEWS = {"user": "--user", "mnt": "--mount"}


class Shell:
    """A shell, until it or its replica ends. Raises OSError where none can be started."""

    def __init__(self, folder: Path) -> None:
        """Start a shell in the replica of a `folder`."""
        pid = int((files.read_json(folder / specs.STARTED) or {}).get("pid", 0))
        environ = Path(f"/proc/{pid}/environ")
        if not environ.exists():
            raise OSError("its code has not started yet, has ended, or runs on a system without /proc")
        # HOME, the replica's folder, has the shell ended with the replica.
        pairs = (entry.partition(b"=") for entry in environ.read_bytes().split(b"\0") if entry)
        variables = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        self._terminal, far = os.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        try:
            self._process = subprocess.Popen(
                [*_entering(pid), "bash", "--norc", "-i"],
                cwd=f"/proc/{pid}/cwd",
                env={**variables, "TERM": "dumb", "PS1": r"\w\$ "},
                stdin=far,
                stdout=far,
                stderr=far,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        except OSError:
            os.close(self._terminal)
            raise
        finally:
            os.close(far)
        self._said, self._dropped, self._lock = b"", 0, threading.Lock()
        self._closed, self._closing = False, threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def over(self) -> bool:
        return self._process.poll() is not None

    def type(self, keys: bytes) -> None:
        """Send keys to the terminal."""
        with self._closing, contextlib.suppress(OSError):  # the shell has ended
            if not self._closed:  # Then the number may be another file's.
                os.write(self._terminal, keys)

    def since(self, place: int) -> tuple[bytes, int]:
        """Return the output after a place, of what is kept, and the place after it."""
        with self._lock:
            return self._said[max(place - self._dropped, 0) :], self._dropped + len(self._said)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO, once nobody has the terminal any more
            while said := os.read(self._terminal, 1 << 16):
                with self._lock:
                    whole = self._said + said
                    self._said = whole[-_KEPT:]
                    self._dropped += len(whole) - len(self._said)
        with self._closing:
            os.close(self._terminal)
            self._closed = True
        self._process.wait()


def _entering(pid: int) -> list[str]:
    """Return the command that enters a process's view, none where it has this process's own. Raises OSError."""
    own, its = Path("/proc/self/ns"), Path(f"/proc/{pid}/ns")
    views = [flag for name, flag in _VIEWS.items() if (own / name).readlink() != (its / name).readlink()]
    if views and not shutil.which("nsenter"):
        raise OSError("its view can only be entered with nsenter (of util-linux), which this machine lacks")
    return ["nsenter", "--target", str(pid), *views, "--preserve-credentials", "--wd"] if views else []
