"""The upkeep of this machine's cache: how much room its entries take, and which go."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import files
from . import cache, wheels

MOST: Mapping[str, int] = {"environments": 20, "images": 20, "wheels": 100}
"""The parts of the cache that jobs fill, each with the number of entries kept: those that were used last."""

MOST_BYTES = 6 * 1000**3
"""The bytes kept in all, where nothing beyond was used within `RECENT_S`."""

RECENT_S = 3600.0
_MARK = "trimmed"


@dataclass(frozen=True)
class Entry:
    """An entry of a part."""

    part: str
    folder: Path
    #: When it last served a job, in seconds since 1970.
    used: float
    #: Its bytes on the disk, as far as no entry that was used later shares them by hard links.
    size: int


def entries(root: Path) -> list[Entry]:
    """Return the entries of all parts, those that were used last first."""
    listed = []
    for part in MOST:
        with contextlib.suppress(FileNotFoundError):
            listed += [(_used(path), part, path) for path in (root / part).iterdir() if path.is_dir()]
    seen: set[tuple[int, int]] = set()
    return [
        Entry(part=part, folder=folder, used=used, size=size(folder, seen))
        for used, part, folder in sorted(listed, reverse=True)
    ]


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
    """Remove what is too much or too old, and return it; `now` in seconds since 1970. Looks once an hour."""
    mark = root / _MARK
    with contextlib.suppress(FileNotFoundError):
        if now - mark.stat().st_mtime < RECENT_S:
            return []
    root.mkdir(parents=True, exist_ok=True)
    mark.touch()
    os.utime(mark, (now, now))
    # Measuring takes minutes, in which a job may have used what goes: the next one would wait for it to be built anew.
    return [entry for entry in surplus(entries(root)) if _used(entry.folder) < now - RECENT_S and remove(entry)]


def surplus(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries beyond the limits, of those that were used last first."""
    total, counts = 0, dict.fromkeys(MOST, 0)
    for entry in entries:
        total += entry.size
        counts[entry.part] += 1
        if total > MOST_BYTES or counts[entry.part] > MOST[entry.part]:
            yield entry


def remove(entry: Entry) -> bool:
    """Remove an entry and return whether it went: one that is being made, copied or run from stays."""
    lock = entry.folder.with_name(f"{entry.folder.name}.lock")
    if entry.part == "wheels":
        lock = wheels.lock(entry.folder)
    with contextlib.suppress(files.BusyError), files.locked(lock):
        cache.remove(entry.folder)
        return True
    return False


def _used(folder: Path) -> float:
    """Return when an entry was used: the folder, its mark or its lock is touched then."""
    times = [0.0]
    for path in (folder, folder / cache.READY, folder.with_name(f"{folder.name}.lock")):
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)
