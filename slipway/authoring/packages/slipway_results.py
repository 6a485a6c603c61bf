"""The copier of what a job writes to `$SLIPWAY_OUTPUT`: each file as it was at one moment, in the order of writing.

Nothing is told to whoever writes, so a file is looked at: it is whole where nobody has it open for writing, and kept if
it stays the same while it is copied aside. One that only grows, as a log does, is kept up to its last whole line. One
that is never closed is kept as well, beside its last whole version, and half of one beside all others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Callable, Mapping, NamedTuple  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_files import LAST_WRITES_S, QUIET_S, Moment, closed, late, opened
from slipway.authoring.packages.slipway_growing import Grown, grown
from slipway.authoring.packages.slipway_http import NO_ROOM, TRIES, StorageError
from slipway.authoring.packages.slipway_storage import (
    BLOCK,
    PARTIAL,
    REPLICA,
    STATE,
    WRITTEN,
    Body,
    ChangedError,
    Storage,
    state,
)

CHIEF = "workerpool0-0"
EVERY_S = 5.0
RECENT_S, RESTS_S = 1.0, 30.0
HALF = "it may be half written"
# The states of an object: one that was open for writing, and the last whole version, in this folder of the output.
OPEN, PREVIOUS = "open", "previous"
IN_MEMORY = 8 << 20
WRITE, GROW = OPENED = ("write", "grow")  # Somebody has the file open, and may write anywhere, or only at its end.


def say(text: str) -> None:
    """Print a line of the job's log. If the log can't be written, the job goes on and keeps its exit code."""
    try:
        print("slipway: " + text, flush=True)
    except OSError:
        # The command still has the descriptor. Python would exit with 120 because of what this stream still buffers.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


class Part(NamedTuple):
    """Part of a file that is kept: its first bytes, at a moment, and how it is open then."""

    now: Moment
    size: int
    #: Empty for one that nobody has open for writing, else `append`, or one of OPENED.
    mode: str


class HalfError(Exception):
    """A file may be half written, as whoever wrote may have been ended."""


class Results:
    """The files of a folder, and what is kept of them in `output`: the chief's there, others' in a folder of their own.

    `kept` has the moment of each file that an object is of, by its path. `unkept` has the reason why the last version
    of a file is not kept, and since when. `whole` has those that were when the machine gave notice. `unsure` has the
    files that were open for writing when they were kept, and `previous` the paths of whole versions before these.
    `ending` tells whether whoever writes may have been ended by now.
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
        self.unsure: set[str] = set()
        self.previous: set[str] = set()
        #: The last files could not be kept.
        self.failed = False
        #: Open files that may only grow, each with the number of its last look.
        self.growing: dict[str, tuple[Grown, int]] = {}
        self.looks = 0
        #: Files of which a half is kept beside the whole version.
        self.partial: set[str] = set()
        self.restored: dict[str, Moment] = {}
        self.told: set[str] = set()
        self.ending: Callable[[], bool] = lambda: False
        self.folder.mkdir()

    def restore(self) -> list[str]:
        """Put the chief's files into the folder, and then the replica's own; their paths. Raises as Storage.fetch."""
        found = self.storage.fetch(self.output, self.folder, CHIEF)
        states = _states(found)
        if self.replica != CHIEF:
            found = self.storage.fetch(self.uri, self.folder, self.replica)
            states.update(_states(found))
        self.partial = {whole_of(name) for name, entry in found.items() if state(entry) == PARTIAL}
        self.seen = self.restored = self.files()
        self.kept = dict(self.seen)
        self.unsure = {name for name, special in states.items() if special == OPEN}
        self.previous = {name for name, special in states.items() if special == PREVIOUS}
        for name in sorted(self.unsure):
            if previous(name) in states:
                say(f"{name} was open for writing when it was kept, its last whole version is {previous(name)}")
        return sorted(states)

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
        self.looks += 1
        closed_since = set() if killed else {name for name in self.unsure if files.get(name) != self.restored.get(name)}
        changed = sorted(
            (name for name in files if self.kept.get(name) != files[name] or name in closed_since),
            key=lambda name: files[name].time,
        )
        unkept, halves = {}, list[str]()
        for name in changed:
            sleep(0)
            try:
                why = self.half(name, files[name]) if killed else ""
                why = why or self.keep_one(name, before.get(name), sleep, ended=ended, killed=killed)
                if why and killed:
                    halves.append(name)
            except OSError as error:
                why = str(error)
            except StorageError as error:
                if error.code != 400:
                    raise
                why = str(error)  # No object can have this name.
            if why:
                unkept[name] = (self.unkept.get(name, (since, ""))[0], why)
        self.unkept = unkept
        for name in (name for name in halves if half_of(name) not in files):
            self.keep_half(name, sleep)
        if unkept if ended else self.ending():
            return  # The machine may go before what takes the place of a deleted file is kept.
        for name in [name for name in self.kept if name not in files and name not in before]:
            self.drop(name, sleep)

    def look(self) -> None:
        """See which files are whole now. What gives notice may end whoever writes, at any point of a file."""
        for name, now in self.files().items():
            if self.kept.get(name) != now:
                with contextlib.suppress(OSError), (self.folder / name).open("rb") as file:
                    if closed(file) and Moment.of(os.fstat(file.fileno())) == now:
                        self.whole[name] = now

    def half(self, name: str, now: Moment) -> str:
        """Why a file may be half of one, whose writer was killed; empty for one that is whole."""
        # Within a save there may be pauses: what is older in the place of a whole version was closed at the last look.
        in_place = name in self.kept and self.kept[name].inode == now.inode
        unfinished = late(now, 2 * EVERY_S if in_place else LAST_WRITES_S) or name in self.unkept
        if name in self.appended or self.grows(name) or self.whole.get(name) == now or not unfinished:
            return ""
        return HALF + (", its version before is kept" if name in self.kept else "")

    def grows(self, name: str) -> bool:
        """Tell whether an open file was only added to at the last looks."""
        return name in self.growing and self.growing[name][0].sure

    def keep_one(
        self, name: str, before: Moment | None, sleep: Callable[[float], None], *, ended: bool, killed: bool
    ) -> str:
        """Why a file can't be kept now; empty when it is, and when it is gone. Raises StorageError and OSError."""
        path, why = self.folder / name, ""
        for _ in range(TRIES):
            try:
                with path.open("rb") as file:
                    now = Moment.of(os.fstat(file.fileno()))
                    if abs(time.time() - now.time / 1e9) < RECENT_S:
                        time.sleep(QUIET_S)
                    mode, size = "", now.size
                    if not (ended or closed(file)):
                        if self.kept.get(name) == now:
                            return ""
                        mode, now = opened(path) or WRITE, Moment.of(os.fstat(file.fileno()))
                        size = now.size
                    if mode == WRITE or (killed and self.grows(name)):
                        if whole := self.whole_part(name, file, now):
                            mode, size = GROW, whole
                        elif killed:
                            return HALF
                        elif not self.stays_open(name, now, before):
                            why = "it is still open for writing"
                            continue
                    else:
                        self.growing.pop(name, None)
                    if mode == "append":
                        self.appended.add(name)
                    sure = ended or mode in ("append", GROW) or self.whole.get(name) == now
                    self.put(name, file, Part(now, size, mode), sleep, sure=sure)
            except FileNotFoundError:  # It was there to be replaced.
                return ""
            except HalfError:
                return HALF
            except ChangedError as error:
                why = str(error)
                if mode == WRITE:
                    break  # Its writer is at it, and it may be large.
                continue
            if not self.kept:
                self.tell(f"keeps the files of $SLIPWAY_OUTPUT in {self.uri}, every {EVERY_S:.0f} s")
            self.kept[name] = now
            self.previous.discard(name)  # It is the code's own now.
            if mode in OPENED:
                self.unsure.add(name)
            else:
                self.unsure.discard(name)
                self.drop_previous(name, sleep)
            self.drop_half(name, sleep)
            return ""
        return why

    def whole_part(self, name: str, file: IO[bytes], now: Moment) -> int:
        """Return the bytes that are whole of an open file that only grows, as two looks tell; 0 for another one."""
        before, look = self.growing.pop(name, (None, 0))
        seen = grown(file, name, now, before)
        file.seek(0)
        if seen is None:
            return 0
        if before is not None and look == self.looks:  # Tries of one look are none of their own.
            seen = seen._replace(sure=before.sure)
        self.growing[name] = seen, self.looks
        return seen.whole if seen.sure else 0

    def stays_open(self, name: str, now: Moment, before: Moment | None) -> bool:
        """Tell whether a file that is open for writing may never be closed: it rests, or it is written in place, as its
        size stays, for as long. Its last whole version must have a place."""
        in_place = before is not None and now[:2] == before[:2] and now != before
        since, _ = self.unkept.get(name, (time.monotonic(), ""))
        long = time.time() - now.time / 1e9 >= RESTS_S or (in_place and time.monotonic() - since >= RESTS_S)
        return long and (previous(name) in self.previous or previous(name) not in self.seen)

    def put(self, name: str, file: IO[bytes], part: Part, sleep: Callable[[float], None], *, sure: bool) -> None:
        """Keep a part of a file as it is at this moment, with its last whole version where it is open. Raises
        ChangedError for one that did not stay so, HalfError for one that may have been left half written where that is
        not `sure`, and StorageError."""
        now, size, mode = part

        def check() -> None:
            if not sure and late(now, LAST_WRITES_S) and self.ending():
                raise HalfError
            then = Moment.of(os.fstat(file.fileno()))
            if then != now and not (mode in ("append", GROW) and then.size >= now.size):
                raise ChangedError("it changes while it is read")

        copy = self.copy(file, size)
        check()
        source, at_last = (file, check) if copy is None else (copy, lambda: None)

        described = {REPLICA: self.replica, WRITTEN: str(now.time)}
        if mode in OPENED:
            self.set_aside(name, sleep)
            described = {**described, STATE: OPEN}
        self.send(name, described, source, size, at_last, sleep)

    def send(
        self,
        name: str,
        described: dict[str, str],
        source: IO[bytes],
        size: int,
        at_last: Callable[[], None],
        sleep: Callable[[float], None],
    ) -> None:
        def body(object_name: str) -> Body:
            source.seek(0)
            return Body(object_name, described, source, size, at_last)

        self.storage.keep(f"{self.uri}/{name}", body, sleep)

    def keep_half(self, name: str, sleep: Callable[[float], None]) -> None:
        """Keep beside the whole version what a killed process was writing."""
        since, why = self.unkept[name]
        described = {REPLICA: self.replica, STATE: PARTIAL}
        with contextlib.suppress(OSError), (self.folder / name).open("rb") as file:
            self.send(half_of(name), described, file, os.fstat(file.fileno()).st_size, lambda: None, sleep)
            self.partial.add(name)
            self.unkept[name] = since, f"{why}; as it is, it is kept as {half_of(name)}"

    def drop_half(self, name: str, sleep: Callable[[float], None]) -> None:
        if name in self.partial:
            self.storage.drop(f"{self.uri}/{half_of(name)}", sleep)
            self.partial.discard(name)

    def set_aside(self, name: str, sleep: Callable[[float], None]) -> None:
        """Keep the last whole version elsewhere, as its object will be of one that may not be whole."""
        if name not in self.kept or name in self.unsure:
            return
        described = {REPLICA: self.replica, WRITTEN: str(self.kept[name].time), STATE: PREVIOUS}
        for uri in (self.uri, self.output):  # A replica may have it from the chief.
            if self.storage.copy(f"{uri}/{name}", f"{self.uri}/{previous(name)}", described, sleep):
                self.previous.add(previous(name))
                return

    def drop(self, name: str, sleep: Callable[[float], None]) -> None:
        """Keep nothing any more of a file that is gone."""
        self.storage.drop(f"{self.uri}/{name}", sleep)
        self.kept.pop(name, None)
        self.unsure.discard(name)
        self.drop_previous(name, sleep)
        self.drop_half(name, sleep)

    def drop_previous(self, name: str, sleep: Callable[[float], None]) -> None:
        if previous(name) in self.previous:
            self.storage.drop(f"{self.uri}/{previous(name)}", sleep)
            (self.folder / previous(name)).unlink(missing_ok=True)
            self.kept.pop(previous(name), None)
            self.previous.discard(previous(name))

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


def previous(name: str) -> str:
    """Return where the last whole version of a file is, beside one that may be half written."""
    return f"{PREVIOUS}/{name}"


def half_of(name: str) -> str:
    return f"{name}.{PARTIAL}"


def whole_of(half: str) -> str:
    return half[: -len(half_of(""))]


def _states(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the states of what restarts find, by its path."""
    return {name: special for name, entry in found.items() if (special := state(entry)) != PARTIAL}
