"""The local journal of requests, each written down before it is sent, so that a kill can't lose it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
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
    """Return the error for a journal that can't be written or read: nothing is sent unless it is recorded."""
    why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return SlipwayError(
        f"could not record {what}, and nothing is sent unless it is recorded",
        why=f"{file}: {why}",
        fix="make room, or make the folder and the file readable and writable, then submit again",
    )


def lock(stream: IO[str], what: str, file: Path) -> None:
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
        file = self._file(request_id)
        try:
            body = from_json(file.read_text(encoding="utf-8"))
            if datetime.fromisoformat(body["when"]).tzinfo is None:
                raise ValueError(f"{body['when']} has no time zone")
            return JournalEntry(**{**body, "state": SendState(body["state"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise SlipwayError(
                f"the journal of request {request_id} can't be read",
                why=f"{file}: {problem}",
                fix="see whether the job is there (slipway jobs list), then use another request id",
            ) from problem

    def write(self, entry: JournalEntry, *, durable: bool = True) -> None:
        """Write an entry. Raises SlipwayError when the disk does not take it."""
        file = self._file(entry.request_id)
        try:
            make_folder(file.parent)
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
