"""Files that only grow, as logs and TensorBoard's event files do: how much of one that is still written is whole."""

from __future__ import annotations

import struct
from typing import IO, NamedTuple

from slipway.authoring.packages.slipway_files import Moment

EVENTS = ".tfevents."
SEEN = 4096  # The bytes at the end that tell whether what was there before still is.
HEAD, CHECK = struct.Struct("<QI"), 4  # Before a record of events its length and a check of that, after it its own.


class Grown(NamedTuple):
    """An open file at a look: its last bytes then, and of its bytes those that are whole lines or records."""

    inode: int
    size: int
    last: bytes
    whole: int
    #: It is seen to grow, and not only to be written.
    sure: bool


def grown(file: IO[bytes], name: str, now: Moment, before: Grown | None) -> Grown | None:
    """Look at a file that is open for writing; None for one that is neither lines of text nor events, or that is
    written over."""
    start, sure = 0, False
    if before is not None:
        if before.inode != now.inode or before.size > now.size or _last(file, before.size) != before.last:
            return None
        start, sure = before.whole, before.sure or 0 < before.size < now.size
    last = _last(file, now.size)
    if EVENTS in name:
        return Grown(now.inode, now.size, last, _records(file, start, now.size), sure=True)
    file.seek(0)
    if b"\0" in file.read(SEEN) or b"\0" in last:
        return None
    return Grown(now.inode, now.size, last, _lines(file, start, now.size), sure)


def _last(file: IO[bytes], size: int) -> bytes:
    file.seek(max(0, size - SEEN))
    return file.read(min(size, SEEN))


def _lines(file: IO[bytes], start: int, size: int) -> int:
    """The end of the last line, from `start` on."""
    while size > start:
        begin = max(start, size - SEEN)
        file.seek(begin)
        end = file.read(size - begin).rfind(b"\n")
        if end >= 0:
            return begin + end + 1
        size = begin
    return start


def _records(file: IO[bytes], start: int, size: int) -> int:
    """The end of the last record, from `start` on."""
    while start + HEAD.size + CHECK <= size:
        file.seek(start)
        length, _ = HEAD.unpack(file.read(HEAD.size))
        end = start + HEAD.size + length + CHECK
        if end > size:
            break
        start = end
    return start
