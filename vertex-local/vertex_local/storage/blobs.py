"""Contents of objects as files that never change: written whole under a new name, then named by a document.

A document names a blob only after the blob is complete, so a kill leaves at most a file that nothing names;
`sweep` removes those.
"""

import base64
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import google_crc32c


@dataclass(frozen=True)
class Blob:
    """A blob. Its digests are in base64, as the API writes them."""

    name: str
    size: int
    md5: str
    #: Big-endian.
    crc32c: str


class Blobs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, chunks: Iterable[bytes]) -> Blob:
        """Write a new blob of these chunks and return it. Raises OSError (a full disk) and then leaves nothing."""
        name = self._new_name()
        md5, crc = hashlib.md5(usedforsecurity=False), google_crc32c.Checksum()  # type: ignore[no-untyped-call]
        size = 0
        try:
            with self.path(name).open("xb") as file:
                for chunk in chunks:
                    file.write(chunk)
                    md5.update(chunk)
                    crc.update(chunk)  # type: ignore[no-untyped-call]
                    size += len(chunk)
        except BaseException:
            self.delete(name)
            raise
        digest: bytes = crc.digest()  # type: ignore[no-untyped-call]
        return Blob(name, size, base64.b64encode(md5.digest()).decode(), base64.b64encode(digest).decode())

    def copy(self, name: str) -> str:
        """Return a second name for the same content; the two are deleted apart."""
        copy = self._new_name()
        try:
            os.link(self.path(name), self.path(copy))
        except FileNotFoundError:
            raise
        except OSError:
            shutil.copyfile(self.path(name), self.path(copy))
        return copy

    def open(self, name: str) -> BinaryIO:
        """Open a blob. Raises FileNotFoundError when it was deleted meanwhile."""
        return self.path(name).open("rb")

    def chunks(self, name: str, size: int = 1 << 20) -> Iterable[bytes]:
        with self.open(name) as file:
            while chunk := file.read(size):
                yield chunk

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self.path(name).unlink()

    def path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def sweep(self, named: set[str], before: float) -> int:
        """Remove files that nothing names, older than `before` (seconds since the epoch). Return how many."""
        removed = 0
        for file in self._folder.glob("??/*"):
            if file.name not in named and file.stat().st_mtime < before:
                file.unlink(missing_ok=True)
                removed += 1
        return removed

    def _new_name(self) -> str:
        name = uuid.uuid4().hex
        (self._folder / name[:2]).mkdir(exist_ok=True, mode=0o700)
        return name
