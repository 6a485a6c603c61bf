"""A file at one moment, and who has it open for writing then."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import signal
import time
from pathlib import Path
from typing import IO, NamedTuple

PROCESSES = "/proc"
QUIET_S = 0.05  # Clocks of file systems tick more often than that: two writes within have two times.
LAST_WRITES_S = 2.0


class Moment(NamedTuple):
    """A file at one moment: as long as these stay the same, so does what is in it."""

    inode: int
    size: int
    #: In ns.
    time: int

    @classmethod
    def of(cls, status: os.stat_result) -> Moment:
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


def late(now: Moment, seconds: float) -> bool:
    """Tell whether a file was written to just before the present."""
    return time.time() - now.time / 1e9 < seconds


def closed(file: IO[bytes]) -> bool:
    """Tell whether nobody has a file open for writing, which is when one can have a lease to read it (Linux).

    Where no process is seen either, as on a Mac, one that has rested for a moment counts as closed.
    """
    try:
        import fcntl

        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # Nobody minds it, where SIGIO would end this process.
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return False
    except (ImportError, AttributeError, OSError):  # no Linux, somebody else's file, a file system without leases
        if Path(PROCESSES, "self").exists():
            return not opened(Path(file.name))
        return not late(Moment.of(os.fstat(file.fileno())), LAST_WRITES_S)
    return True


def written_by(group: int, folder: Path) -> dict[int, set[str]] | None:
    """Return the files of a folder, by their paths there, that each process of a group has open for writing; None where
    no process is seen (other systems than Linux)."""
    if not Path(PROCESSES, "self").exists():
        return None
    writers: dict[int, set[str]] = {}
    for process in Path(PROCESSES).glob("[0-9]*"):
        with contextlib.suppress(OSError):  # a process of somebody else, or one that has ended
            if os.getpgid(int(process.name)) == group:
                writers[int(process.name)] = _written(process, os.path.realpath(folder))
    return writers


def _written(process: Path, folder: str) -> set[str]:
    names = set()
    for entry in (process / "fd").iterdir():
        target = os.readlink(entry)  # noqa: PTH115
        if target.startswith(f"{folder}/") and not _only_read(process, entry.name):
            names.add(target[len(folder) + 1 :])
    return names


def _flags(process: Path, number: str) -> int:
    return int(re.findall(r"^flags:\s*(\d+)", (process / "fdinfo" / number).read_text(), re.M)[0], 8)


def _only_read(process: Path, number: str) -> bool:
    return _flags(process, number) & os.O_ACCMODE == os.O_RDONLY


def opened(path: Path) -> str:
    """Return how a file is open for writing: `write`, `append`, or empty where no process is seen (Linux)."""
    real, modes = os.path.realpath(path), set()
    for entry in glob.iglob(f"{PROCESSES}/[0-9]*/fd/*"):  # noqa: PTH207 (Path.glob takes several times as long)
        with contextlib.suppress(OSError):  # a process of somebody else, or one that has ended
            if os.readlink(entry) == real:  # noqa: PTH115
                process, _, number = entry.rpartition("/fd/")
                flags = _flags(Path(process), number)
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    modes.add("append" if flags & os.O_APPEND else "write")
    return max(modes, default="")
