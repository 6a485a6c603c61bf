"""Cloud Storage as a replica of a job sees it: objects as files, with the replica's own identity.

It travels with the launcher, and runs inside prebuilt training images, hence: standard library only, and nothing newer
than Python 3.8.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Callable, Iterator, Mapping  # noqa: UP035 (Python 3.8)

METADATA_TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
TRIES = 8
TIMEOUT_S = 20
PASSING = {408, 429, 500, 502, 503, 504}
ROLE = "give the job's service account roles/storage.objectUser on that bucket, then submit again"
REPLICA, WRITTEN = "slipway-replica", "slipway-written"  # An object's metadata: who kept it, and the file's time in ns.
BLOCK = 1 << 20
AT_ONCE = 8


class StorageError(Exception):
    """Something could be neither fetched nor kept. `code` is the answer's, 0 where there was none."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class ChangedError(Exception):
    """A file changed while it was read."""


def token(environ: Mapping[str, str]) -> str:
    """The access token of the replica's service account, from the metadata server."""
    host = environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    request = urllib.request.Request("http://" + host + METADATA_TOKEN, headers={"Metadata-Flavor": "Google"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=TIMEOUT_S) as answer:
        return str(json.load(answer)["access_token"])


def storage_base(environ: Mapping[str, str]) -> str:
    """The base URL of Cloud Storage, without a slash at its end."""
    host = environ.get("STORAGE_EMULATOR_HOST", "https://storage.googleapis.com").rstrip("/")
    return host if "://" in host else "http://" + host


def call(method: str, url: str, bearer: str, body: bytes | None = None) -> tuple[int, str]:
    """`(status, body)` of one request; raises OSError when there was no answer."""
    headers = {"Authorization": "Bearer " + bearer, "Content-Type": "text/plain"}
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode("utf-8", "replace")


def patiently(ask: Callable[[], Any], sleep: Callable[[float], None]) -> Any:
    """Return what `ask` gives, tried again while the trouble may pass. Raises OSError when it does not."""
    last: Exception = OSError("not tried")
    for attempt in range(TRIES):
        try:
            return ask()
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            last = error  # no answer, half an answer, an answer without a token
        if attempt < TRIES - 1:
            sleep(min(2**attempt, 20) * (0.5 + random.random() / 2))
    raise OSError(f"no good answer in {TRIES} tries; the last: {last}")


def quoted(name: str) -> str:
    return urllib.parse.quote(os.fsencode(name), safe="")


def split(uri: str) -> tuple[str, str]:
    """Bucket and name of `gs://bucket/name`. Raises StorageError for what is none."""
    bucket, _, name = uri.partition("gs://")[2].partition("/")
    if not bucket:
        raise StorageError(f"{uri!r} is not of the form gs://BUCKET/NAME")
    return bucket, name.rstrip("/")


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

    def send(
        self,
        method: str,
        path: str,
        take: Callable[[Any], Any],
        body: Callable[[], Body | None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Any:
        """Return what `take` makes of the answer; try again while the trouble may pass."""
        what: list[Any] = []

        def once() -> str:
            data: Any = body()
            request = urllib.request.Request(self.base + path, data=data, method=method)
            request.add_header("Authorization", "Bearer " + token(self.environ))
            if data is not None:
                request.add_header("Content-Type", f"multipart/related; boundary={data.border}")
                request.add_header("Content-Length", str(data.length))
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    what[:] = [take(answer)]
                    return ""
            except urllib.error.HTTPError as refusal:
                with refusal:
                    said = " ".join(refusal.read().decode("utf-8", "replace").split())[:300]
                problem = f"HTTP {refusal.code}: {said}"
                if refusal.code in PASSING:
                    raise OSError(problem) from None
                raise StorageError(problem, refusal.code) from None

        try:
            patiently(once, sleep)
        except OSError as error:
            raise StorageError(str(error)) from error
        return what[0]

    def listed(self, bucket: str, name: str) -> Iterator[Any]:
        """Each object of this name, or in this folder."""
        token = ""
        while True:
            query = urllib.parse.urlencode({"prefix": name, "pageToken": token} if token else {"prefix": name})
            page = self.send("GET", f"/storage/v1/b/{quoted(bucket)}/o?{query}", json.load)
            for entry in page.get("items", ()):
                inside = not name or entry["name"] == name or entry["name"].startswith(name + "/")
                if inside and not entry["name"].endswith("/"):
                    yield entry
            token = page.get("nextPageToken", "")
            if not token:
                return

    def fetch(self, uri: str, folder: Path, replica: str = "") -> list[str]:
        """Put an object, or all below `uri/`, into the folder; of a `replica`, what that has kept. Returns their paths
        there. Raises OSError for the disk's."""
        bucket, name = split(uri)

        def one(fetched: Any) -> str:
            inner = fetched["name"][len(name) :].lstrip("/") or name.rpartition("/")[2]
            place = folder.joinpath(*inner.split("/"))
            if ".." in place.parts:
                raise StorageError(f"gs://{bucket}/{fetched['name']} has a name that no file can have")
            place.parent.mkdir(parents=True, exist_ok=True)

            def take(answer: Any) -> None:
                with place.open("wb") as file:
                    shutil.copyfileobj(answer, file, BLOCK)
                if place.stat().st_size != int(fetched["size"]):
                    raise OSError(f"{place.stat().st_size} of {fetched['size']} bytes came")

            self.send("GET", f"/storage/v1/b/{quoted(bucket)}/o/{quoted(fetched['name'])}?alt=media", take)
            if written := fetched.get("metadata", {}).get(WRITTEN):
                os.utime(place, ns=(int(written), int(written)))
            return inner

        wanted = [
            entry
            for entry in self.listed(bucket, name)
            if not replica or entry.get("metadata", {}).get(REPLICA) == replica
        ]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return [done.result() for done in [threads.submit(one, entry) for entry in wanted]]

    def keep(self, uri: str, body: Callable[[str], Body], sleep: Callable[[float], None]) -> None:
        bucket, name = split(uri)
        path = f"/upload/storage/v1/b/{quoted(bucket)}/o?uploadType=multipart"
        self.send("POST", path, lambda answer: answer.read(), lambda: body(name), sleep)

    def drop(self, uri: str, sleep: Callable[[float], None]) -> None:
        """Remove an object; one that is not there is no error."""
        bucket, name = split(uri)
        try:
            self.send("DELETE", f"/storage/v1/b/{quoted(bucket)}/o/{quoted(name)}", lambda _: None, sleep=sleep)
        except StorageError as error:
            if error.code != 404:
                raise
