"""Cloud Storage as a replica of a job sees it: objects as files, with the replica's own identity."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import shutil
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Callable, Iterable, Iterator, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_http import TRIES, StorageError, call, patiently, storage_base, text, token

ROLE = "give the job's service account roles/storage.objectUser on that bucket, then submit again"
# An object's metadata: who kept it, the file's time in ns, and what is special about it.
REPLICA, WRITTEN, STATE = "slipway-replica", "slipway-written", "slipway-state"
# The metadata of an object whose file has a name that no object can have: that name, percent-encoded.
NAME = "slipway-name"
# The metadata of an object that is a link to a folder: where it leads, percent-encoded.
LINK = "slipway-link"
PARTIAL = "partial"  # The state of a half, which stands beside the whole version and is never fetched.
APART = ".slipway"  # The folder of objects that are no files of the job.
BLOCK = 1 << 20
PART = 32 * BLOCK  # What is fetched of an object at once.
AT_ONCE = 16
LONGEST = 255  # The bytes of a file's name.
LONGEST_OBJECT = 700  # The bytes of an object's name are at most 1,024, with the folder before it.
NOT_IN_OBJECTS = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]|^\.well-known/acme-challenge/")
TOKEN_S = 60.0  # The metadata server gives a token that lasts for five minutes at least.
LISTED = "items(name,size,generation,contentEncoding,metadata),nextPageToken"


class RefusedError(Exception):
    """The job's code does not start: what happened, why, and what to do."""


class ReplacedError(StorageError):
    """The version of an object that was listed is no longer there."""


class ChangedError(Exception):
    """A file changed while it was read."""


def quoted(name: str) -> str:
    return urllib.parse.quote(os.fsencode(name), safe="")


def split(uri: str) -> tuple[str, str]:
    """Bucket and name of `gs://bucket/name`. Raises StorageError for what is none."""
    bucket, _, name = uri.partition("gs://")[2].partition("/")
    if not bucket:
        raise StorageError(f"{uri!r} is not of the form gs://BUCKET/NAME")
    return bucket, name.rstrip("/")


def object_name(path: str) -> tuple[str, dict[str, str]]:
    """Return the name of a file's object below its folder, and the metadata that record the file's path if the name
    differs from it."""
    encoded = urllib.parse.quote(os.fsencode(path))
    # A name that looks like an encoded one is encoded as well, so that no two files share an object.
    decoded = os.fsdecode(urllib.parse.unquote_to_bytes(os.fsencode(path)))
    odd = any(NOT_IN_OBJECTS.search(name) for name in (path, decoded))
    if not odd and len(os.fsencode(path)) <= LONGEST_OBJECT:
        return path, {}
    name = encoded
    if len(name) > LONGEST_OBJECT:
        name = f"{name[:LONGEST_OBJECT]}~{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    return name, {NAME: encoded}


def path_of(entry: Any, name: str) -> str:
    """Return the path of the file that an object holds, by default its `name`."""
    encoded = None if name.startswith(f"{APART}/") else entry.get("metadata", {}).get(NAME)
    return name if encoded is None else os.fsdecode(urllib.parse.unquote_to_bytes(encoded))


def by_path(uri: str, entries: Iterable[Any]) -> dict[str, Any]:
    """Return objects of `uri` by the path of each in a folder. Raises StorageError."""
    found: dict[str, Any] = {}
    _, name = split(uri)
    for entry in entries:
        inner = path_of(entry, entry["name"][len(name) + bool(name) :] or name.rpartition("/")[2])
        if inner in found:
            raise _unusable(entry, found[inner])
        found[inner] = entry
    return found


def must_fit(found: Mapping[str, Any]) -> None:
    """Raise StorageError if one folder can't have all these objects as files, by their paths there."""
    for inner, entry in found.items():
        words = inner.split("/")
        above = ("/".join(words[:end]) for end in range(1, len(words)))
        other = next((found[path] for path in above if path in found), None)
        long = any(len(os.fsencode(word)) > LONGEST for word in words)
        if other or long or "\0" in inner or not {"", ".", ".."}.isdisjoint(words):
            raise _unusable(entry, other)


def _unusable(entry: Any, other: Any = None) -> StorageError:
    beside = f" beside gs://{other['bucket']}/{other['name']}" if other else ""
    return StorageError(f"gs://{entry['bucket']}/{entry['name']} has a name that no file can have{beside}")


def state(entry: Any) -> str:
    """Return what is special about an object; mostly empty."""
    return str(entry.get("metadata", {}).get(STATE, ""))


def written(place: Path, start: int, count: int) -> Callable[[Any], None]:
    """A function that writes an answer into a file, where it has so many bytes. Raises OSError for another number."""

    def take(answer: Any) -> None:
        came = 0
        with place.open("r+b") as file:
            file.seek(start)
            while block := answer.read(BLOCK):
                came += len(block)
                if came <= count:
                    file.write(block)
        if came != count:
            raise OSError(f"{came} of {count} bytes came")

    return take


def clear(folder: Path, inner: str) -> None:
    """Delete what prevents a file at a path in the folder: a file or a link in place of a folder above it, and a folder
    or a link at the path itself."""
    place, words = folder, inner.split("/")
    for number, word in enumerate(words, 1):
        place /= word
        if place.is_symlink() or (number < len(words) and place.is_file()):
            place.unlink()
    if place.is_dir():
        shutil.rmtree(place)


def at_once(act: Callable[[str], Any], names: Iterable[str]) -> list[Any]:
    """Return what `act` returns for each name, called for several at the same time. The first problem ends it and is
    raised."""
    failed = threading.Event()

    def guarded(name: str) -> Any:
        if failed.is_set():
            return None
        try:
            return act(name)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return [done.result() for done in [threads.submit(guarded, name) for name in names]]


class Body:
    """An object and its metadata as one request. The last bytes, without which there is no object, are sent once
    `check` has not raised."""

    def __init__(self, name: str, metadata: Mapping[str, str], file: IO[bytes], size: int, check: Callable[[], None]):
        self.border = f"slipway-{random.getrandbits(128):032x}"
        described = json.dumps({"name": name, "metadata": metadata}).encode()
        kind = b"Content-Type: application/octet-stream"
        mark = b"--" + self.border.encode()
        self.parts = [mark + b"\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + described + b"\r\n"]
        self.parts += [mark + b"\r\n" + kind + b"\r\n\r\n", b"\r\n" + mark + b"--\r\n"]
        self.file, self.left, self.check = file, size, check
        self.length = size + sum(map(len, self.parts))

    def read(self, most: int = BLOCK) -> bytes:
        if len(self.parts) > 1:
            return self.parts.pop(0)
        if self.left:
            block = self.file.read(min(most, self.left))
            if not block:
                raise ChangedError("it becomes shorter while it is sent")
            self.left -= len(block)
            return block
        self.check()
        return self.parts.pop() if self.parts else b""


class Storage:
    """Objects of Cloud Storage as files, with the replica's own identity. All of it raises StorageError."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.base = storage_base(environ)
        self.open: Callable[..., Any] = urllib.request.urlopen
        self._token = (float("-inf"), "")

    def token(self) -> str:
        """The replica's token, asked for once a minute."""
        if time.monotonic() - self._token[0] >= TOKEN_S:
            self._token = (time.monotonic(), token(self.environ))
        return self._token[1]

    def send(
        self,
        method: str,
        path: str,
        take: Callable[[Any], Any],
        body: Callable[[], Body | bytes | None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return what `take` makes of the answer; try again while the trouble may pass."""

        def once() -> Any:
            data, sent = body(), {**(headers or {})}
            if isinstance(data, Body):
                sent["Content-Type"] = f"multipart/related; boundary={data.border}"
                sent["Content-Length"] = str(data.length)
            return call(method, self.base + path, self.token(), take, data, sent, timeout=60, send=self.open)

        return patiently(once, sleep)

    def listed(self, bucket: str, name: str) -> Iterator[Any]:
        """Each object of this name, or in this folder."""
        token = ""
        while True:
            asked = {"prefix": name, "fields": LISTED}
            query = urllib.parse.urlencode({**asked, "pageToken": token} if token else asked)
            page = self.send("GET", f"/storage/v1/b/{quoted(bucket)}/o?{query}", json.load)
            for entry in page.get("items", ()):
                inside = not name or entry["name"] == name or entry["name"].startswith(name + "/")
                if inside and not entry["name"].endswith("/"):
                    yield {**entry, "bucket": bucket}
            token = page.get("nextPageToken", "")
            if not token:
                return

    def objects(self, uri: str, replica: str = "") -> dict[str, Any]:
        """An object, or all below `uri/`, by the path of each in a folder; of a `replica`, what that has kept."""
        entries = self.listed(*split(uri))
        return by_path(uri, (each for each in entries if replica in ("", each.get("metadata", {}).get(REPLICA))))

    def found(self, uri: str, replica: str = "") -> dict[str, Any]:
        """Return `objects` that one folder can have as files."""
        found = self.objects(uri, replica)
        must_fit(found)
        return found

    def fetch(
        self, uri: str, folder: Path, replica: str = "", view: Callable[[dict[str, Any]], dict[str, Any]] = dict
    ) -> dict[str, Any]:
        """Put what is `found` into the folder, as `view` sees it and without halves; return all. If an object is
        replaced meanwhile, start over. Raises OSError for the disk's."""
        for attempt in range(TRIES):
            found: dict[str, Any] = {}
            try:
                found = view(self.objects(uri, replica))
                must_fit(found)
                self.bring({inner: entry for inner, entry in found.items() if state(entry) != PARTIAL}, folder)
                break
            except StorageError as error:
                if error.code != 404 or attempt == TRIES - 1:
                    raise
                for inner in found:
                    (folder / inner).unlink(missing_ok=True)
        return found

    def bring(self, found: Mapping[str, Any], folder: Path, came: Callable[[int], None] = lambda _: None) -> None:
        """Put objects into a folder, by their paths there: several at once, and large ones in parts. `came` is told the
        bytes of each part. The first problem ends it. Raises as `fetch`."""
        parts, lock, failed = self._parts(found, folder), threading.Lock(), threading.Event()

        def work() -> None:
            try:
                while not failed.is_set():
                    with lock:
                        part = next(parts, None)
                    if part is None:
                        return
                    came(self._bring(*part))
            except BaseException:
                failed.set()
                raise

        with ThreadPoolExecutor(AT_ONCE) as threads:
            for done in [threads.submit(work) for _ in range(AT_ONCE)]:
                done.result()
        for inner, entry in found.items():
            if written := entry.get("metadata", {}).get(WRITTEN):
                os.utime(folder / inner, ns=(int(written), int(written)))

    def _parts(self, found: Mapping[str, Any], folder: Path) -> Iterator[tuple[Any, Path, int]]:
        """Make a file for each object, of its size; yield the beginning of each part of it."""
        for inner, entry in found.items():
            place = folder / inner
            clear(folder, inner)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                file.truncate(int(entry["size"]))
            for start in range(0, int(entry["size"]), PART):
                yield entry, place, start

    @staticmethod
    def part(whole: int, start: int) -> tuple[int, dict[str, str]]:
        """The bytes of a part, and the headers of a request for it."""
        count = min(PART, whole - start)
        return count, {"Range": f"bytes={start}-{start + count - 1}"} if count < whole else {}

    def _bring(self, entry: Any, place: Path, start: int) -> int:
        """Put a part of an object into its file; return the bytes. All are of the version in the list."""
        count, headers = self.part(int(entry["size"]), start)
        query = f"alt=media&generation={entry['generation']}"
        # What is stored compressed is not unpacked: it has the size of the list.
        headers["Accept-Encoding"] = entry.get("contentEncoding") or "identity"
        path = f"/storage/v1/b/{quoted(entry['bucket'])}/o/{quoted(entry['name'])}"
        try:
            self.send("GET", f"{path}?{query}", written(place, start, count), headers=headers)
        except StorageError as error:
            if error.code != 404:
                raise
            became = "replaced" if self._there(path) else "deleted"
            raise ReplacedError(f"gs://{entry['bucket']}/{entry['name']} was {became} meanwhile", 404) from error
        return count

    def _there(self, path: str) -> bool:
        try:
            self.send("GET", f"{path}?fields=generation", text)
        except StorageError as error:
            if error.code != 404:
                raise
            return False
        return True

    def keep(self, uri: str, body: Callable[[str], Body], sleep: Callable[[float], None]) -> None:
        bucket, name = split(uri)
        path = f"/upload/storage/v1/b/{quoted(bucket)}/o?uploadType=multipart"
        self.send("POST", path, lambda answer: answer.read(), lambda: body(name), sleep)

    def write(self, uri: str, content: bytes, metadata: Mapping[str, str], sleep: Callable[[float], None]) -> None:
        """Create or replace a small object."""

        def body(name: str) -> Body:
            return Body(name, metadata, io.BytesIO(content), len(content), lambda: None)

        self.keep(uri, body, sleep)

    def read(self, uri: str, sleep: Callable[[float], None] = time.sleep) -> str:
        """Return the text of a small object."""
        bucket, name = split(uri)
        path = f"/storage/v1/b/{quoted(bucket)}/o/{quoted(name)}?alt=media"
        return str(self.send("GET", path, text, sleep=sleep))

    def copy(self, uri: str, to: str, metadata: Mapping[str, str] | None, sleep: Callable[[float], None]) -> bool:
        """Copy an object within its bucket, where no byte leaves the service; return whether it exists. Without
        `metadata` the copy has those of the object."""
        (bucket, name), (_, other) = split(uri), split(to)
        home = f"/b/{quoted(bucket)}/o/"
        path = step = f"/storage/v1{home}{quoted(name)}/rewriteTo{home}{quoted(other)}"
        body = b"" if metadata is None else json.dumps({"metadata": metadata}).encode()
        kind = {"Content-Type": "application/json"}
        try:
            while step:  # Of a large one each call may copy a part.
                said = self.send("POST", step, json.load, lambda: body, sleep, kind)
                step = "" if said["done"] else f"{path}?rewriteToken={quoted(said['rewriteToken'])}"
        except StorageError as error:
            if error.code != 404:
                raise
            return False
        return True

    def drop(self, uri: str, sleep: Callable[[float], None]) -> None:
        """Remove an object; one that is not there is no error."""
        bucket, name = split(uri)
        try:
            self.send("DELETE", f"/storage/v1/b/{quoted(bucket)}/o/{quoted(name)}", lambda _: None, sleep=sleep)
        except StorageError as error:
            if error.code != 404:
                raise
