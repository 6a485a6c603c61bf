"""The folder that a job's outputs are fetched into: one download's alone, and what of them is there already."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from slipway.errors import ConfigError
from slipway.formatting import counted, short
from slipway.jobs.outputs import PARTS, OutputFile

_SHOWN = 5


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Raises ConfigError for what is no folder, while another download writes into it, and where something of somebody
    else's, such as a link, has the name of the folder of parts."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(
            f"{folder} can't be made a folder", why="a file is in its way", fix="move it away, or name another folder"
        ) from None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(f"another download writes into {folder}", fix="wait for it, or name another folder") from None
    else:
        parts = folder / PARTS
        if parts.is_symlink() or (parts.exists() and not parts.is_dir()):
            raise ConfigError(
                f"{parts} is {'a link' if parts.is_symlink() else 'no folder'}",
                why="what has not arrived wholly is kept in a folder of that name",
                fix="move it away, or name another folder",
            )
        yield
    finally:
        os.close(handle)


def present_files(folder: Path, files: list[OutputFile], overwrite: bool) -> list[OutputFile]:
    """The files that are there already. Raises ConfigError for those that differ or are in the way."""
    present, differing = [], []
    for one in files:
        path = folder / one.path
        for parent in list(path.relative_to(folder).parents)[:-1]:
            above = folder / parent
            if above.is_symlink() or (above.exists() and not above.is_dir()):
                raise ConfigError(
                    f"{path} can't be written",
                    why=f"{above} is {'a link' if above.is_symlink() else 'no folder'}",
                    fix="move it away, or name another folder",
                )
        if path.is_dir() and not path.is_symlink():
            raise ConfigError(
                f"{path} can't be written", why="it is a folder", fix="move it away, or name another folder"
            )
        if is_file_of(path, one):
            present.append(one)
        elif os.path.lexists(path):
            differing.append(one)
    if differing and not overwrite:
        differ = "differs" if len(differing) == 1 else "differ"
        raise ConfigError(
            f"{counted(len(differing), 'file')} of {folder} {differ} from what the job has written",
            why=listed(str(one.path) for one in differing),
            fix="name another folder, or replace them: --overwrite (overwrite=True)",
        )
    return present


def is_file_of(path: Path, one: OutputFile) -> bool:
    """By the contents where the service knows their hash, else by size and time, which a download sets."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size != one.stored.size:
        return False
    if not one.stored.md5:
        return one.stored.updated is not None and int(path.stat().st_mtime) == int(one.stored.updated.timestamp())
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest() == one.stored.md5


def listed(texts: Iterable[str]) -> str:
    """A line each, of the first few."""
    found = [short(text, 120) for text in texts]
    more = len(found) - _SHOWN
    return "\n".join([*found[:_SHOWN], *([f"and {more:,} more"] if more > 0 else [])])
