"""Objects, read and written over HTTP with the job's own token."""

import contextlib
import errno
import http.client
import json
import mimetypes
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ..downloads import EVERY_S, PATIENCE_S

CHUNK = 8 << 20  # bytes of an upload's request; the service takes multiples of 256 KiB
_TIMEOUT_S = 60.0
_PASSING = (408, 429, 500, 502, 503, 504)
_STALE = "somebody else has written or deleted it meanwhile"
_LINK = "gcsfuse_symlink_target"
_FAILURES = {400: errno.EINVAL, 401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 412: errno.ESTALE}


@dataclass(frozen=True)
class Version:
    """A version of an object."""

    generation: int
    size: int
    #: In seconds since the epoch.
    changed: float
    #: What a symbolic link leads to.
    link: str = ""

    @classmethod
    def of(cls, resource: Mapping[str, Any]) -> "Version":
        return cls(
            generation=int(resource["generation"]),
            size=int(resource["size"]),
            changed=datetime.fromisoformat(resource["updated"]).timestamp(),
            link=resource.get("metadata", {}).get(_LINK, ""),
        )


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes


class Objects:
    """The objects of all buckets. A request is sent again while nobody answers it, as a killed cloud is started again.

    All methods raise OSError, whose text is the answer's, from any number of threads.
    """

    def __init__(self, url: str, token: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._address, self._sleep = urlsplit(url), sleep
        self._headers = {"Authorization": f"Bearer {token}"}
        self._of_thread = threading.local()

    def version(self, bucket: str, name: str) -> Version | None:
        """Return an object's version, None where there is none."""
        answer = self._call("GET", _path(bucket, name), known=(200, 404))
        return Version.of(json.loads(answer.content)) if answer.status == 200 else None

    def under(self, bucket: str, prefix: str, most: int) -> list[str]:
        """Return the first names that begin with a prefix. Raises FileNotFoundError for a bucket that is not there."""
        query = {"prefix": prefix, "maxResults": str(most), "fields": "items/name"}
        answer = self._call("GET", f"/storage/v1/b/{quote(bucket, safe='')}/o", query)
        return [item["name"] for item in json.loads(answer.content).get("items", [])]

    def folder(self, bucket: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the names in a folder, each with what it is, as in `stat`."""
        query = {"prefix": prefix, "delimiter": "/", "fields": "items(name,metadata),prefixes,nextPageToken"}
        while True:
            answer = self._call("GET", f"/storage/v1/b/{quote(bucket, safe='')}/o", query)
            page = json.loads(answer.content)
            for subfolder in page.get("prefixes", []):
                yield subfolder.removeprefix(prefix)[:-1], stat.S_IFDIR
            for item in page.get("items", []):
                yield (
                    item["name"].removeprefix(prefix),
                    stat.S_IFLNK if item.get("metadata", {}).get(_LINK) else stat.S_IFREG,
                )
            if not page.get("nextPageToken"):
                return
            query["pageToken"] = page["nextPageToken"]

    def read(self, bucket: str, name: str, version: Version, start: int, stop: int) -> bytes:
        """Return the bytes of a version from `start` to `stop`. Raises ESTALE for one that is not there any more."""
        query = {"alt": "media", "generation": str(version.generation)}
        # Content is never unpacked: a version's size is what is stored.
        headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "gzip"}
        answer = self._call("GET", "/download" + _path(bucket, name), query, headers=headers, known=(200, 206, 404))
        if answer.status == 404:
            raise OSError(errno.ESTALE, _STALE)
        return answer.content

    def write(self, bucket: str, name: str, file: int, size: int, expected: Version | None) -> Version:
        """Make a new version of a file's content, if the object is as expected. Raises ESTALE for any other."""
        metadata = {"contentType": mimetypes.guess_type(name)[0] or "application/octet-stream"}
        location, sent = self._upload(bucket, name, metadata, expected), 0
        while True:
            part = os.pread(file, min(CHUNK, size - sent), sent)
            span = f"{sent}-{sent + len(part) - 1}" if part else "*"
            # A chunk that is sent again, as its answer was lost, changes nothing.
            answer = self._call(
                "PUT", location, body=part, headers={"Content-Range": f"bytes {span}/{size}"}, known=(200, 308)
            )
            if answer.status == 200:
                return Version.of(json.loads(answer.content))
            sent += len(part)

    def link(self, bucket: str, name: str, target: str) -> Version:
        """Make a symbolic link. Raises ESTALE where something is."""
        location = self._upload(bucket, name, {"metadata": {_LINK: target}}, None)
        answer = self._call("PUT", location, headers={"Content-Range": "bytes */0"})
        return Version.of(json.loads(answer.content))

    def copy(self, bucket: str, name: str, to_bucket: str, to_name: str) -> Version:
        """Copy an object's newest version over whatever is there."""
        to = _path(to_bucket, to_name).removeprefix("/storage/v1")
        query: dict[str, str] = {}
        while True:
            answer = self._call("POST", f"{_path(bucket, name)}/rewriteTo{to}", query)
            said = json.loads(answer.content)
            if said["done"]:
                return Version.of(said["resource"])
            query = {"rewriteToken": said["rewriteToken"]}

    def delete(self, bucket: str, name: str) -> None:
        """Delete an object; there may be none."""
        self._call("DELETE", _path(bucket, name), known=(204, 404))

    def _upload(self, bucket: str, name: str, metadata: Mapping[str, Any], expected: Version | None) -> str:
        """Begin an upload; return where its content goes."""
        query = {
            "uploadType": "resumable",
            "name": name,
            "ifGenerationMatch": str(expected.generation if expected else 0),
        }
        path = f"/upload/storage/v1/b/{quote(bucket, safe='')}/o"
        headers = {"Content-Type": "application/json"}
        begun = self._call("POST", path, query, json.dumps(metadata).encode(), headers)
        location = urlsplit(begun.headers["location"])
        return f"{location.path}?{location.query}"

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        known: tuple[int, ...] = (200,),
    ) -> _Answer:
        target = f"{self._address.path.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")
        for tried in range(int(PATIENCE_S / EVERY_S) + 2):
            if tried > 1:  # The first time the cloud may just have let go of a connection that was not used.
                self._sleep(EVERY_S)
            try:
                answer = self._once(method, target, body, self._headers | dict(headers or {}))
            except (OSError, http.client.HTTPException) as error:
                self._of_thread.__dict__.clear()
                trouble = f"{type(error).__name__} {error}".strip()
            else:
                if answer.status in known:
                    return answer
                trouble = _STALE if answer.status == 412 else _said(answer)
                if answer.status not in _PASSING:
                    raise OSError(_FAILURES.get(answer.status, errno.EIO), trouble)
        raise OSError(errno.EIO, f"no answer in {PATIENCE_S:.0f} s: {trouble}")

    def _once(self, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> _Answer:
        connection: http.client.HTTPConnection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, _TIMEOUT_S)
            self._of_thread.connection = connection
        connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return _Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def _path(bucket: str, name: str) -> str:
    return f"/storage/v1/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"


def _said(answer: _Answer) -> str:
    text = answer.content.decode(errors="replace")
    with contextlib.suppress(ValueError, LookupError, TypeError):
        text = json.loads(text)["error"]["message"]
    return f"HTTP {answer.status} {text[:500]}".strip()
