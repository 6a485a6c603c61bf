"""The methods that read an object: its metadata, its content, or a range of it."""

import base64
import re
import zlib
from datetime import datetime
from email.utils import format_datetime

from ..wire import ApiError, Call, FileSlice, Reply, Route
from . import errors, rules
from .guard import check_object_conditions, check_tags
from .objects import Objects
from .records import Records, Version, etag, show_object

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_IN_MEMORY = 1 << 20
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"([\x21-\x7e\xa0-\xff]+([ \t]+[\x21-\x7e\xa0-\xff]+)*)?")


class Downloads:
    def __init__(self, records: Records, objects: Objects) -> None:
        self._records, self._objects = records, objects

    def routes(self) -> list[Route]:
        path = "/storage/v1/b/{bucket:any}/o/{object:any}"
        return [Route("GET", path, self.get), Route("GET", "/download" + path, self.content)]

    def get(self, call: Call) -> Reply:
        if call.query.get("alt") == "media":
            return self.content(call)
        version = self._objects.find(call, "storage.objects.get")
        self._check(call, version)
        return Reply(body=show_object(version.resource, call))

    def content(self, call: Call) -> Reply:
        """Return the bytes, whole or in a range; gzip content is unpacked for a client that does not take gzip."""
        try:
            return self._content(call)
        except FileNotFoundError:
            return self._content(call)  # overwritten between reading its document and opening its blob

    def _content(self, call: Call) -> Reply:
        version = self._objects.find(call, "storage.objects.get")
        self._check(call, version)
        rules.check_usable(version.resource.get("kmsKeyName", ""), self._records.world.settings.keys_unusable)
        headers = _headers(version)
        media = _header_text(version.resource.get("contentType", "application/octet-stream"))
        size = int(version.resource["size"])
        packed = version.resource.get("contentEncoding") == "gzip"
        if packed and "gzip" not in call.headers.get("accept-encoding", ""):
            with self._records.blobs.open(version.blob) as file:
                return Reply(200, zlib.decompress(file.read(), wbits=31), media, headers)
        if version.resource.get("contentEncoding"):
            headers["content-encoding"] = _header_text(version.resource["contentEncoding"])
        try:
            span = _span(call.headers.get("range", ""), size)
        except ApiError as problem:
            return Reply(problem.code, problem.body(), headers={"content-range": f"bytes */{size}"})
        if span is None:
            return Reply(200, self._part(version, 0, size), media, headers)
        start, stop = span
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
        return Reply(206, self._part(version, start, stop - start), media, headers)

    def _check(self, call: Call, version: Version) -> None:
        check_object_conditions(call, version, reading=True)
        check_tags(call, version.generation, version.metageneration)

    def _part(self, version: Version, start: int, length: int) -> bytes | FileSlice:
        file = self._records.blobs.open(version.blob)
        if length > _IN_MEMORY:
            return FileSlice(file, start, length)
        with file:
            file.seek(start)
            return file.read(length)


def _span(header: str, size: int) -> tuple[int, int] | None:
    """Return (start, stop) of a single range, None for none or one that the service ignores. Raises 416."""
    match = _RANGE.fullmatch(header.strip())
    if not match or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(int(last) + 1 if last else size, size)
    if start >= stop:
        raise errors.error(416, "requestedRangeNotSatisfiable", "The requested range cannot be satisfied.")
    return start, stop


def _headers(version: Version) -> dict[str, str]:
    resource = version.resource
    hashes = [f"crc32c={resource['crc32c']}"] + ([f"md5={resource['md5Hash']}"] if "md5Hash" in resource else [])
    updated = datetime.fromisoformat(resource["updated"])
    headers = {
        "accept-ranges": "bytes",
        "cache-control": resource.get("cacheControl", "no-cache, no-store, max-age=0, must-revalidate"),
        "content-disposition": resource.get("contentDisposition", "attachment"),
        "etag": etag(version.generation, version.metageneration),
        "last-modified": format_datetime(updated, usegmt=True),
        "x-goog-generation": str(version.generation),
        "x-goog-metageneration": str(version.metageneration),
        "x-goog-hash": ",".join(hashes),
        "x-goog-storage-class": resource["storageClass"],
        "x-goog-stored-content-encoding": resource.get("contentEncoding", "identity"),
        "x-goog-stored-content-length": resource["size"],
    }
    for name, value in resource.get("metadata", {}).items():
        if _HEADER_NAME.fullmatch(name):
            headers[f"x-goog-meta-{name.lower()}"] = value
    return {name: _header_text(value) for name, value in headers.items()}


def _header_text(value: str) -> str:
    """Return a header's value: printable Latin-1 goes as it is, anything else travels in base64, as in MIME."""
    if _HEADER_VALUE.fullmatch(value):
        return value
    return f"=?UTF-8?B?{base64.b64encode(value.encode()).decode()}?="
