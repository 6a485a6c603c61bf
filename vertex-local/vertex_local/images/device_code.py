"""What an image's libraries have and no machine here reads: code for GPUs, half of a PyTorch from PyPI, and the tables
of names for debuggers."""

import contextlib
import ctypes
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin", b".cask_resource", b".symtab", b".strtab")
#: Data of NVIDIA's own libraries, in which large ones have more code for GPUs.
_OF_NVIDIA = (b".ldata",)
_NVIDIA = "nvidia"
_ELF_64 = b"\x7fELF\x02\x01"
_KEEP_SIZE, _PUNCH_HOLE = 1, 2


def forget(folder: Path) -> None:
    """Let these sections read as zeros, which take no room, except in hard links and where no holes can be."""
    for library in folder.rglob("*.so*"):
        if not library.is_symlink() and library.is_file() and library.stat().st_nlink == 1:
            # A file that only begins like a library has numbers that lead anywhere.
            with contextlib.suppress(OSError, ValueError, LookupError, struct.error), library.open("r+b") as file:
                more = _OF_NVIDIA if _NVIDIA in library.relative_to(folder).parts else ()
                for begin, size in list(sections(file, (*_SECTIONS, *more))):
                    _punch(file, begin, size)


def sections(file: IO[bytes], wanted: Collection[bytes] = _SECTIONS) -> Iterator[tuple[int, int]]:
    """Yield (offset, size) of each section with one of these names in a library (ELF, 64 bits, little-endian)."""
    head = file.read(64)
    if not head.startswith(_ELF_64):
        return
    (table,) = struct.unpack_from("<Q", head, 40)
    length, count, names_at = struct.unpack_from("<3H", head, 58)
    file.seek(table)
    headers = [struct.unpack_from("<IIQQQQ", file.read(length)) for _ in range(count)]
    if not headers:
        return
    file.seek(headers[names_at][4])
    names = file.read(headers[names_at][5])
    for name, _, _, _, begin, size in headers:
        if names[name:].partition(b"\0")[0] in wanted:
            yield begin, size


def _punch(file: IO[bytes], begin: int, size: int) -> None:
    punch = getattr(ctypes.CDLL(None), "fallocate64", None)
    if punch is not None:
        punch(file.fileno(), _PUNCH_HOLE | _KEEP_SIZE, ctypes.c_int64(begin), ctypes.c_int64(size))
