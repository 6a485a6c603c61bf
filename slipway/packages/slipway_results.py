"""Keeps files of a replica in Cloud Storage, and fetches them, with the replica's own identity.

It travels with `slipway_script`. Standard library only, and nothing newer than Python 3.8.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Iterator, Mapping  # noqa: UP035 (Python 3.8)

if TYPE_CHECKING:
    from slipway.packages import slipway_launcher as launcher
else:
    import slipway_launcher as launcher

AT_ONCE = 8
BLOCK = 1 << 20


class StorageError(Exception):
    """Something could be neither fetched nor kept."""


class Part:
    """The first `size` bytes of a file: a log may grow while it is sent. Raises OSError for one that shrinks."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.left = file, size

    def read(self, most: int = BLOCK) -> bytes:
        block = self.file.read(min(most, self.left))
        if self.left and not block:
            raise OSError("the file became shorter while it was sent")
        self.left -= len(block)
        return block


class Storage:
    """Objects of Cloud Storage as files, with the replica's own identity."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.base = launcher.storage_base(environ)

    def send(
        self,
        method: str,
        path: str,
        take: Callable[[Any], Any],
        body: Callable[[], Any] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Any:
        """Return what `take` makes of the answer; try again while the trouble may pass. Raises StorageError."""
        what: list[Any] = []

        def once() -> str:
            data = body()
            request = urllib.request.Request(self.base + path, data=data, method=method)
            request.add_header("Authorization", "Bearer " + launcher.token(self.environ))
            if data is not None:
                request.add_header("Content-Type", "application/octet-stream")
                request.add_header("Content-Length", str(data.left))
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    what[:] = [take(answer)]
                    return ""
            except urllib.error.HTTPError as refusal:
                with refusal:
                    said = " ".join(refusal.read().decode("utf-8", "replace").split())[:300]
                    problem = f"HTTP {refusal.code}: {said}"
                if refusal.code in launcher.PASSING:
                    raise OSError(problem) from None
                raise StorageError(problem) from None

        try:
            launcher.patiently(once, sleep)
        except OSError as error:
            raise StorageError(str(error)) from error
        return what[0]

    def listed(self, bucket: str, prefix: str) -> Iterator[Any]:
        """Each object below a prefix, with name and size."""
        token = ""
        while True:
            query = urllib.parse.urlencode({"prefix": prefix, "pageToken": token} if token else {"prefix": prefix})
            page = self.send("GET", f"/storage/v1/b/{quoted(bucket)}/o?{query}", json.load)
            yield from page.get("items", ())
            token = page.get("nextPageToken", "")
            if not token:
                return

    def fetch(self, uri: str, folder: Path) -> int:
        """Put an object, or all below `uri/`, into the folder; the number of files. Raises StorageError."""
        bucket, name = split(uri)
        found = [
            (one["name"], int(one["size"]), one["name"][len(name) :].lstrip("/") or name.rpartition("/")[2])
            for one in self.listed(bucket, name)
            if not one["name"].endswith("/") and (not name or one["name"] == name or one["name"].startswith(name + "/"))
        ]

        def one(entry: tuple[str, int, str]) -> None:
            whole, size, inner = entry
            place = folder.joinpath(*inner.split("/"))
            if ".." in place.parts:
                raise StorageError(f"gs://{bucket}/{whole} has a name that no file can have")
            place.parent.mkdir(parents=True, exist_ok=True)
            path = f"/storage/v1/b/{quoted(bucket)}/o/{quoted(whole)}?alt=media"

            def take(answer: Any) -> None:
                with place.open("wb") as file:
                    while block := answer.read(BLOCK):
                        file.write(block)
                if place.stat().st_size != size:
                    raise OSError(f"{place.stat().st_size} of {size} bytes came")

            self.send("GET", path, take)

        return each(one, found)

    def keep(self, path: Path, uri: str, sleep: Callable[[float], None] = time.sleep) -> None:
        """Write a file, as long as it is at each try, to an object. Raises StorageError, and OSError of the file."""
        bucket, name = split(uri)
        query = f"uploadType=media&name={quoted(name)}"
        with path.open("rb") as file:

            def body() -> Part:
                file.seek(0)
                return Part(file, os.fstat(file.fileno()).st_size)

            url = f"/upload/storage/v1/b/{quoted(bucket)}/o?{query}"
            self.send("POST", url, lambda answer: answer.read(), body, sleep)


class Results:
    """The files of a folder, and which of them are kept below `uri` as they are now."""

    def __init__(self, folder: Path, uri: str, storage: Storage) -> None:
        self.folder, self.uri, self.storage = folder, uri.rstrip("/"), storage
        self.kept = self.seen = self.files()
        self.lock = threading.Lock()

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of each, by its path in the folder."""
        found = {}
        for parent, _, names in os.walk(self.folder):
            for path in (Path(parent, name) for name in names):
                try:
                    status = path.stat()
                except OSError:  # gone meanwhile, or a link to nothing
                    continue
                if stat.S_ISREG(status.st_mode):
                    found[path.relative_to(self.folder).as_posix()] = (status.st_size, status.st_mtime_ns)
        return found

    def keep(self, *, settled: bool = False, sleep: Callable[[float], None] = time.sleep) -> int:
        """Keep what has changed; `settled`: that has not changed since the last look. `sleep` may raise, to end it.

        Raises StorageError.
        """
        with self.lock:
            before, self.seen = self.seen, self.files()
            changed = [
                (name, now)
                for name, now in self.seen.items()
                if self.kept.get(name) != now and (not settled or before.get(name) == now)
            ]

            def one(entry: tuple[str, tuple[int, int]]) -> None:
                name, now = entry
                sleep(0)
                try:
                    self.storage.keep(self.folder / name, f"{self.uri}/{name}", sleep)
                except FileNotFoundError:  # It was there to be replaced.
                    return
                self.kept[name] = now

            return each(one, changed)


def quoted(name: str) -> str:
    return urllib.parse.quote(os.fsencode(name), safe="")


def split(uri: str) -> tuple[str, str]:
    """Bucket and name of `gs://bucket/name`. Raises StorageError for what is none."""
    bucket, _, name = uri.partition("gs://")[2].partition("/")
    if not bucket:
        raise StorageError(f"{uri!r} is not of the form gs://BUCKET/NAME")
    return bucket, name.rstrip("/")


def each(do: Callable[[Any], None], entries: list[Any]) -> int:
    """Do it for each, several at once; their number. Raises what one of them raised."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for done in [threads.submit(do, entry) for entry in entries]:
            done.result()
    return len(entries)
