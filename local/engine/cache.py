"""A cache folder: written under a lock, published by one rename, never half there."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MARKER = "complete.json"
_PARTIAL = ".partial-"


def root(environ: Mapping[str, str]) -> Path:
    """Return `$SLIPWAY_CACHE`, else `$XDG_CACHE_HOME/slipway`, else `~/.cache/slipway`; always absolute."""
    if own := environ.get("SLIPWAY_CACHE"):
        return Path(own).expanduser().absolute()
    shared = environ.get("XDG_CACHE_HOME", "")
    # The XDG rules: a relative path is ignored.
    if shared and Path(shared).is_absolute():
        return Path(shared) / "slipway"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "slipway"


@dataclass(frozen=True)
class Cache:
    """A folder with a sub-folder for each finished thing, complete from the moment it has its name."""

    folder: Path

    def ready(self, name: str) -> Path | None:
        """Return the finished folder `name`, or None when it is missing, unfinished or damaged."""
        place = self.folder / name
        try:
            sizes = json.loads((place / MARKER).read_text())
            whole = all((place / file).stat().st_size == size for file, size in sizes.items())
        except (OSError, ValueError, AttributeError):
            return None
        return place if whole else None

    @contextmanager
    def hold(self, progress: Callable[[str], None]) -> Iterator[int]:
        """Hold the cache's lock, so that nobody else writes here; yield the lock's file descriptor.

        The descriptor is handed to the build's processes. So a build whose starter was killed keeps the lock until it
        has ended itself, and nobody clears a folder that is still written to.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            began = time.monotonic()
            while not _taken(handle):
                progress(f"waiting for another process that makes the engine · {time.monotonic() - began:.0f} s")
                time.sleep(1)
            for stale in self.folder.glob(f"{_PARTIAL}*"):
                shutil.rmtree(stale, ignore_errors=True)
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        """Yield an empty folder to fill; it is published as `name` when the block ends well, removed when it doesn't.
        The caller holds the lock."""
        partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
        try:
            yield partial
            self._publish(partial, name)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _publish(self, partial: Path, name: str) -> None:
        partial.chmod(0o755)
        files = sorted(path for path in partial.iterdir() if path.is_file())
        (partial / MARKER).write_text(json.dumps({path.name: path.stat().st_size for path in files}, indent=1) + "\n")
        target = self.folder / name
        if target.exists():
            # Damaged (`ready` said no): renamed first, so that no moment shows a half-removed folder under the name.
            target.rename(self.folder / f"{_PARTIAL}damaged-{os.getpid()}")
        partial.rename(target)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
