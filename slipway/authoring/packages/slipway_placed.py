"""The files of a session's folder: those that requests have, beside those that commands have written."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_exchange import Request
from slipway.authoring.packages.slipway_files import Moment


class Files:
    """The folder's files as requests have them, and all contents that came, by their digests, in a folder of ours."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.folder, self.store = folder, store
        self.placed: dict[str, tuple[str, bool, Moment]] = {}
        self.written = 0
        store.mkdir(exist_ok=True)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                content, status = path.read_bytes(), path.stat()
                digest = hashlib.sha256(content).hexdigest()
                self.take({digest: content})
                own = bool(status.st_mode & 0o100)
                self.placed[path.relative_to(folder).as_posix()] = digest, own, Moment.of(status)

    def take(self, contents: Mapping[str, bytes]) -> None:
        for digest, content in contents.items():
            (self.store / digest).write_bytes(content)

    def put(self, request: Request) -> None:
        """Make the folder's files those of a request, whatever commands did to them. Raises OSError."""
        for name in [name for name in self.placed if name not in request.files]:
            (self.folder / name).unlink(missing_ok=True)
            del self.placed[name]
        # Python takes a compiled module for its source by the second of its time.
        self.written = max(self.written + 1, int(time.time()))
        for name, digest in request.files.items():
            path, executable = self.folder / name, name in request.executable
            with contextlib.suppress(OSError):
                if self.placed.get(name) == (digest, executable, Moment.of(path.stat())):
                    continue
            content = (self.store / digest).read_bytes()
            self._clear(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if executable else 0o644)
            os.utime(path, (self.written, self.written))
            self.placed[name] = digest, executable, Moment.of(path.stat())

    def _clear(self, path: Path) -> None:
        """Remove what stands in a file's place, a folder too, and files where it has folders."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        for place in (path, *path.parents):
            if place == self.folder:
                return
            if place == path or not place.is_dir():
                place.unlink(missing_ok=True)
