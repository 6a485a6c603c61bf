"""A folder that is a local path or gs://bucket/prefix: whole files are written and read back, never parts of them."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any


class Folder:
    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def read(self, name: str) -> bytes | None:
        """The file, or None when there is none."""
        if self._remote:
            from google.api_core.exceptions import NotFound

            try:
                content: bytes = self._blob(name).download_as_bytes()
            except NotFound:
                return None
            return content
        file = Path(self.address, name)
        return file.read_bytes() if file.is_file() else None

    def write(self, name: str, content: bytes) -> str:
        """Write a file; return its place. It is the old one or the new one, whenever the machine goes."""
        if self._remote:
            from google.cloud.storage.retry import DEFAULT_RETRY

            # A store that answers late has most likely kept it: whoever gives up sooner sends it all again.
            self._blob(name).upload_from_string(content, timeout=600, retry=DEFAULT_RETRY)
        else:
            file = Path(self.address, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.with_name(f".{file.name}.new")
            fresh.write_bytes(content)
            fresh.replace(file)
        return posixpath.join(self.address, name)

    @property
    def _remote(self) -> bool:
        return self.address.startswith("gs://")

    def _blob(self, name: str) -> Any:
        import google.cloud.storage as storage

        return storage.Blob.from_string(posixpath.join(self.address, name), client=storage.Client())
