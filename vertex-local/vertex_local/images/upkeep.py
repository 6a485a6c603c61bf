"""The upkeep of this machine's cache: how much room its entries take, and which go."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import files
from . import cache, wheels

PARTS = ("images", "environments", "wheels")
"""The folders of the cache, which jobs fill."""

MOST_BYTES = 2 * 1000**3
"""The bytes kept in all, beside an entry that is larger by itself."""

LARGE_FOR_S = 86_400.0
"""The seconds for which such an entry stays after its last use: it takes minutes to make, and others fit beside it."""

_LOOK_EVERY_S = 60.0
_MARK = "trimmed"
_SIZE = "size.json"


@dataclass(frozen=True)
class Entry:
    """An entry of a part."""

    part: str
    folder: Path
    #: When it last served a job, in seconds since 1970.
    used: float
    #: Its bytes on the disk, without those that it has by hard links from an image.
    size: int


def entries(root: Path) -> list[Entry]:
    """Return the entries of all parts, those that were used last first."""
    seen: set[tuple[int, int]] = set()
    listed = [
        Entry(part=part, folder=folder, used=_used(folder), size=_size(part, folder, seen))
        for part in PARTS
        for folder in _folders(root / part)
    ]
    return sorted(listed, key=lambda entry: entry.used, reverse=True)


def _folders(part: Path) -> list[Path]:
    try:
        return sorted(path for path in part.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _size(part: str, folder: Path, seen: set[tuple[int, int]]) -> int:
    """Return an entry's bytes. An environment keeps them with it: it has thousands of links to files of its image."""
    if part != "environments" or not (folder / cache.READY).exists():
        return size(folder, seen)
    if kept := files.read_json(folder / _SIZE):
        return int(kept["bytes"])
    measured = size(folder, seen)
    _change(folder, lambda: files.write_json(folder / _SIZE, {"bytes": measured}))
    return measured


def _change(folder: Path, change: Callable[[], object]) -> None:
    """Change what an entry has, without a sign of its use. It may be going meanwhile."""
    with contextlib.suppress(OSError):
        about = folder.stat()
        change()
        os.utime(folder, ns=(about.st_atime_ns, about.st_mtime_ns))


def size(folder: Path | str, seen: set[tuple[int, int]]) -> int:
    """Return the bytes on the disk below a folder, without files that were `seen`, which is added to."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries_there:
        for entry in entries_there:
            with contextlib.suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if (about.st_dev, about.st_ino) not in seen:
                    seen.add((about.st_dev, about.st_ino))
                    total += about.st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    total += size(entry.path, seen)
    return total


def trim(root: Path, now: float) -> list[Entry]:
    """Remove what is too much, and return it; `now` in seconds since 1970.

    Looks once a minute at most, and only where an entry was made since.
    """
    mark = root / _MARK
    looked = mark.stat().st_mtime if mark.exists() else 0.0
    if now - looked < _LOOK_EVERY_S or not any(_changed(root / part) > looked for part in PARTS):
        return []
    mark.touch()
    os.utime(mark, (now, now))
    # A job may have used what goes while all was measured: the next one would wait for it to be built anew.
    return [entry for entry in surplus(entries(root), now) if _used(entry.folder) <= entry.used and remove(entry)]


def surplus(entries: Sequence[Entry], now: float) -> Iterator[Entry]:
    """Yield what is too much, used longest ago first. `entries`: those that were used last first."""
    large = [entry for entry in entries if entry.size > MOST_BYTES]
    yield from (entry for entry in large if entry.used < now - LARGE_FOR_S)
    others = [entry for entry in entries if entry not in large]
    excess = sum(entry.size for entry in others) - MOST_BYTES
    for entry in reversed(others):
        if excess <= 0:
            return
        yield entry
        excess -= entry.size


def remove(entry: Entry) -> bool:
    """Remove an entry and return whether it went: one that is being made, copied or run from stays."""
    lock = entry.folder.with_name(f"{entry.folder.name}.lock")
    if entry.part == "wheels":
        lock = wheels.lock(entry.folder)
    with contextlib.suppress(files.BusyError), files.locked(lock):
        cache.remove(entry.folder)
        if entry.part == "images":  # whose files are from now on those of its environments
            for kept in entry.folder.parent.parent.glob(f"environments/*/{_SIZE}"):
                _change(kept.parent, kept.unlink)
        return True
    return False


def _changed(part: Path) -> float:
    """Return when something was made in a part, or went."""
    try:
        return part.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _used(folder: Path) -> float:
    """Return when an entry was used: the folder, its mark or its lock is touched then."""
    times = [0.0]
    for path in (folder, folder / cache.READY, folder.with_name(f"{folder.name}.lock")):
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)
