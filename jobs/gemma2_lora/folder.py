"""A folder that is a local path or gs://bucket/prefix. A file in it is the old one or the new one, never half."""

from __future__ import annotations

import contextlib
import posixpath
import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from .trouble import TroubleError


class Folder:
    """Raises TroubleError where a bucket is missing or closed to this job."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def path(self, name: str) -> str:
        return posixpath.join(self.address, name)

    def read(self, name: str) -> bytes | None:
        """The file, or None when there is none."""
        if self._remote:
            with self._in_words(may_lack=True):
                content: bytes = self._blob(name).download_as_bytes()
                return content
            return None
        file = Path(self.path(name))
        return file.read_bytes() if file.is_file() else None

    def write(self, name: str, content: bytes | Path) -> None:
        """Bytes, or a file of this machine, which may be larger than its memory."""
        if self._remote:
            from google.cloud.storage.retry import DEFAULT_RETRY

            blob = self._blob(name)
            upload = blob.upload_from_string if isinstance(content, bytes) else blob.upload_from_filename
            with self._in_words():
                # A store that answers late has most likely kept it: whoever gives up sooner sends it all again.
                upload(content, timeout=600, retry=DEFAULT_RETRY)
            return
        file = Path(self.path(name))
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_bytes(content) if isinstance(content, bytes) else shutil.copyfile(content, fresh)
        fresh.replace(file)

    def fetch(self, name: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if self._remote:
            with self._in_words():
                self._blob(name).download_to_filename(str(target), timeout=600)
        else:
            shutil.copyfile(self.path(name), target)

    def names(self) -> list[str]:
        """Every file, with its path from here."""
        if self._remote:
            bucket, _, prefix = self.address.removeprefix("gs://").partition("/")
            start = f"{prefix}/" if prefix else ""
            with self._in_words():
                return sorted(blob.name[len(start) :] for blob in self._client.list_blobs(bucket, prefix=start))
        here = Path(self.address)
        files = (file.relative_to(here) for file in here.rglob("*") if file.is_file())
        return sorted(file.as_posix() for file in files if not file.name.startswith("."))

    def remove(self, name: str) -> None:
        """Nothing where it is gone already: the answer to its removal may have been lost."""
        if self._remote:
            from google.cloud.storage.retry import DEFAULT_RETRY

            with self._in_words(may_lack=True):
                self._blob(name).delete(retry=DEFAULT_RETRY)
        else:
            Path(self.path(name)).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _in_words(self, may_lack: bool = False) -> Iterator[None]:
        from google.api_core.exceptions import Forbidden, NotFound

        try:
            yield
        except (Forbidden, NotFound) as error:
            if may_lack and isinstance(error, NotFound):
                return
            raise TroubleError(
                f"{self.address} can't be used",
                " ".join(str(error).split())[:500],
                "name a bucket that is there, and give the job's service account roles/storage.objectUser on it",
            ) from error

    @property
    def _remote(self) -> bool:
        return self.address.startswith("gs://")

    @cached_property
    def _client(self) -> Any:
        import google.cloud.storage as storage

        return storage.Client()

    def _blob(self, name: str) -> Any:
        bucket, _, path = self.path(name).removeprefix("gs://").partition("/")
        return self._client.bucket(bucket).blob(path)
