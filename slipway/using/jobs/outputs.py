"""The files that a job's outputs become, and the folder that they are fetched into. The job chose the names of the
objects, so each name is checked before it becomes a path."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

from slipway.base.codec import At
from slipway.base.errors import ConfigError
from slipway.base.files import write_atomically
from slipway.base.formatting import counted, first_lines, short, unfit
from slipway.google.storage import StoredObject

PARTS = ".slipway-download"
"""The folder of partial downloads, beside the files."""
_FETCHED = "# fetched by slipway jobs download"
_LONGEST = 255
"""The longest file name in bytes, on most systems."""
_SHOWN = 5
_ANOTHER = "move it away, or name another folder"


@dataclass(frozen=True)
class OutputFile:
    """An output to fetch."""

    stored: StoredObject
    #: Relative to the folder that the outputs are fetched into.
    path: PurePosixPath

    def is_at(self, path: Path) -> bool:
        """Tell whether the file is there already: by its contents where the service knows their hash, else by size and
        time, which a download sets."""
        if path.is_symlink() or not path.is_file() or path.stat().st_size != self.stored.size:
            return False
        if not self.stored.md5:
            updated = self.stored.updated
            return updated is not None and int(path.stat().st_mtime) == int(updated.timestamp())
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest() == self.stored.md5


@dataclass(frozen=True)
class LeftOut:
    """An object that can't become a file, and the reason."""

    name: Annotated[str, At("object")]
    why: str


def output_files(objects: Iterable[StoredObject], under: str) -> tuple[list[OutputFile], list[LeftOut]]:
    """Choose the objects to fetch among those whose names begin with `under`, in their order. Empty objects that stand
    for folders, whose names end in `/`, are neither fetched nor left out."""
    named = {stored.at.name.removeprefix(under): stored for stored in objects}
    folders = {str(parent) for name in named for parent in PurePosixPath(name).parents}
    files: list[OutputFile] = []
    left_out: list[LeftOut] = []
    for name, stored in named.items():
        if (not name or name.endswith("/")) and not stored.size:
            continue
        if why := _no_path(name) or ("a folder has the same name" if name in folders else ""):
            left_out.append(LeftOut(stored.at.name, why))
        else:
            files.append(OutputFile(stored, PurePosixPath(name)))
    return files, left_out


def _no_path(name: str) -> str:
    """Return the reason why no file can have this name below a folder; empty for a usable name."""
    parts = name.split("/")
    if wrong := unfit(name):
        return f"its name {wrong}"
    if "" in parts:
        return "a part of its name is empty"
    if "." in parts or ".." in parts:
        return "its name leads to another folder"
    if "\0" in name:
        return "its name has a null character"
    if any(len(part.encode()) > _LONGEST for part in parts):
        return f"a part of its name is longer than {_LONGEST} bytes"
    return f"{PARTS} is for what has not arrived wholly" if parts[0] == PARTS else ""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder for one download. Raises ConfigError for a path that is no folder, while another download writes
    into it, and where something else, such as a link, has the name of the folder of parts."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(f"{folder} can't be made a folder", why="a file is in its way", fix=_ANOTHER) from None
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fix = "wait for it, or name another folder"
            raise ConfigError(f"another download writes into {folder}", fix=fix) from None
        _require_folder(folder / PARTS, "the parts of what is fetched")
        yield
    finally:
        os.close(handle)


def present_files(folder: Path, files: list[OutputFile], overwrite: bool) -> list[OutputFile]:
    """Return the files that are there already. Raises ConfigError for files that differ or are in the way."""
    present, differing = [], []
    for output in files:
        path = folder / output.path
        for parent in list(path.relative_to(folder).parents)[:-1]:
            _require_folder(folder / parent, str(path))
        if path.is_dir() and not path.is_symlink():
            raise ConfigError(f"{path} can't be written", why="it is a folder", fix=_ANOTHER)
        if output.is_at(path):
            present.append(output)
        elif os.path.lexists(path):
            differing.append(output)
    if differing and not overwrite:
        differ = "differs" if len(differing) == 1 else "differ"
        raise ConfigError(
            f"{counted(len(differing), 'file')} of {folder} {differ} from what the job has written",
            why=listed(str(output.path) for output in differing),
            fix="name another folder, or replace them: --overwrite (overwrite=True)",
        )
    return present


def ignore(folder: Path, files: Sequence[OutputFile]) -> None:
    """Have git ignore files that are to be fetched into a folder, so that `--code` does not pack them either: a whole
    folder that has nothing else, else each of them that is new there. Raises OSError."""
    file = folder / ".gitignore"
    new = [output.path for output in files if not (folder / output.path).exists()]
    if not new or any(str(output.path) == file.name for output in files):
        return  # A file of that name is the job's own.
    known = file.read_text("utf-8", "surrogateescape").splitlines() if file.exists() else []
    alone = all(entry.name == PARTS for entry in folder.iterdir())
    wanted = ["*"] if alone else dict.fromkeys((_FETCHED, *(_pattern(folder, path) for path in new)))
    if missing := [line for line in wanted if line not in known and "*" not in known]:
        text = "".join(f"{line}\n" for line in (*known, *missing))
        write_atomically(file, text.encode("utf-8", "surrogateescape"))


def _pattern(folder: Path, path: PurePosixPath) -> str:
    """Return git's pattern for a new file, or for the folder that comes with it."""
    new = next(part for part in (*reversed(path.parents), path) if not (folder / part).exists())
    return "/" + re.sub(r"[\\*?\[ ]", r"\\\g<0>", str(new)).replace("\n", "?")


def _require_folder(path: Path, what: str) -> None:
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        is_now = "a link" if path.is_symlink() else "no folder"
        raise ConfigError(f"{what} can't be written", why=f"{path} is {is_now}", fix=_ANOTHER)


def listed(texts: Iterable[str]) -> str:
    return "\n".join(first_lines((short(text, 120) for text in texts), _SHOWN))
