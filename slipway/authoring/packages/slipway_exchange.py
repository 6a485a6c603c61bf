"""The objects by which a session and its owner exchange requests and output. Each is created once and never written
over: whoever finds another's in its place was late.

Below the session's address are, by a run's number: its `request`, the `stop`s that were asked for, and for each replica
that it `started` there, its `metrics`, and that it has `ended`; and the parts of its output. Run 0 is the folder that
the session began with.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, Iterator, Mapping, NamedTuple, Tuple  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_storage import Storage, quoted, split

LOOK_S = 0.5
"""The seconds between two looks for what may be there."""
SESSION = "slipway_session"
"""The module that a session's job runs."""
LOST = "the session lost its machine, or was cancelled"
"""Why a run is lost that may be sent again to the same session."""
_HEAD = "request.json"


def request_name(number: int) -> str:
    return f"runs/{number:06}.request"


def stop_name(number: int, count: int) -> str:
    """Return the object that asks for a run's end: the first interrupts it, the second kills it."""
    return f"runs/{number:06}.stop-{count}"


def started_name(number: int, replica: str) -> str:
    return f"runs/{number:06}.started.{replica}"


def ended_name(number: int, replica: str) -> str:
    return f"runs/{number:06}.ended.{replica}"


def metrics_name(number: int, replica: str) -> str:
    """Return the object with the metrics.json of a run: results are kept only some time after its end."""
    return f"runs/{number:06}.metrics.{replica}"


def part_name(number: int, replica: str, place: int) -> str:
    """Return the object of a part of a run's output; parts count from 1."""
    return f"output/{number:06}.{replica}.{place:06}"


class Request(NamedTuple):
    """A request of a session: a command among files; or its end, which names the reason."""

    #: Tells it from any other.
    id: str
    #: The person.
    by: str
    command: str = ""
    #: The digest of each file, by its path.
    files: Mapping[str, str] = {}
    executable: Tuple[str, ...] = ()  # noqa: UP006 (Python 3.8)
    #: Of the files, empty where they were never committed.
    commit: str = ""
    dirty: bool = True
    closed: str = ""
    #: Its $SLIPWAY_OUTPUT is what the run before has left, and no empty folder.
    resume: bool = False

    def packed(self, contents: Mapping[str, bytes]) -> bytes:
        """Return the object, with the contents that the session lacks, by their digests."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_HEAD, json.dumps(self._asdict()))
            for digest, content in contents.items():
                archive.writestr(digest, content)
        return buffer.getvalue()

    @classmethod
    def read(cls, packed: bytes) -> tuple[Request, dict[str, bytes]]:
        """Return a request, and the contents that came with it. Raises ValueError for what is none."""
        try:
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                known = json.loads(archive.read(_HEAD))
                fields = {name: known[name] for name in cls._fields if name in known}
                contents = {name: archive.read(name) for name in archive.namelist() if name != _HEAD}
        except (zipfile.BadZipFile, KeyError) as error:
            raise ValueError(f"no request of a session: {error}") from error
        return cls(**{**fields, "executable": tuple(fields["executable"])}), contents


class Part(NamedTuple):
    """A part of a run's output on one replica. The last one has the exit code."""

    #: The start of the session's job that wrote it.
    start: str
    #: Pairs of 1 or 2, for stdout or stderr, and a text; its lone surrogates stand for bytes that are no text.
    output: Tuple[Tuple[int, str], ...] = ()  # noqa: UP006 (Python 3.8)
    code: Any = None
    #: Why the run was lost, empty for one that ended by itself.
    lost: str = ""

    def packed(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def read(cls, packed: bytes) -> Part:
        known = json.loads(packed)
        return cls(**{**known, "output": tuple((stream, text) for stream, text in known["output"])})


class Exchange:
    """The objects of a session at `gs://…`, with a replica's identity. All of it raises StorageError."""

    def __init__(self, at: str, storage: Storage) -> None:
        bucket, self.folder = split(at)
        self.bucket, self.storage = bucket, storage
        self.path = f"/storage/v1/b/{quoted(bucket)}/o"

    def read(self, name: str) -> bytes | None:
        """Return an object, None where there is none."""
        path = f"{self.path}/{quoted(f'{self.folder}/{name}')}?alt=media"
        try:
            content: bytes = self.storage.send("GET", path, lambda answer: answer.read())
        except StorageError as error:
            if error.code != 404:
                raise
            return None
        return content

    def take(self, name: str, content: bytes) -> bool:
        """Create an object; tell whether it has this content then, as it does where only the answer was lost."""
        path = f"/upload{self.path}?uploadType=media&ifGenerationMatch=0&name={quoted(f'{self.folder}/{name}')}"
        try:
            self.storage.send("POST", path, lambda answer: answer.read(), lambda: content)
        except StorageError as error:
            if error.code != 412:
                raise
            return self.read(name) == content
        return True

    def names(self, below: str) -> Iterator[str]:
        """Yield the names of the objects in a folder below the session's address."""
        for entry in self.storage.listed(self.bucket, f"{self.folder}/{below}"):
            yield entry["name"][len(self.folder) + 1 :]
