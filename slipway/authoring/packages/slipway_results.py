"""The copier of what a job writes to `$SLIPWAY_OUTPUT`: each file as it was at one moment, in the order of writing.

Nothing is told to whoever writes, so a file is looked at: it is whole where nobody has it open for writing, and kept if
it stays the same while it is copied aside.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from pathlib import Path
from typing import IO, Callable, NamedTuple  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_storage import (
    BLOCK,
    NO_ROOM,
    REPLICA,
    TRIES,
    WRITTEN,
    Body,
    ChangedError,
    Storage,
    StorageError,
)

CHIEF = "workerpool0-0"
EVERY_S = 5.0
QUIET_S = 0.05  # Clocks of file systems tick more often than that: two writes within have two times.
RECENT_S, RESTS_S = 1.0, 30.0
LAST_WRITES_S = 2.0
HALF = "it may be half written"
IN_MEMORY = 8 << 20


def say(text: str) -> None:
    print("slipway: " + text, flush=True)


class HalfError(Exception):
    """A file may be half written, as whoever wrote may have been ended."""


class Moment(NamedTuple):
    """A file at one moment: as long as these stay the same, so does what is in it."""

    inode: int
    size: int
    #: In ns.
    time: int

    @classmethod
    def of(cls, status: os.stat_result) -> Moment:
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


class Results:
    """The files of a folder, and what is kept of them in `output`: the chief's there, others' in a folder of their own.

    `kept` has the moment of each file that an object is of, by its path. `unkept` has the reason why the last version
    of a file is not kept, and since when. `whole` has those that were when the machine gave notice. `ending` tells
    whether whoever writes may have been ended by now.
    """

    def __init__(self, place: Path, output: str, replica: str, storage: Storage) -> None:
        self.place, self.folder, self.output = place, place / "output", output.rstrip("/")
        self.replica, self.storage = replica, storage
        self.uri = self.output if replica == CHIEF else f"{self.output}/replicas/{replica}"
        self.kept: dict[str, Moment] = {}
        self.unkept: dict[str, tuple[float, str]] = {}
        self.seen: dict[str, Moment] = {}
        self.whole: dict[str, Moment] = {}
        self.appended: set[str] = set()
        self.told: set[str] = set()
        self.ending: Callable[[], bool] = lambda: False
        self.folder.mkdir()

    def restore(self) -> list[str]:
        """Put the chief's files into the folder, and then the replica's own; their paths. Raises as Storage.fetch."""
        restored = self.storage.fetch(self.output, self.folder, CHIEF)
        if self.replica != CHIEF:
            restored += self.storage.fetch(self.uri, self.folder, self.replica)
        self.seen = self.files()
        self.kept = dict(self.seen)
        return sorted(set(restored))

    def files(self) -> dict[str, Moment]:
        """Each file, by its path in the folder. A link to one is what it leads to."""
        moments = {}
        for parent, folders, names in os.walk(self.folder):
            for path in (Path(parent, name) for name in names):
                with contextlib.suppress(OSError):  # gone meanwhile, or a link to nothing
                    status = path.stat()
                    if stat.S_ISREG(status.st_mode):
                        moments[path.relative_to(self.folder).as_posix()] = Moment.of(status)
            for link in (path for path in (Path(parent, name) for name in folders) if path.is_symlink()):
                self.tell(f"{link.relative_to(self.folder).as_posix()} leads to a folder: such links are not kept")
        return moments

    def keep(self, sleep: Callable[[float], None] = time.sleep, *, ended: bool = False, killed: bool = False) -> None:
        """Keep what has changed, in the order in which it was written, and drop what was gone at the last look, too.

        `ended`: nobody writes any more. `killed`: whoever wrote was ended by a signal, at any point of a file. `sleep`
        may raise, to end it. Raises StorageError.
        """
        files, before = self.files(), self.seen
        self.seen, since = files, time.monotonic()
        changed = sorted(
            (name for name in files if self.kept.get(name) != files[name]), key=lambda name: files[name][2]
        )
        unkept = {}
        for name in changed:
            sleep(0)
            try:
                why = self.half(name, files[name]) if killed else ""
                why = why or self.keep_one(name, before.get(name), sleep, ended=ended)
            except OSError as error:
                why = str(error)
            except StorageError as error:
                if error.code != 400:
                    raise
                why = str(error)  # No object can have this name.
            if why:
                unkept[name] = (self.unkept.get(name, (since, ""))[0], why)
        self.unkept = unkept
        if unkept if ended else self.ending():
            return  # The machine may go before what takes the place of a deleted file is kept.
        for name in [name for name in self.kept if name not in files and name not in before]:
            self.storage.drop(f"{self.uri}/{name}", sleep)
            del self.kept[name]

    def look(self) -> None:
        """See which files are whole now. What gives notice may end whoever writes, at any point of a file."""
        for name, now in self.files().items():
            if self.kept.get(name) != now:
                with contextlib.suppress(OSError), (self.folder / name).open("rb") as file:
                    if closed(file) and Moment.of(os.fstat(file.fileno())) == now:
                        self.whole[name] = now

    def half(self, name: str, now: Moment) -> str:
        """Why a file may be half of one, whose writer was killed; empty for one that is whole."""
        if name in self.appended or self.whole.get(name) == now or not (late(now) or name in self.unkept):
            return ""
        return HALF + (", its version before is kept" if name in self.kept else "")

    def keep_one(self, name: str, before: Moment | None, sleep: Callable[[float], None], *, ended: bool) -> str:
        """Why a file can't be kept now; empty when it is, and when it is gone. Raises StorageError and OSError."""
        path, why = self.folder / name, ""
        for _ in range(TRIES):
            try:
                with path.open("rb") as file:
                    now = Moment.of(os.fstat(file.fileno()))
                    if abs(time.time() - now.time / 1e9) < RECENT_S:
                        time.sleep(QUIET_S)
                    mode = ""
                    if not (ended or closed(file)):
                        mode, now = opened(path), Moment.of(os.fstat(file.fileno()))
                        # One that changes while its size stays is written in place, and may never be closed.
                        in_place = before is not None and now[:2] == before[:2] and now != before
                        if mode != "append" and not in_place and time.time() - now.time / 1e9 < RESTS_S:
                            why = "it is still open for writing"
                            continue
                    if mode == "append":
                        self.appended.add(name)
                    sure = ended or mode == "append" or self.whole.get(name) == now
                    self.put(name, file, now, sleep, sure=sure, appended=mode == "append")
            except FileNotFoundError:  # It was there to be replaced.
                return ""
            except HalfError:
                return HALF
            except ChangedError as error:
                why = str(error)
                continue
            if not self.kept:
                self.tell(f"keeps the files of $SLIPWAY_OUTPUT in {self.uri}, every {EVERY_S:.0f} s")
            self.kept[name] = now
            return ""
        return why

    def put(
        self, name: str, file: IO[bytes], now: Moment, sleep: Callable[[float], None], *, sure: bool, appended: bool
    ) -> None:
        """Keep a file as it is at this moment. Raises ChangedError for one that did not stay so, HalfError for one
        that may have been left half written where that is not `sure`, and StorageError."""

        def check() -> None:
            if not sure and late(now) and self.ending():
                raise HalfError
            then = Moment.of(os.fstat(file.fileno()))
            if then != now and not (appended and then.size >= now.size):
                raise ChangedError("it changes while it is read")

        copy = self.copy(file, now.size)
        check()
        source, at_last = (file, check) if copy is None else (copy, lambda: None)

        def body(object_name: str) -> Body:
            source.seek(0)
            return Body(object_name, {REPLICA: self.replica, WRITTEN: str(now.time)}, source, now.size, at_last)

        self.storage.keep(f"{self.uri}/{name}", body, sleep)

    def copy(self, file: IO[bytes], size: int) -> IO[bytes] | None:
        """A copy of a file, in which nobody writes; None where the disk has no room for two. Raises ChangedError."""
        try:
            if size > IN_MEMORY and shutil.disk_usage(self.place).free < 2 * size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            made = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(self.place))  # noqa: SIM115 (it goes with its last use)
            left = size
            while left:
                block = file.read(min(BLOCK, left))
                if not block:
                    raise ChangedError("it becomes shorter while it is read")
                made.write(block)
                left -= len(block)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            self.tell("the disk has no room for copies of its files: they are kept from where they are written")
            return None
        return made

    def tell(self, text: str) -> None:
        """Say something once."""
        if text not in self.told:
            self.told.add(text)
            say(text)


def late(now: Moment) -> bool:
    """Tell whether a file was written to just before the present."""
    return time.time() - now.time / 1e9 < LAST_WRITES_S


def closed(file: IO[bytes]) -> bool:
    """Tell whether nobody has a file open for writing, which is when one can have a lease to read it (Linux)."""
    try:
        import fcntl

        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # Nobody minds it, where SIGIO would end this process.
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return False
    except (ImportError, AttributeError, OSError):  # no Linux, somebody else's file, a file system without leases
        return not opened(Path(file.name))
    return True


def opened(path: Path) -> str:
    """Return how a file is open for writing: `write`, `append`, or empty where no process is seen (Linux)."""
    real, modes = os.path.realpath(path), set()
    for entry in glob.iglob("/proc/[0-9]*/fd/*"):  # noqa: PTH207 (Path.glob takes several times as long)
        with contextlib.suppress(OSError):  # a process of somebody else, or one that has ended
            if os.readlink(entry) == real:  # noqa: PTH115
                process, _, number = entry.rpartition("/fd/")
                flags = int(re.findall(r"^flags:\s*(\d+)", Path(process, "fdinfo", number).read_text(), re.M)[0], 8)
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    modes.add("append" if flags & os.O_APPEND else "write")
    return max(modes, default="")
