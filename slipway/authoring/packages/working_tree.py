"""The files of a folder as git sees them: tracked files as they are on the disk, and new files that are not ignored;
outside of a checkout all are new."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.source_package import is_packed
from slipway.base.errors import ConfigError
from slipway.base.files import OWN_FOLDER
from slipway.base.formatting import quoted, short
from slipway.model.labels import Revision

_ENVIRONMENT = "pyvenv.cfg"
"""The file in the top folder of a virtual environment."""
MOST_FILES = 10_000
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class WorkingTree:
    """A folder's files."""

    files: Mapping[str, bytes]
    #: HEAD; without a commit before the first one, and outside of a checkout.
    revision: Revision


def read(folder: Path) -> WorkingTree:
    """Read a folder. Raises ConfigError for one that is too large, or holds a link that would not travel."""
    if not os.path.isdir(folder):  # noqa: PTH112 - a name that is too long is none, and no error
        raise ConfigError(f"{short(str(folder), 200)} is not a folder", fix=({"code": "./src"}, ", for example"))
    folder = folder.resolve()
    inside = _git(folder, "rev-parse", "--is-inside-work-tree", absent="not a git repository")
    tracked = _code(_git(folder, "ls-files", "-z", "--cached")) if inside else []
    new = _code(_new(folder) if inside else _new_anywhere(folder))
    wanted = sorted({*tracked, *new})
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
    if not inside:
        return WorkingTree(files, Revision("", dirty=True))
    changed = new or _git(folder, "status", "--porcelain", "-z", "--untracked-files=no", "--", ".")
    return WorkingTree(files, Revision(_commit(folder), bool(changed)))


def _new(folder: Path, *options: str) -> str:
    return _git(folder, *options, "ls-files", "-z", "--others", "--exclude-standard")


def _new_anywhere(folder: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="slipway-") as empty:
        _git(folder, "init", "--quiet", "--bare", empty)
        return _new(folder, f"--git-dir={empty}", f"--work-tree={folder}")


def _code(listed: str) -> list[str]:
    """Return the files that git lists, without those of Slipway, Python, its tools and virtual environments."""
    names = [name for name in listed.split("\0") if name]
    environments = tuple(name.removesuffix(_ENVIRONMENT) for name in names if name.endswith(f"/{_ENVIRONMENT}"))
    paths = (PurePosixPath(name) for name in names if not name.startswith(environments))
    return [str(path) for path in paths if OWN_FOLDER not in path.parts and is_packed(path)]


def _content(folder: Path, name: str, most: int) -> bytes | None:
    """Return the content; None for a deleted file. Raises ConfigError, unread, for more than `most` bytes."""
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
        why = problem.strerror or str(problem)
        raise ConfigError(f"can't read {path}", why=why, fix="make it readable, or have git ignore it") from problem
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


def _git(folder: Path, *arguments: str, absent: str = "") -> str:
    """Return git's answer; empty where it refuses with the words `absent`. Raises ConfigError where it refuses
    otherwise, and where there is no git."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
    except OSError as problem:
        why = f"git can't be run: {problem.strerror}"
        raise ConfigError("packing code needs git", why=why, fix="install git, or put it on PATH") from problem
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode and not (absent and absent in message):
        raise ConfigError(
            f"git can't list the folder {folder}",
            why=message or "git says no more",
            fix=f"see what it says: git -C {shlex.quote(str(folder))} status",
        )
    return done.stdout.decode(errors="surrogateescape")


def _too_much(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"the folder {folder} is too large to pack",
        why=why,
        fix="name a smaller folder, or have git ignore data and results",
    )
