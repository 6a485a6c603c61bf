"""Atomic files: a reader sees the old one or the new one, whatever happens in between. Folders of Slipway's own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

OWN_FOLDER = ".slipway"
"""The folder for what Slipway writes into a checkout or another folder of a person's."""
OWN_PAGE = '<meta name="generator" content="Slipway">'
"""The mark, in its first `OWN_PAGE_WITHIN` bytes, of a page that Slipway writes where people ask for it."""
OWN_PAGE_WITHIN = 512


def write_atomically(path: Path, content: str | bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Write `content` to `path`: a reader, also after a kill, sees the old or the new file whole.

    It is on the disk before the name points at it, unless `durable` is False: then a power cut, but no kill, may lose
    it. A device or a pipe is written to, never replaced, and a link stays one. Raises OSError with the old file
    untouched.
    """
    path = path.resolve()
    if isinstance(content, str):
        content = content.encode()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def leftovers(path: Path) -> list[Path]:
    """Return the leftovers of killed runs that were writing a file."""
    begun = re.compile(re.escape(_prefix(path)) + r"[a-z0-9_]{8}")
    return [entry for entry in path.parent.glob(".*") if begun.fullmatch(entry.name)]


def _prefix(path: Path) -> str:
    return f".{path.name}."


def own_folder(environ: Mapping[str, str], variable: str, default: str) -> Path | None:
    """Return Slipway's folder below a folder of the XDG standard, or below its `default` in the home folder; None for a
    user without a home."""
    base = Path(environ.get(variable, "").strip())
    if not base.is_absolute():  # The standard says to ignore a relative path, as it means another folder each time.
        try:
            base = Path.home() / default
        except RuntimeError:
            return None
    return base / "slipway"


def make_folder(folder: Path) -> None:
    """Make a folder with its parents; git ignores OWN_FOLDER in any checkout. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for parent in (folder, *folder.parents):
        if parent.name == OWN_FOLDER and not (parent / ".gitignore").exists():
            write_atomically(parent / ".gitignore", "*\n")


def from_here(path: Path) -> str:
    """Return a path as a person here types it: relative where it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def repository(folder: Path) -> Path:
    """Return the top of the repository that contains a folder; the folder itself where there is none."""
    here = folder.resolve()
    return next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)
