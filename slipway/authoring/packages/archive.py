"""A zip or tar archive of somebody's code, unpacked within bounds: no path and no link leads out of its folder, and no
few bytes become many."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from slipway.authoring.packages.working_tree import is_packed
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import quoted

ARCHIVE = re.compile(r".*\.(zip|tar|tar\.(gz|bz2|xz)|tgz|tbz2?|txz)", re.I)
UNREADABLE = re.compile(r".*\.(7z|rar|zst|gz|bz2|xz|cab|iso|dmg)", re.I)
"""Names of what is packed by other programs, where ARCHIVE does not have them."""
MOST_UNPACKED = 2**29
"""The most bytes that an archive may unpack to: more than is packed, as what is left out counts as well."""
MOST_MEMBERS = 100_000
_TOO_MUCH = f"it unpacks to more than {MOST_UNPACKED >> 20} MB, or {MOST_MEMBERS:,} files"
_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_FAULTS = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)


@dataclass(frozen=True)
class _Member:
    name: str
    executable: bool
    #: Where a link leads, from its own folder; empty for a file.
    link: str
    #: None for what is neither a file nor a link.
    content: IO[bytes] | None


def unpack(archive: Path, into: Path) -> Path:
    """Unpack an archive, and return its folder: `into`, or the only one at the top of it. What git or macOS keeps
    beside the files is left out. Raises ConfigError for one that is damaged, encrypted, too large or leads out."""
    names, links, left = set[str](), dict[str, str](), MOST_UNPACKED
    try:
        for member in _members(archive):
            name = inner_path(member.name)
            if not name:
                continue
            names.add(name)
            if member.link:
                links[name] = member.link
                continue
            if member.content is None:
                raise _refused(archive, f"{quoted(name)} in it is neither a file nor a link", "leave it out of it")
            left -= _write(into / name, member, left)
            if left < 0 or len(names) > MOST_MEMBERS:
                raise ValueError(_TOO_MUCH)
        for name, target in links.items():
            _link(archive, into, name, target)
    except SlipwayError:
        raise
    except _FAULTS as problem:
        why = getattr(problem, "strerror", "") or str(problem) or type(problem).__name__
        raise _refused(archive, why, "pack the folder of your code anew, without data") from problem
    tops = {name.partition("/")[0] for name in names}
    only = into / tops.pop() if len(tops) == 1 else into
    project = only.is_dir() and not only.is_symlink() and not (only / "__init__.py").exists()
    return only if project else into


def _members(archive: Path) -> Iterator[_Member]:
    """Yield what an archive has, but folders."""
    with archive.open("rb") as file:
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(file) as opened:
                yield from _of_zip(opened)
            return
        magic = file.peek(6)[:6]
        opener = next((opener for start, opener in _OPENERS.items() if magic.startswith(start)), None)
        bounded = _Bounded(opener(file) if opener else file)  # type: ignore[operator]
        with tarfile.open(fileobj=bounded, mode="r|") as tar:
            for member in tar:
                if not member.isdir():
                    link = member.linkname
                    if member.islnk():  # It names its file from the archive's top.
                        link = posixpath.relpath(link, posixpath.dirname(member.name) or ".")
                    content = tar.extractfile(member) if member.isreg() else None
                    yield _Member(member.name, bool(member.mode & stat.S_IXUSR), link, content)


def _of_zip(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        name, mode = info.filename.replace("\\", "/"), info.external_attr >> 16  # Windows writes its own slashes.
        if name.endswith("/"):
            continue
        with archive.open(info) as content:
            link = content.read(4096).decode() if stat.S_ISLNK(mode) else ""
            yield _Member(name, bool(mode & stat.S_IXUSR), link, content)


class _Bounded(io.RawIOBase):
    """A file that is read to MOST_UNPACKED at most. Raises ValueError beyond."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, MOST_UNPACKED

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise ValueError(_TOO_MUCH)
        return content


def inner_path(name: str) -> str:
    """Return a member's path within the folder; empty for what is none of somebody's files. Raises ValueError for one
    that leads out."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name):
        raise ValueError(f"{quoted(name)} in it leads out of its folder")
    # A repository's own settings could have git run a program.
    parts = {part.lower() for part in path.parts}
    kept = is_packed(path) and not parts & {".git", "__macosx"} and not path.name.startswith("._")
    return str(path) if kept and path.parts else ""


def _write(path: Path, member: _Member, most: int) -> int:
    """Write a file's content, `most` bytes and one at most, and return how many it has."""
    assert member.content is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    content = member.content.read(most + 1)
    path.write_bytes(content)
    path.chmod(0o755 if member.executable else 0o644)
    return len(content)


def _link(archive: Path, into: Path, name: str, target: str) -> None:
    """Make a link once all files are there, so that none is written through it."""
    inner = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if target.startswith("/") or inner.startswith(".."):
        raise _refused(
            archive, f"the link {quoted(name)} in it leads out, to {quoted(target)}", "pack what it leads to"
        )
    path = into / name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target, path)  # noqa: PTH211 - a text, and no path of this disk


def _refused(archive: Path, why: str, fix: str) -> ConfigError:
    return ConfigError(f"can't unpack {archive.name}", why=why, fix=fix)
