"""The local journal of requests: what was about to be sent, written before it is, so that a kill can't forget it; and
which submissions were interrupted while they waited, so that the same command resumes them and makes no second
run.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from slipway.catalog.selection import checkout
from slipway.errors import SlipwayError
from slipway.files import write_atomically


class EntryState(StrEnum):
    SENDING = "sending"
    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True)
class JournalEntry:
    """One request. `job` is the resource name once it is known, `when` an RFC 3339 time of the last change."""

    request_id: str
    template: str
    state: EntryState
    when: str
    job: str = ""
    body: Mapping[str, Any] | None = None


def state_folder(folder: Path, environ: Mapping[str, str]) -> Path:
    """Where submissions are recorded: in the checkout that `folder` is in, else with the user's state."""
    root = checkout(folder)
    if root:
        return root / ".slipway"
    state = Path(environ.get("XDG_STATE_HOME", "").strip())
    if not state.is_absolute():  # Which the standard says to ignore, as it means another folder each time.
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError as problem:
            raise SlipwayError(
                "there is no place to record submissions",
                why="this folder is not in a checkout, and this user has no home folder",
                fix="export XDG_STATE_HOME=/a/folder/of/yours",
            ) from problem
    return state / "slipway"


class SubmissionJournal:
    """One file per request in a folder of the stack's own. Writes are atomic and on disk before they return."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def find(cls, folder: Path, environ: Mapping[str, str], project: str, stack: str) -> SubmissionJournal:
        """In the checkout that `folder` is in, else among the user's state files."""
        return cls(state_folder(folder, environ) / "requests" / project / stack)

    def read(self, request_id: str) -> JournalEntry | None:
        """The entry, or None when there is none. A half-written one can't be: see `write`."""
        file = self._file(request_id)
        try:
            body = json.loads(file.read_text(encoding="utf-8"))
            if datetime.fromisoformat(body["when"]).tzinfo is None:
                raise ValueError(f"{body['when']} has no time zone")
            return JournalEntry(**{**body, "state": EntryState(body["state"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise SlipwayError(
                f"the journal of request {request_id} can't be read",
                why=f"{file}: {problem}",
                fix="see whether the job is there (slipway jobs list), then use another request id",
            ) from problem

    def write(self, entry: JournalEntry, *, durable: bool = True) -> None:
        """Raises SlipwayError when the disk does not take it: nothing may be sent unless it is recorded."""
        _record(self._file(entry.request_id), asdict(entry), f"request {entry.request_id}", durable=durable)

    @contextlib.contextmanager
    def held(self, request_id: str) -> Iterator[None]:
        """One process at a time per request. The kernel lets go of it when the holder dies."""
        file = self._file(request_id).with_suffix(".lock")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            stream = file.open("a")
        except OSError as problem:
            raise SlipwayError(
                f"could not lock request {request_id}",
                why=f"{file}: {problem.strerror or problem}",
                fix="make room or make the folder writable, then submit it again",
            ) from problem
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # One that let go between the two lines above has taken the file away, and the next made another.
                if not os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                    raise BlockingIOError
            except (BlockingIOError, FileNotFoundError) as problem:
                raise SlipwayError(
                    f"request {request_id} is being sent by another process or thread",
                    why=f"it holds {file}",
                    fix="wait for it, then submit it again",
                ) from problem
            try:
                yield
            finally:
                # Before letting go: whoever opened this file meanwhile has been turned away by the lock on it.
                with contextlib.suppress(OSError):
                    file.unlink()

    def free(self, request_id: str) -> bool:
        """Whether no process holds it now."""
        try:
            with self.held(request_id):
                return True
        except SlipwayError:
            return False

    def _file(self, request_id: str) -> Path:
        return self.folder / f"{request_id}.json"


_SUFFIX = ".waiting"


@dataclass(frozen=True)
class InterruptedSubmission:
    """`when` it began, RFC 3339."""

    request_id: str
    when: str


class InterruptedSubmissions:
    """One small file for each submission that waits in the foreground, beside the journal's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, words: Sequence[str], request_id: str, when: str) -> None:
        """On the disk before it returns, as it must be before anything is sent. Raises SlipwayError."""
        body = {"command": digest(words), "when": when}
        _record(self._file(request_id), body, f"that {request_id} waits")

    def has(self, request_id: str) -> bool:
        return self._file(request_id).exists()

    def end(self, request_id: str) -> None:
        """Forgets it. A file that stays only makes the same command look once more."""
        with contextlib.suppress(OSError):
            self._file(request_id).unlink()

    def find(self, words: Sequence[str]) -> tuple[InterruptedSubmission, ...]:
        """The unfinished ones of the same command, oldest first. A file that can't be read is left out."""
        wanted, found = digest(words), []
        for file in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                body = json.loads(file.read_text(encoding="utf-8"))
                if body["command"] == wanted:
                    found.append(InterruptedSubmission(file.name.removesuffix(_SUFFIX), str(body["when"])))
        return tuple(sorted(found, key=lambda one: (one.when, one.request_id)))

    def _file(self, request_id: str) -> Path:
        return self._folder / f"{request_id}{_SUFFIX}"


def _record(file: Path, body: Mapping[str, Any], what: str, *, durable: bool = True) -> None:
    try:
        write_atomically(file, json.dumps(body), mode=0o600, durable=durable)
    except OSError as problem:
        raise SlipwayError(
            f"could not record {what}",
            why=f"{file.parent}: {problem.strerror or problem}",
            fix="make room or make the folder writable, then submit it again",
        ) from problem


def digest(words: Sequence[str]) -> str:
    """What makes two commands the same."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()
