"""The local journal of requests, each written down before it is sent, so that a kill can't lose it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from slipway.base.codec import from_json
from slipway.base.errors import SlipwayError
from slipway.base.files import OWN_FOLDER, make_folder, own_folder, write_atomically
from slipway.google.catalog.lookup import checkout
from slipway.google.jobs import VertexJob
from slipway.model.kinds import kind_of_request
from slipway.using.submission.delivery import SendState

VARIABLE = "SLIPWAY_JOURNAL"
"""The variable that names the folder for records."""

_NEWEST = 200
"""The number of entries that are read to find a job that was just sent."""


@dataclass(frozen=True)
class JournalEntry:
    request_id: str
    template: str
    state: SendState
    #: An RFC 3339 time of the last change.
    when: str
    #: The job's resource name, once it is known.
    job: str = ""
    body: Mapping[str, Any] | None = None

    @property
    def asked(self) -> VertexJob | None:
        """The job that the request asks for; None where the entry does not have it."""
        return VertexJob.read(self.body, kind_of_request(self.body)) if self.body else None


@dataclass(frozen=True)
class DamagedEntry(JournalEntry):
    """An entry that can't be read: it may be of a request that was being sent when its file was written."""

    error: SlipwayError | None = None


def state_folder(folder: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder for records: $SLIPWAY_JOURNAL, in the checkout around `folder`, else with the user's state."""
    if chosen := environ.get(VARIABLE, "").strip():
        return folder / chosen
    if root := checkout(folder):
        return root / OWN_FOLDER
    if state := own_folder(environ, "XDG_STATE_HOME", ".local/state"):
        return state
    raise SlipwayError(
        "there is no place to record submissions",
        why="this folder is not in a checkout, and this user has no home folder",
        fix="export XDG_STATE_HOME=/a/folder/of/yours",
    )


def unusable(what: str, file: Path, problem: Exception) -> SlipwayError:
    """Return the error for a journal that can't be written: nothing is sent unless it is recorded."""
    return SlipwayError(
        f"could not record {what}, and nothing is sent unless it is recorded",
        why=f"{file}: {_words(problem)}",
        fix="make room, or make the folder and the file readable and writable, then submit again",
    )


def unreadable(what: str, place: Path | str, problem: Exception) -> SlipwayError:
    """Return the error for a journal that can't be read, where only it tells what was sent."""
    return SlipwayError(
        f"the journal of {what} can't be read",
        why=f"{place}: {_words(problem)}",
        fix="see whether its job is there: slipway jobs list; if not, move that file away, and submit again",
    )


def _words(problem: Exception) -> str:
    return problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)


def move_aside(file: Path) -> None:
    """Give what stands in a journal's place another name, as it may be anybody's. Raises OSError."""
    file.rename(file.with_name(f"{file.name}.{file.stat().st_mtime_ns}"))


def lock(stream: IO[Any], what: str, file: Path) -> None:
    """Make this process the only one that sends `what`; the kernel lets go of the lock when the process dies. Raises
    SlipwayError where another process has it."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A process that let go just now may have removed the file, and the next one made another.
        if not os.path.samestat(os.fstat(stream.fileno()), file.stat()):
            raise BlockingIOError
    except (BlockingIOError, FileNotFoundError) as problem:
        raise SlipwayError(
            f"{what} is being sent by another process or thread",
            why=f"it holds {file}",
            fix="wait for it, or end it, then submit again",
        ) from problem


class SubmissionJournal:
    """A stack's own folder, with a file for each request. Writes are atomic and on disk before they return."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def find(cls, folder: Path, environ: Mapping[str, str], project: str, stack: str) -> SubmissionJournal:
        return cls(state_folder(folder, environ) / "requests" / project / stack)

    def read(self, request_id: str) -> JournalEntry | None:
        """Return the entry, a DamagedEntry where its file makes no sense. Raises SlipwayError for a folder without
        access."""
        file = self._file(request_id)
        try:
            return _entry(from_json(file.read_text(encoding="utf-8")), request_id)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError, RecursionError) as problem:
            error = unreadable(f"request {request_id}", file, problem)
            try:
                when = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
            except OSError:
                raise error from problem
            return DamagedEntry(request_id, "", SendState.SENDING, when, error=error)

    def newest(self) -> list[JournalEntry]:
        """Return the readable entries that were written last, the newest first."""
        files = list[tuple[int, str]]()
        for file in self.folder.glob("*.json"):
            with contextlib.suppress(OSError):  # It was removed meanwhile.
                files.append((file.stat().st_mtime_ns, file.stem))
        newest = [request_id for _, request_id in sorted(files, reverse=True)[:_NEWEST]]
        return [entry for entry in map(self.read, newest) if entry]

    def write(self, entry: JournalEntry, *, durable: bool = True) -> None:
        """Write an entry. Raises SlipwayError when the disk does not take it."""
        file = self._file(entry.request_id)
        try:
            make_folder(file.parent)
            if file.is_dir():
                move_aside(file)
            write_atomically(file, json.dumps(asdict(entry)), mode=0o600, durable=durable)
        except OSError as problem:
            raise unusable(f"request {entry.request_id}", file.parent, problem) from problem

    @contextlib.contextmanager
    def held(self, request_id: str) -> Iterator[None]:
        file, what = self._file(request_id).with_suffix(".lock"), f"request {request_id}"
        try:
            make_folder(file.parent)
            stream = file.open("a")
        except OSError as problem:
            raise unusable(what, file, problem) from problem
        with stream:
            lock(stream, what, file)
            try:
                yield
            finally:
                # The file is removed before the lock is freed: another process that opened it meanwhile was refused by
                # the lock.
                with contextlib.suppress(OSError):
                    file.unlink()

    def free(self, request_id: str) -> bool:
        try:
            with self.held(request_id):
                return True
        except SlipwayError:
            return False

    def _file(self, request_id: str) -> Path:
        return self.folder / f"{request_id}.json"


def _entry(body: Any, request_id: str) -> JournalEntry:
    """Return an entry from its JSON. Raises ValueError, TypeError and LookupError for what is none of this request."""
    entry = JournalEntry(**{**body, "state": SendState(body["state"])})
    if datetime.fromisoformat(entry.when).tzinfo is None:
        raise ValueError(f"{entry.when} has no time zone")
    texts, body_fits = (entry.template, entry.job), isinstance(entry.body, dict | None)
    if entry.request_id != request_id or not (body_fits and all(isinstance(text, str) for text in texts)):
        raise ValueError("it is no entry of this request")
    return entry
