"""The files of a folder as git sees them: tracked files as they are on the disk, and new files that are not ignored."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slipway.errors import ConfigError
from slipway.formatting import quoted, short
from slipway.labels import Revision

_OWN = ".slipway"  # The state of `slipway use` is not code.
_ALL_BUT_OWN = f":(exclude,glob)**/{_OWN}/**"
MOST_FILES = 10_000
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class WorkingTree:
    """A folder in a git checkout. `files` by path in the folder. `revision` is HEAD, of no commit before the first
    one."""

    files: Mapping[str, bytes]
    revision: Revision


def read(folder: Path) -> WorkingTree:
    """Read a folder. Raises ConfigError for a folder outside a git checkout, one that is too large, or holds a link
    that would not travel."""
    if not os.path.isdir(folder):  # noqa: PTH112 - a name that is too long is none, and no error
        raise ConfigError(f"{short(str(folder), 200)} is not a folder", fix=({"code": "./src"}, ", for example"))
    folder = folder.resolve()
    names = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    wanted = sorted({name for name in names if name and _OWN not in PurePosixPath(name).parts})
    if odd := next((name for name in wanted if not name.isprintable()), ""):
        raise ConfigError(
            f"the folder {folder} has a file called {quoted(odd)}",
            why="a package that holds such a name can't be installed",
            fix=f"rename it, or keep it out by .gitignore: {folder / '.gitignore'}",
        )
    if len(wanted) > MOST_FILES:
        raise _too_much(folder, f"it has {len(wanted):,} files, and {MOST_FILES:,} is the most")
    files: dict[str, bytes] = {}
    size = 0
    for name in wanted:
        content = _content(folder, name, MOST_BYTES - size)
        if content is not None:
            files[name] = content
            size += len(content)
    changed = _git(folder, "status", "--porcelain", "-z", "--untracked-files=normal", "--", ".", _ALL_BUT_OWN)
    return WorkingTree(files, Revision(_commit(folder), bool(changed)))


def _content(folder: Path, name: str, most: int) -> bytes | None:
    """Return the content; None for a tracked file that was deleted. Raises ConfigError for a file of more than `most`
    bytes, unread."""
    path = folder / name
    try:
        status = path.lstat()
        mode = status.st_mode
        if stat.S_ISREG(mode):
            if status.st_size > most:
                raise _too_much(folder, f"its files have more than {MOST_BYTES >> 20} MB; {name} is the one beyond")
            return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise ConfigError(f"can't read {path}", why=problem.strerror or str(problem)) from problem
    what = "a symbolic link" if stat.S_ISLNK(mode) else "a submodule" if stat.S_ISDIR(mode) else "not a regular file"
    raise ConfigError(
        f"{path} is {what}, which would not be packed",
        why="what runs is exactly the files that are packed",
        fix="put the file itself there, or have git ignore it (.gitignore)",
    )


def _commit(folder: Path) -> str:
    try:
        return _git(folder, "rev-parse", "--verify", "-q", "HEAD").strip()
    except ConfigError:
        return ""


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments], cwd=folder, capture_output=True, check=False
        )
    except OSError as problem:
        raise ConfigError("packing code needs git", why=f"git can't be run: {problem.strerror}") from problem
    if done.returncode:
        raise ConfigError(
            f"the folder {folder} is not in a git checkout",
            why=done.stderr.decode(errors="replace").strip().splitlines()[-1] if done.stderr else "git says no more",
            fix="git init   (without a commit it will do; where there is one, jobs are labelled with it)",
        )
    return done.stdout.decode(errors="surrogateescape")


def _too_much(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"the folder {folder} is too large to pack",
        why=why,
        fix="name a smaller folder, or have git ignore data and results",
    )
