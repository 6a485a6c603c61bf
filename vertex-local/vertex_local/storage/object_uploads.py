"""Uploads: the content alone, with its metadata, or in chunks that can be resumed after a break."""

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..repository import Repository
from ..wire import Call, Reply, Route
from . import errors, rules
from .blobs import Blob
from .guard import Guard, check_object_conditions, checked_body, refuse_keys, refuse_lists
from .multipart import boundary, parts
from .objects import Objects
from .records import Records, show_object

_LASTS_S = 7 * 24 * 3600.0
_CHUNK_UNIT = 256 * 1024
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_CHECKSUMS = {"md5Hash": "md5", "crc32c": "crc32c"}
_CONDITIONS = ("ifGenerationMatch", "ifGenerationNotMatch", "ifMetagenerationMatch", "ifMetagenerationNotMatch")


@dataclass(frozen=True)
class _Session:
    """A resumable upload."""

    id: str
    bucket: str
    name: str
    metadata: Mapping[str, Any]
    #: The preconditions it began with.
    conditions: Mapping[str, str]
    received: int = 0
    #: The object that it has become.
    done: Mapping[str, Any] | None = None


_SESSIONS = Repository(kind="upload", record=_Session, key=attrgetter("id"))


class Uploads:
    def __init__(self, records: Records, objects: Objects, guard: Guard) -> None:
        self._records, self._objects, self._guard = records, objects, guard
        self._folder = records.world.state_folder / "uploads"
        self._folder.mkdir(exist_ok=True, mode=0o700)

    def routes(self) -> list[Route]:
        routes = []
        for head in ("/upload", "/resumable/upload"):
            path = head + "/storage/v1/b/{bucket:any}/o"
            routes += [Route("POST", path, self.post), Route("PUT", path, self.put), Route("DELETE", path, self.cancel)]
        return routes

    def post(self, call: Call) -> Reply:
        kind = call.query.get("uploadType", "")
        if call.query.get("upload_id"):
            return self.put(call)
        if kind == "media":
            metadata = {"contentType": call.headers.get("content-type", "application/octet-stream")}
            return self._store(call, metadata, [call.raw])
        if kind == "multipart":
            return self._multipart(call)
        if kind == "resumable":
            return self._begin(call)
        raise errors.invalid(f"Invalid value for uploadType: '{kind}'")

    def put(self, call: Call) -> Reply:
        """Take a chunk of a resumable upload, or answer how far it is (`Content-Range: bytes */…`)."""
        with self._records.store.transaction():
            session = self._session(call)
            if session.done:
                return Reply(body=show_object(session.done, call))
            session, total = self._append(session, call)
        if total is None or session.received < total:
            last = {"range": f"bytes=0-{session.received - 1}"} if session.received else {}
            return Reply(308, b"", headers={**last, "x-guploader-uploadid": session.id})
        return self._finish(call, session)

    def cancel(self, call: Call) -> Reply:
        session = self._session(call)
        _SESSIONS.remove(self._records.store, session.id)
        self._file(session.id).unlink(missing_ok=True)
        return Reply(499, b"")

    def _store(self, call: Call, metadata: dict[str, Any], chunks: Iterable[bytes]) -> Reply:
        bucket, name = call.params["bucket"], call.query.get("name") or metadata.get("name", "")
        self._records.bucket(bucket)
        self._guard.bucket(call, "storage.objects.create", bucket)
        check_object_conditions(call, self._records.current(bucket, name))
        metadata = _with_type(call, metadata)
        blob = self._checked(call, metadata, chunks)
        return Reply(body=show_object(self._objects.create(call, bucket, name, metadata, blob), call))

    def _checked(self, call: Call, metadata: Mapping[str, Any], chunks: Iterable[bytes]) -> Blob:
        """Write the content, whose checksums are to be those that the client sent."""
        blob = self._records.blobs.write(chunks)
        try:
            check_sums(call, metadata, blob)
        except BaseException:
            self._records.blobs.delete(blob.name)
            raise
        return blob

    def _multipart(self, call: Call) -> Reply:
        body_parts = parts(call.raw, boundary(call.headers.get("content-type", "")))
        if len(body_parts) != 2:
            raise errors.invalid("A multipart upload has two parts: the metadata in JSON, then the content.")
        metadata = checked_body(replace(call, raw=body_parts[0].content).object(), "Object")
        metadata.setdefault("contentType", body_parts[1].headers.get("content-type", "application/octet-stream"))
        return self._store(call, metadata, [body_parts[1].content])

    def _begin(self, call: Call) -> Reply:
        bucket = call.params["bucket"]
        kept = self._records.bucket(bucket)
        self._guard.bucket(call, "storage.objects.create", bucket)
        metadata = _with_type(call, checked_body(call.object(), "Object"))
        refuse_lists(call, metadata, kept, "insert legacy ACL for an object")
        refuse_keys(call)
        name = call.query.get("name") or metadata.get("name", "")
        rules.check_object_name(name)
        rules.check_object(metadata)
        check_object_conditions(call, self._records.current(bucket, name))
        metadata.setdefault("contentType", call.headers.get("x-upload-content-type", "application/octet-stream"))
        conditions = {key: call.query[key] for key in _CONDITIONS if key in call.query}
        session = _Session(uuid.uuid4().hex, bucket, name, metadata, conditions)
        self._file(session.id).touch(mode=0o600)
        _SESSIONS.put(self._records.store, session)
        location = f"{call.base_url}{call.path}?uploadType=resumable&upload_id={session.id}"
        return Reply(200, b"", headers={"location": location, "x-guploader-uploadid": session.id})

    def _append(self, session: _Session, call: Call) -> tuple[_Session, int | None]:
        """Take the chunk. Return the session after it, and the total if it is known."""
        received = session.received
        match = _CONTENT_RANGE.fullmatch(call.headers.get("content-range", "").strip())
        if not match:
            first, total = 0, len(call.raw)
        else:
            first = int(match[1]) if match[1] else received
            total = int(match[3]) if match[3] != "*" else -1
        known = total if total >= 0 else None
        if first > received:
            raise errors.error(503, "backendError", f"The chunk starts at {first}, but {received} bytes were received.")
        fresh = call.raw[received - first :] if not match or match[1] else b""
        if (known is None or received + len(fresh) < known) and len(fresh) % _CHUNK_UNIT:
            raise errors.invalid(f"A chunk that is not the last one must be a multiple of {_CHUNK_UNIT} bytes.")
        if fresh:
            with self._file(session.id).open("r+b") as file:
                file.truncate(received)
                file.seek(received)
                file.write(fresh)
            session = replace(session, received=received + len(fresh))
            _SESSIONS.put(self._records.store, session)
        return session, known

    def _finish(self, call: Call, session: _Session) -> Reply:
        """Return the object of all chunks. The session keeps the answer for who has lost it."""
        path = self._file(session.id)
        with path.open("rb") as file:
            blob = self._checked(call, session.metadata, iter(lambda: file.read(1 << 20), b""))
        conditioned = replace(call, query={**call.query, **session.conditions})

        def done(resource: dict[str, Any]) -> None:
            _SESSIONS.put(self._records.store, replace(session, done=resource))

        resource = self._objects.create(conditioned, session.bucket, session.name, session.metadata, blob, done)
        path.unlink(missing_ok=True)
        return Reply(body=show_object(resource, call))

    def _session(self, call: Call) -> _Session:
        session = _SESSIONS.get(self._records.store, call.query.get("upload_id", ""))
        if session is None or session.bucket != call.params["bucket"]:
            raise errors.error(404, "notFound", "No such upload session.")
        return session

    def _file(self, identifier: str) -> Path:
        return self._folder / identifier


def sweep_uploads(records: Records, now: float) -> None:
    """Forget uploads that have expired, `now` in seconds since the epoch: the service keeps them for a week."""
    for file in (records.world.state_folder / "uploads").glob("*"):
        if file.is_file() and file.stat().st_mtime < now - _LASTS_S:
            _SESSIONS.remove(records.store, file.name)
            file.unlink(missing_ok=True)


def _with_type(call: Call, metadata: Mapping[str, Any]) -> dict[str, Any]:
    encoding = call.query.get("contentEncoding")
    return {**metadata, "contentEncoding": encoding} if encoding else dict(metadata)


def check_sums(call: Call, metadata: Mapping[str, Any], blob: Blob) -> None:
    """Raise 400 when a checksum that the client sent is not the content's."""
    sent = {key: metadata[key] for key in _CHECKSUMS if metadata.get(key)}
    for part in call.headers.get("x-goog-hash", "").split(","):
        word, _, value = part.strip().partition("=")
        sent |= {key: value for key, known in _CHECKSUMS.items() if known == word}
    for key, value in sent.items():
        actual = blob.md5 if key == "md5Hash" else blob.crc32c
        if value != actual:
            raise errors.invalid(
                f'Provided {_CHECKSUMS[key].upper()} hash "{value}" doesn\'t match calculated hash "{actual}".'
            )
