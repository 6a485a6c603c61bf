"""Multipart uploads of the XML API: an object in parts that are sent side by side, as `transfer_manager` sends them."""

import base64
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ..wire import ApiError, Call, Handler, Reply, Route
from . import errors
from .blobs import Blob, Blobs
from .guard import Guard
from .object_uploads import check_sums
from .objects import Objects
from .records import Records

_UPLOAD, _PART = "partedUpload", "partedUploadPart"
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_MEDIA = "application/xml; charset=UTF-8"
_FIELDS = {
    "content-type": "contentType",
    "cache-control": "cacheControl",
    "content-disposition": "contentDisposition",
    "content-encoding": "contentEncoding",
    "content-language": "contentLanguage",
    "x-goog-storage-class": "storageClass",
    "x-goog-custom-time": "customTime",
    "x-goog-encryption-kms-key-name": "kmsKeyName",
}
_META = "x-goog-meta-"
_MOST_PARTS, _LEAST_BYTES, _LIST_BYTES = 10_000, 5 * 1024**2, 4 * 1024**2
_CODES = {400: "InvalidArgument", 403: "AccessDenied", 404: "NoSuchKey", 412: "PreconditionFailed"}


class Parts:
    def __init__(self, records: Records, objects: Objects, guard: Guard) -> None:
        self._records, self._objects, self._guard = records, objects, guard
        self._folder = records.world.state_folder / "uploads"

    def routes(self) -> list[Route]:
        one = "/{bucket:any}/{object:path}"
        return [
            Route("POST", f"{one}?uploads", _in_xml(self.begin)),
            Route("PUT", f"{one}?uploadId", _in_xml(self.put)),
            Route("GET", f"{one}?uploadId", _in_xml(self.list)),
            Route("POST", f"{one}?uploadId", _in_xml(self.complete)),
            Route("DELETE", f"{one}?uploadId", _in_xml(self.abort)),
        ]

    def begin(self, call: Call) -> Reply:
        bucket, name = call.params["bucket"], call.params["object"]
        self._enter(call)
        metadata: dict[str, Any] = {"contentType": "application/octet-stream"}
        metadata |= {_FIELDS[key]: value for key, value in call.headers.items() if key in _FIELDS}
        own = {key.removeprefix(_META): value for key, value in call.headers.items() if key.startswith(_META)}
        upload = uuid.uuid4().hex
        kept = {**metadata, **({"metadata": own} if own else {})}
        (self._folder / upload).mkdir(mode=0o700)
        self._records.store.put(_UPLOAD, upload, {"bucket": bucket, "name": name, "metadata": kept})
        return _answer("InitiateMultipartUploadResult", {"Bucket": bucket, "Key": name, "UploadId": upload})

    def put(self, call: Call) -> Reply:
        """Store a part; a part that is sent again replaces the first."""
        upload, _ = self._find(call)
        number = call.integer("partNumber")
        if not 1 <= number <= _MOST_PARTS:
            raise errors.invalid(f"A part number is from 1 to {_MOST_PARTS}.")
        blobs = Blobs(self._folder / upload)
        blob = blobs.write([call.raw])
        try:
            check_sums(call, {"md5Hash": call.headers.get("content-md5", "")}, blob)
            with self._records.store.transaction():
                self._find(call)
                before = self._records.store.get(_PART, _key(upload, number))
                part = {"number": number, "blob": blob.name, "size": blob.size, "etag": _etag(blob)}
                self._records.store.put(_PART, _key(upload, number), part)
        except BaseException:
            blobs.delete(blob.name)
            raise
        if before:
            blobs.delete(before["blob"])
        hashes = f"crc32c={blob.crc32c},md5={blob.md5}"
        return Reply(200, b"", _MEDIA, {"etag": _etag(blob), "x-goog-hash": hashes})

    def list(self, call: Call) -> Reply:
        upload, found = self._find(call)
        parts = [
            {"PartNumber": part["number"], "ETag": part["etag"], "Size": part["size"]} for part in self._parts(upload)
        ]
        known = {"Bucket": found["bucket"], "Key": found["name"], "UploadId": upload, "IsTruncated": "false"}
        return _answer("ListPartsResult", known, {"Part": parts})

    def complete(self, call: Call) -> Reply:
        """Return the object made of the parts that the body names, in their order."""
        upload, found = self._find(call)
        parts = self._named(upload, _listed(call.raw))
        blobs = Blobs(self._folder / upload)
        blob = self._records.blobs.write(_chunks(blobs, parts))
        bucket, name = found["bucket"], found["name"]

        def done(_: Mapping[str, Any]) -> None:
            self._forget(upload)

        composed = Blob(blob.name, blob.size, "", blob.crc32c)
        resource = self._objects.create(call, bucket, name, found["metadata"], composed, done, components=len(parts))
        shutil.rmtree(self._folder / upload, ignore_errors=True)
        location = f"{call.base_url}/{bucket}/{quote(name)}"
        etag = f'"{resource["generation"]}-{len(parts)}"'
        known = {"Location": location, "Bucket": bucket, "Key": name, "ETag": etag}
        return _answer("CompleteMultipartUploadResult", known)

    def abort(self, call: Call) -> Reply:
        upload, _ = self._find(call)
        with self._records.store.transaction():
            self._forget(upload)
        shutil.rmtree(self._folder / upload, ignore_errors=True)
        return Reply(204, b"")

    def _enter(self, call: Call) -> None:
        self._records.bucket(call.params["bucket"])
        self._guard.bucket(call, "storage.objects.create", call.params["bucket"])

    def _find(self, call: Call) -> tuple[str, dict[str, Any]]:
        """Return the upload that a call names, by its id. Raises 403, 404."""
        self._enter(call)
        upload = call.query["uploadId"]
        found = self._records.store.get(_UPLOAD, upload)
        if found is None or (found["bucket"], found["name"]) != (call.params["bucket"], call.params["object"]):
            raise errors.error(404, "NoSuchUpload", "The requested upload was not found.")
        return upload, found

    def _parts(self, upload: str) -> Sequence[dict[str, Any]]:
        return [part for _, part in sorted(self._records.store.list(_PART, f"{upload}/"))]

    def _named(self, upload: str, listed: Sequence[tuple[int, str]]) -> Sequence[dict[str, Any]]:
        """Return the parts that a completion names. Raises 400 for a part that was not sent, was replaced, or is too
        small."""
        known = {(part["number"], part["etag"].strip('"')): part for part in self._parts(upload)}
        if [number for number, _ in listed] != sorted({number for number, _ in listed}):
            raise errors.error(400, "InvalidPartOrder", "The parts must be listed in ascending order.")
        missing = [number for number, etag in listed if (number, etag) not in known]
        if missing or not listed:
            raise errors.error(400, "InvalidPart", f"A part could not be found, or its ETag differs: {missing}.")
        found = [known[item] for item in listed]
        if any(part["size"] < _LEAST_BYTES for part in found[:-1]):
            raise errors.error(400, "EntityTooSmall", f"A part that is not the last has at least {_LEAST_BYTES} bytes.")
        return found

    def _forget(self, upload: str) -> None:
        for key, _ in self._records.store.list(_PART, f"{upload}/"):
            self._records.store.delete(_PART, key)
        self._records.store.delete(_UPLOAD, upload)


def _in_xml(handler: Handler) -> Handler:
    """Return the handler, with its errors as the XML API writes them."""

    def answered(call: Call) -> Reply:
        try:
            return handler(call)
        except ApiError as error:
            reason = error.reason or ""
            code = reason if reason[:1].isupper() else _CODES.get(error.code, "InternalError")
            body = _text({"Code": code, "Message": error.message, "Details": error.message})
            return Reply(error.code, f"<?xml version='1.0' encoding='UTF-8'?><Error>{body}</Error>".encode(), _MEDIA)

    return answered


def _answer(
    name: str, known: Mapping[str, Any], lists: Mapping[str, Iterable[Mapping[str, Any]]] | None = None
) -> Reply:
    items = "".join(f"<{key}>{_text(item)}</{key}>" for key, found in (lists or {}).items() for item in found)
    body = f"<?xml version='1.0' encoding='UTF-8'?><{name} xmlns='{_NAMESPACE}'>{_text(known)}{items}</{name}>"
    return Reply(200, body.encode(), _MEDIA)


def _text(known: Mapping[str, Any]) -> str:
    return "".join(f"<{key}>{escape(str(value))}</{key}>" for key, value in known.items())


def _listed(body: bytes) -> Sequence[tuple[int, str]]:
    """Return the numbers and ETags of a completion. Raises 400 for an invalid one."""
    try:
        if len(body) > _LIST_BYTES:
            raise ValueError("the list is too long")
        root = ElementTree.fromstring(body)
        parts = [item for item in root if item.tag.rpartition("}")[2] == "Part"]
        return [(int(_child(part, "PartNumber")), _child(part, "ETag").strip('"')) for part in parts]
    except (ElementTree.ParseError, ValueError) as error:
        raise errors.error(400, "MalformedXML", f"The list of parts can't be read: {error}") from error


def _child(part: ElementTree.Element, name: str) -> str:
    return next((item.text or "" for item in part if item.tag.rpartition("}")[2] == name), "")


def _chunks(blobs: Blobs, parts: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    for part in parts:
        yield from blobs.chunks(part["blob"])


def _etag(blob: Blob) -> str:
    return f'"{base64.b64decode(blob.md5).hex()}"'


def _key(upload: str, number: int) -> str:
    return f"{upload}/{number:05d}"
