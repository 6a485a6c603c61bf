"""The copier of what a job writes to `$SLIPWAY_OUTPUT`: each file as it was at one moment, in the order of writing.

Nothing is told to whoever writes, so a file is looked at: it is whole where nobody has it open for writing, and kept if
it stays the same while it is copied aside. One that only grows, as a log does, is kept up to its last whole line. One
that is never closed is kept as well, beside its last whole version, and half of one beside all others.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path, PurePosixPath
from typing import IO, Any, Callable, Collection, Iterable, Mapping, NamedTuple, Sequence  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_files import LAST_WRITES_S, QUIET_S, Moment, closed, late, opened
from slipway.authoring.packages.slipway_growing import Grown, grown
from slipway.authoring.packages.slipway_http import NO_ROOM, TRIES, StorageError
from slipway.authoring.packages.slipway_pass import Pass, journal_of, visible
from slipway.authoring.packages.slipway_storage import (
    APART,
    BLOCK,
    LINK,
    PARTIAL,
    REPLICA,
    STATE,
    WRITTEN,
    Body,
    ChangedError,
    Storage,
    at_once,
    object_name,
    state,
)

CHIEF = "workerpool0-0"
EVERY_S = 5.0
RECENT_S = 1.0
RESTS_S = 30.0
PROGRESS_S = 10.0
#: How often what was renamed or replaced while it was sent is sent again within a pass.
ROUNDS = 3
#: How many calls a pass stays open for files that the code has deleted and may write again.
WAITS = 3
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


class StillOpenError(Exception):
    """Somebody writes to a file."""


class HalfError(Exception):
    """A file may be half written, as whoever wrote may have been ended."""


class Results:
    """The files of a folder, and what is kept of them in `output`: the chief's there, others' in a folder of their own.

    `kept` has the moment of each file that an object is of, by its path, and `own` the paths that this replica has an
    object of. `unkept` has the reason why the last version of a file is not kept, and since when. `whole` has those
    that were when the machine gave notice. `unsure` has the files that were open for writing when they were kept, and
    `previous` the paths of whole versions before these. `ending` returns whether whoever writes may have been ended by
    now, and `suspects` has the files that a killed process had open, or is None if that is unknown.
    """

    def __init__(self, place: Path, output: str, replica: str, storage: Storage) -> None:
        self.place, self.folder, self.output = place, place / "output", output.rstrip("/")
        self.replica, self.storage = replica, storage
        self.uri = self.output if replica == CHIEF else f"{self.output}/replicas/{replica}"
        self.pass_ = Pass(self.uri, replica, storage)
        self.kept: dict[str, Moment] = {}
        self.own: set[str] = set()
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
        #: Objects that are deleted with the pass: whole versions and halves beside a file that is whole now.
        self.unneeded: set[str] = set()
        self.waits = 0
        self.restored: dict[str, Moment] = {}
        self.suspects: set[str] | None = None
        self.said: set[str] = set()
        self.ending: Callable[[], bool] = lambda: False
        self.large = threading.Lock()
        self.folder.mkdir()

    def restore(self) -> list[str]:
        """Put the chief's files into the folder, and then the replica's own; their paths. Raises as Storage.fetch."""
        self.pass_.recover()
        found = self.fetch(self.output, CHIEF)
        states = _states(found)
        self.own = set(found)
        if self.replica != CHIEF:
            found = self.fetch(self.uri, self.replica)
            states.update(_states(found))
            self.own = set(found)
        self.partial = {whole_of(name) for name, entry in found.items() if state(entry) == PARTIAL}
        self.seen = self.restored = self.files()
        # A link to a folder that was empty leads to nothing now: it is deleted, unless the code creates the folder.
        links = [name for name, entry in found.items() if entry.get("metadata", {}).get(LINK)]
        self.kept = {**dict.fromkeys(links, Moment(0, 0, 0)), **self.seen}
        self.unsure = {name for name, special in states.items() if special == OPEN}
        self.previous = {name for name, special in states.items() if special == PREVIOUS}
        for name in sorted(self.unsure):
            if previous(name) in states:
                say(f"{name} was open for writing when it was kept, its last whole version is {previous(name)}")
        return sorted(states)

    def fetch(self, uri: str, replica: str) -> dict[str, Any]:
        """Put the files into the folder that a replica has kept below `uri`, and return their objects by path."""

        def view(found: dict[str, Any]) -> dict[str, Any]:
            return visible(found, lambda: journal_of(uri, self.storage))

        found = self.storage.fetch(uri, self.folder, replica, view)
        for name, entry in found.items():
            if target := entry.get("metadata", {}).get(LINK):
                (self.folder / name).unlink()
                (self.folder / name).symlink_to(urllib.parse.unquote(target))
        return found

    def files(self) -> dict[str, Moment]:
        """Each file, by its path in the folder. A link to a file is what it leads to, one to a folder is itself."""
        moments = {}
        for parent, folders, names in os.walk(self.folder):
            if Path(parent) == self.folder and APART in (*folders, *names):
                self.say_once(f"{APART} in $SLIPWAY_OUTPUT is not kept: Slipway has its own files there in the bucket")
                folders[:], names[:] = ([name for name in found if name != APART] for found in (folders, names))
            for path in (Path(parent, name) for name in names):
                with contextlib.suppress(OSError):  # gone meanwhile, or a link to nothing
                    status = path.stat()
                    if stat.S_ISREG(status.st_mode):
                        moments[self.path_of(path)] = Moment.of(status)
            for link in (path for path in (Path(parent, name) for name in folders) if path.is_symlink()):
                if self.target(link):
                    with contextlib.suppress(OSError):
                        moments[self.path_of(link)] = Moment.of(link.lstat())
                else:
                    self.say_once(f"{self.path_of(link)} leads to a folder elsewhere: such links are not kept")
        return moments

    def path_of(self, place: Path) -> str:
        return place.relative_to(self.folder).as_posix()

    def target(self, link: Path) -> str:
        """Return where a link to a folder leads, as seen from its own folder; empty if that is not in the output."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            inner = link.resolve().relative_to(self.folder.resolve())
            place = self.folder / inner
            # A link to another link stays one, as that one may lead elsewhere later.
            next_ = Path(os.path.normpath(link.parent / os.readlink(link)))  # noqa: PTH115
            if self.folder in next_.parents and next_.resolve() == place.resolve():
                place = next_
            return os.path.relpath(place, link.parent)
        return ""

    def keep(self, sleep: Callable[[float], None] = time.sleep, *, ended: bool = False, killed: bool = False) -> None:
        """Send what has changed, and delete what the code has deleted or renamed, in one pass: after a lost machine all
        of it is there, or nothing.

        While the code runs, a file that it only deletes is deleted at the next call, as it may be about to be replaced;
        the pass stays open until then, for a few calls at most. `ended`: nobody writes any more. `killed`: whoever
        wrote was ended by a signal, at any point of a file. `sleep` may raise, to end it. Raises StorageError.
        """
        if self.suspects is not None and not self.suspects:
            killed = False  # Nobody who was killed was writing.
        earlier = self.seen
        for _ in range(ROUNDS):
            before, files = self.seen, self.files()
            self.seen = files
            self.looks += 1
            changed = self.changed(files, killed=killed)
            folders = self.folders(changed)
            self.begin_pass(changed, files, sleep)
            self.send_changed(changed, before, sleep, ended=ended, killed=killed)
            if ended or self.unchanged(changed):
                break
        if not ended and self.folders(changed) != folders:
            return  # Half of a renamed folder would be kept. The pass stays open until the next call.
        if killed:
            self.keep_halves(sleep)
        deleted = self.deleted(earlier, ended=ended, killed=killed)
        if not (ended or self.ending()) and self.awaits_files(deleted):
            return
        for name in deleted:
            self.unneeded.update(self.forget(name))
        self.pass_.delete(self.unneeded)
        self.unneeded.clear()
        self.pass_.end(sleep)

    def changed(self, files: Mapping[str, Moment], *, killed: bool) -> list[str]:
        """Return the files that are to be sent, in the order in which they were written."""
        closed_since: set[str] = set()
        if not killed:
            closed_since = {name for name in self.unsure if files.get(name) != self.restored.get(name)}
        names = [name for name in files if self.kept.get(name) != files[name] or name in closed_since]
        return sorted(names, key=lambda name: files[name].time)

    def folders(self, names: Iterable[str]) -> dict[Path, int]:
        """Return the inodes of the folders of these files; 0 for one that doesn't exist."""
        inodes: dict[Path, int] = {}
        for parent in {parent for name in names for parent in Path(name).parents}:
            inodes[parent] = 0
            with contextlib.suppress(OSError):
                inodes[parent] = (self.folder / parent).stat().st_ino
        return inodes

    def unchanged(self, names: Iterable[str]) -> bool:
        """Return whether these files are still as they were when the folder was read, but for growth and what can't be
        kept."""
        for name in names:
            if name in self.unkept or name in self.appended or name in self.growing:
                continue
            try:
                status = self.status(name)
            except OSError:
                return False
            if Moment.of(status) != self.seen[name]:
                return False
        return True

    def status(self, name: str) -> os.stat_result:
        path = self.folder / name
        return path.lstat() if path.is_dir() else path.stat()

    def begin_pass(self, changed: Sequence[str], files: Mapping[str, Moment], sleep: Callable[[float], None]) -> None:
        """Open a pass unless one request does all: an object changes as a whole."""
        gone = any(name not in files for name in self.kept)
        single = len(changed) == 1 and not gone and not self.pass_.is_pending
        if single or not changed:
            return
        added = [name for name in changed if name not in self.own]
        replaced = [name for name in changed if name in self.own]
        set_aside = [previous(name) for name in replaced if previous(name) not in self.previous]
        self.pass_.begin([*added, *set_aside], replaced, sleep)

    def send_changed(
        self,
        changed: Sequence[str],
        before: Mapping[str, Moment],
        sleep: Callable[[float], None],
        *,
        ended: bool,
        killed: bool,
    ) -> None:
        """Send files, several at the same time, and record in `unkept` those that can't be kept now, and why."""
        since = due = time.monotonic()
        sent = 0

        def send(name: str) -> str:
            nonlocal due, sent
            sleep(0)
            why = self.problem(name, before.get(name), sleep, ended=ended, killed=killed)
            sent += 1
            if time.monotonic() - due > PROGRESS_S:
                due = time.monotonic()
                say(f"keeping the files of $SLIPWAY_OUTPUT: {sent} of {len(changed)} sent")
            return why

        reasons = dict(zip(changed, at_once(send, changed)))  # noqa: B905 (Python 3.8)
        self.unkept = {name: (self.unkept.get(name, (since, ""))[0], why) for name, why in reasons.items() if why}

    def problem(
        self, name: str, before: Moment | None, sleep: Callable[[float], None], *, ended: bool, killed: bool
    ) -> str:
        """Send a file. Return why it can't be kept now, empty if it is. Raises StorageError."""
        if self.suspects is not None and name not in self.suspects:
            killed = False  # Its writer ended by itself.
        try:
            if killed and (why := self.half(name, self.seen[name])):
                return why
            if (self.folder / name).is_dir():
                return self.keep_link(name, sleep)
            return self.keep_one(name, before, sleep, ended=ended, killed=killed)
        except OSError as error:
            return str(error)
        except StorageError as error:
            if error.code != 400:
                raise
            return str(error)

    def keep_link(self, name: str, sleep: Callable[[float], None]) -> str:
        """Keep a link to a folder as an empty object that names the folder. Return why it can't be kept."""
        now = Moment.of((self.folder / name).lstat())
        described = {REPLICA: self.replica, LINK: urllib.parse.quote(self.target(self.folder / name))}
        self.send(name, described, io.BytesIO(), 0, lambda: None, sleep)
        self.record(name, Part(now, 0, ""))
        return ""

    def deleted(self, earlier: Mapping[str, Moment], *, ended: bool, killed: bool) -> list[str]:
        """Return the files that are to be deleted from the output now."""
        here = {name: moment for name, moment in self.seen.items() if self.kept.get(name) == moment}
        moments = {*here.values()}
        gone = [name for name in self.kept if name not in self.seen]
        # One that was sent in an earlier round of this pass was never part of the output.
        unneeded = displaced(gone, here) | self.pass_.added
        immediately = [name for name in gone if self.kept[name] in moments or name in unneeded]
        if self.unkept if ended else self.ending():
            return immediately  # The machine may go before what takes the place of a deleted file is kept.
        if ended and not killed:
            return gone
        return [name for name in gone if name in immediately or name not in earlier]

    def awaits_files(self, deleted: Collection[str]) -> bool:
        """Return whether the open pass would mix new files with older ones that the code has deleted and may write
        again."""
        waiting = self.pass_.is_open and any(name not in self.seen and name not in deleted for name in self.kept)
        self.waits = self.waits + 1 if waiting else 0
        if self.waits <= WAITS:
            return waiting
        self.waits = 0
        return False

    def forget(self, name: str) -> list[str]:
        """Return the objects of a file that is deleted, and remove it from all records."""
        objects = [name]
        if previous(name) in self.previous:
            objects.append(self.drop_previous(name))
        if name in self.partial:
            objects.append(half_of(name))
        self.kept.pop(name, None)
        self.own.discard(name)
        self.unsure.discard(name)
        self.partial.discard(name)
        return objects

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
        """Return why a file can't be kept now; empty if it is kept, or gone. Raises StorageError and OSError."""
        why = ""
        for _ in range(TRIES):
            part = None
            try:
                with (self.folder / name).open("rb") as file:
                    part = self.part(name, file, before, ended=ended, killed=killed)
                    if part is None:
                        return ""
                    sure = ended or part.mode in ("append", GROW) or self.whole.get(name) == part.now
                    self.put(name, file, part, sleep, sure=sure)
            except FileNotFoundError:  # It was there to be replaced.
                return ""
            except HalfError:
                return HALF
            except StillOpenError:
                why = "it is still open for writing"
            except ChangedError as error:
                why = str(error)
                if part and part.mode == WRITE:
                    break  # Its writer is at it, and it may be large.
            else:
                self.record(name, part)
                return ""
        return why

    def part(self, name: str, file: IO[bytes], before: Moment | None, *, ended: bool, killed: bool) -> Part | None:
        """Return the part of a file that can be kept now; None if it is kept already. Raises HalfError, StillOpenError
        and OSError."""
        now, mode = Moment.of(os.fstat(file.fileno())), ""
        if not ended and abs(time.time() - now.time / 1e9) < RECENT_S:
            time.sleep(QUIET_S)
        if not (ended or closed(file)):
            if self.kept.get(name) == now:
                return None
            mode = opened(self.folder / name) or WRITE
            now = Moment.of(os.fstat(file.fileno()))
        if mode == WRITE or (killed and self.grows(name)):
            if whole := self.whole_part(name, file, now):
                return Part(now, whole, GROW)
            if killed:
                raise HalfError
            if not self.stays_open(name, now, before):
                raise StillOpenError
            return Part(now, now.size, mode)
        self.growing.pop(name, None)
        if mode == "append":
            self.appended.add(name)
        return Part(now, now.size, mode)

    def record(self, name: str, part: Part) -> None:
        """Record that a part of a file is kept."""
        if not self.kept:
            self.say_once(f"keeps the files of $SLIPWAY_OUTPUT in {self.uri}, every {EVERY_S:.0f} s")
        self.kept[name] = part.now
        self.own.add(name)
        self.previous.discard(name)  # It is the code's own now.
        self.unneeded.discard(name)
        if part.mode in OPENED:
            self.unsure.add(name)
        else:
            self.unsure.discard(name)
            if previous(name) in self.previous:
                self.unneeded.add(self.drop_previous(name))
        if name in self.partial:
            self.partial.discard(name)
            self.unneeded.add(half_of(name))

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

        with self.large if size > IN_MEMORY else contextlib.nullcontext():
            self.put_copy(name, file, part, check, sleep)

    def put_copy(
        self, name: str, file: IO[bytes], part: Part, check: Callable[[], None], sleep: Callable[[float], None]
    ) -> None:
        now, size, mode = part
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

        object_, recorded = object_name(name)
        described = {**described, **recorded}
        self.storage.keep(f"{self.uri}/{object_}", body, sleep)

    def keep_halves(self, sleep: Callable[[float], None]) -> None:
        for name in list(self.unkept):
            self.keep_half(name, sleep)

    def keep_half(self, name: str, sleep: Callable[[float], None]) -> None:
        """Keep beside the whole version what a killed process was writing."""
        if half_of(name) in self.seen:
            return
        since, why = self.unkept[name]
        described = {REPLICA: self.replica, STATE: PARTIAL}
        with contextlib.suppress(OSError), (self.folder / name).open("rb") as file:
            self.send(half_of(name), described, file, os.fstat(file.fileno()).st_size, lambda: None, sleep)
            self.partial.add(name)
            self.unkept[name] = since, f"{why}; as it is, it is kept as {half_of(name)}"

    def set_aside(self, name: str, sleep: Callable[[float], None]) -> None:
        """Keep the last whole version elsewhere, as its object will be of one that may not be whole."""
        if name not in self.kept or name in self.unsure:
            return
        described = {REPLICA: self.replica, WRITTEN: str(self.kept[name].time), STATE: PREVIOUS}
        for uri in (self.uri, self.output):  # A replica may have it from the chief.
            described_ = {**described, **object_name(previous(name))[1]}
            source, target = f"{uri}/{object_name(name)[0]}", f"{self.uri}/{object_name(previous(name))[0]}"
            if self.storage.copy(source, target, described_, sleep):
                self.previous.add(previous(name))
                return

    def drop_previous(self, name: str) -> str:
        """Delete the last whole version of a file from the folder, and return its object."""
        (self.folder / previous(name)).unlink(missing_ok=True)
        self.kept.pop(previous(name), None)
        self.own.discard(previous(name))
        self.previous.discard(previous(name))
        return previous(name)

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
            self.say_once("the disk has no room for copies of its files: they are kept from where they are written")
            return None
        return made

    def say_once(self, text: str) -> None:
        """Say something once."""
        if text not in self.said:
            self.said.add(text)
            say(text)


def previous(name: str) -> str:
    """Return where the last whole version of a file is, beside one that may be half written."""
    return f"{PREVIOUS}/{name}"


def displaced(gone: Collection[str], here: Collection[str]) -> set[str]:
    """Return the files that are gone and whose place has been taken: by a folder with files that are here, or by a file
    or a link that is here and was a folder. No folder can have both."""
    folders = {str(parent) for name in here for parent in PurePosixPath(name).parents}
    return {
        name for name in gone if name in folders or any(str(parent) in here for parent in PurePosixPath(name).parents)
    }


def half_of(name: str) -> str:
    return f"{name}.{PARTIAL}"


def whole_of(half: str) -> str:
    return half[: -len(half_of(""))]


def _states(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the states of what restarts find, by its path."""
    return {name: special for name, entry in found.items() if (special := state(entry)) != PARTIAL}
