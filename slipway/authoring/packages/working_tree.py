"""The files of a folder as git sees them: tracked files as they are on the disk, and new files that are not ignored;
outside of a checkout all are new. `.slipwayignore` leaves out what git has all the same."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from slipway.base.errors import ConfigError, Fix
from slipway.base.files import OWN_FOLDER, OWN_PAGE, OWN_PAGE_WITHIN
from slipway.base.formatting import quoted, short
from slipway.model.labels import Revision

_ENVIRONMENT = ("pyvenv.cfg", "conda-meta/history")
"""Files in the top folder of a virtual environment: of Python's, and of conda's."""
IGNORES = ".slipwayignore"
"""The file of any folder with patterns as git's of what is not packed, tracked or not."""
_OF_TOOLS = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints", ".DS_Store"}
MOST_FILES = 10_000
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class WorkingTree:
    """A folder's files."""

    files: Mapping[str, bytes]
    #: HEAD; without a commit before the first one, and outside of a checkout.
    revision: Revision
    #: Those of the files that the disk has as executable.
    executable: frozenset[str] = frozenset()
    #: Where each link leads that is not packed: out of the folder, in a circle, nowhere, or to what is not packed.
    links: Mapping[str, str] = field(default_factory=dict)
    #: What git ignores and the folder has; `data/` is a whole folder.
    ignored: tuple[str, ...] = ()
    #: What IGNORES leaves out, in the same form.
    left_out: tuple[str, ...] = ()
    #: Submodules of the checkout whose folders are empty.
    unfetched: tuple[str, ...] = ()
    #: The archive, file or address that the folder was made of; empty for a folder of this disk.
    source: str = ""
    #: What was deleted while the folder was read.
    vanished: tuple[str, ...] = ()


def read(folder: Path, source: str = "", commit: str = "", *, reviewed: bool = False) -> WorkingTree:
    """Read a folder: links within it are followed, submodules and other checkouts in it read as they lie there. One
    that was made of a `source`, which may have a `commit`, has nothing that git ignores. Of `reviewed` code files and
    links are read alone, as its commit is the stack's. Raises ConfigError for one that is too large."""
    if not os.path.isdir(folder):  # noqa: PTH112 - a name that is too long is none, and no error
        near = str(folder.parent) if os.path.isfile(folder) else ""  # noqa: PTH113
        fix: Fix = ({"code": near}, ", the file's folder") if near else ({"code": "./src"}, ", for example")
        raise ConfigError(f"{short(str(folder), 200)} is not a folder", fix=fix)
    folder, shown = folder.resolve(), source or str(folder.resolve())
    seen = (
        _every_file(folder, fetched=bool(commit)) if source else _at_once(folder) if reviewed else _as_git_sees(folder)
    )
    out = _left_out(folder, (*seen.tracked, *seen.new))
    out_folders = tuple(each for each in out if each[-1] == "/")
    kept = {name for name in (*seen.tracked, *seen.new) if not name.startswith(out_folders)}
    names, links = _followed(folder, sorted(kept - {*out}))
    kept_out = f"keep {{}} out by a line in {IGNORES if source else folder / IGNORES}"
    if odd := next((name for name in names if not name.isprintable()), ""):
        raise ConfigError(
            f"the folder {shown} has a file called {quoted(odd)}",
            why="a package that holds such a name can't be installed",
            fix=f"rename it, or {kept_out.format('it')}",
        )
    if len(names) > MOST_FILES:
        what = f"{len(names):,} files, and {MOST_FILES:,} is the most"
        raise _too_much(shown, what, Counter(map(_top, names)), kept_out, "files")
    sizes, executable = _sizes(folder, names)
    if sizes.total() > MOST_BYTES:
        by_top = Counter[str]()
        for name, size in sizes.items():
            by_top[_top(name)] += size
        raise _too_much(shown, f"more than {MOST_BYTES >> 20} MB", by_top, kept_out, "bytes")
    files = _contents(folder, {name: path for name, path in names.items() if name in sizes})
    vanished = _vanished(names, sizes, files, seen.tracked)
    revision = Revision(commit, dirty=not commit)
    if seen.inside:
        # Of submodules new files count as well, which git tells only with those of the checkout itself.
        changes = _listed(folder, "status", "--porcelain", "-z", "--untracked-files=normal", "--", ".")
        changed = seen.new or any(not each.startswith("?? ") for each in changes)
        revision = Revision(_commit(folder), bool(changed))
    return WorkingTree(
        files, revision, executable & files.keys(), links, seen.ignored, tuple(out), seen.unfetched, source, vanished
    )


def is_packed(path: PurePath) -> bool:
    """Tell whether a file of a job's folder goes into its package: all do but those that Python's tools leave."""
    return not _OF_TOOLS & set(path.parts) and path.suffix != ".pyc"


@dataclass(frozen=True)
class _Seen:
    """Names of a folder's files."""

    new: list[str]
    tracked: list[str] = field(default_factory=list)
    ignored: tuple[str, ...] = ()
    unfetched: tuple[str, ...] = ()
    #: It is part of a checkout.
    inside: bool = False


def _as_git_sees(folder: Path) -> _Seen:
    inside = bool(_git(folder, "rev-parse", "--is-inside-work-tree", absent="not a git repository"))
    listed = _listed(folder, "ls-files", "-z", "--cached") if inside else []
    tracked = _code(folder, listed)
    # What is named is meant, where the checkout around it ignores it as a whole.
    inside = inside and (bool(tracked) or _run(folder, "check-ignore", "--quiet", "--", str(folder)).returncode != 0)
    with _all_new(folder) as elsewhere:
        place = () if inside else elsewhere
        ignored = _listed(
            folder, *place, "ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-standard"
        )
        unfetched = tuple(name for name in listed if _is_empty_submodule(folder / name))
        return _Seen(
            _new(folder, *place), tracked, tuple(name for name in ignored if _is_own(folder, name)), unfetched, inside
        )


@contextmanager
def _all_new(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield options by which git takes all files of a folder for new ones: a repository that has nothing. It is made
    without git, whose own has hooks and takes a process."""
    with tempfile.TemporaryDirectory(prefix="slipway-") as empty:
        for part in ("objects", "refs"):
            Path(empty, part).mkdir()
        Path(empty, "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        yield f"--git-dir={empty}", f"--work-tree={folder}"


def _at_once(folder: Path) -> _Seen:
    """Return the same files by one call, as a stack has many folders; all of them where there is no git."""
    if not shutil.which("git"):
        return _every_file(folder)
    given = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = _git(folder, *given, absent="not a git repository").split("\0")
    return _Seen(_code(folder, [name for name in names if name])) if any(names) else _as_git_sees(folder)


def _every_file(folder: Path, *, fetched: bool = False) -> _Seen:
    """Return what a folder made of a source has. Whatever settings of git came with it are not followed; where git has
    `fetched` it, they are this machine's."""
    paths = list(_paths(folder))
    names = [path.relative_to(folder) for path in paths]
    listed = _listed(folder, "ls-files", "-z", "--cached") if fetched else []
    unfetched = tuple(name for name in listed if _is_empty_submodule(folder / name))
    return _Seen(_code(folder, [name.as_posix() for name in names if ".git" not in name.parts]), unfetched=unfetched)


def _paths(folder: Path) -> Iterator[Path]:
    """Yield the files and links of a folder, as far as they are not deleted meanwhile."""
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(parent, name)
            if path.is_symlink() or not path.is_dir():
                yield path


def _listed(folder: Path, *arguments: str) -> list[str]:
    return [name for name in _git(folder, *arguments).split("\0") if name]


def _tracked(folder: Path) -> list[str]:
    return _code(folder, _listed(folder, "ls-files", "-z", "--cached"))


def _new(folder: Path, *place: str) -> list[str]:
    return _code(folder, _listed(folder, *place, "ls-files", "-z", "--others", "--exclude-standard"))


def _left_out(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the files and folders (`data/`) that lists of patterns among these files name, whatever git has; a list
    holds for its own folder."""
    lists = [name for name in names if PurePosixPath(name).name == IGNORES]
    if not lists:
        return []
    with _all_new(folder) as place:
        ignored = ("ls-files", "-z", "--others", "--ignored", "--directory", f"--exclude-per-directory={IGNORES}")
        return [*lists, *_listed(folder, *place, *ignored)]


def _code(folder: Path, names: list[str]) -> list[str]:
    """Return the files that git lists, those of checkouts within it too, without those of Slipway, Python, its tools
    and virtual environments."""
    environments = tuple(
        name.removesuffix(mark) for name in names for mark in _ENVIRONMENT if name.endswith(f"/{mark}")
    )
    return [inner for name in names if not name.startswith(environments) for inner in _within(folder, name)]


def _within(folder: Path, name: str) -> Iterator[str]:
    """Yield a name that git lists; for a checkout of its own, which git lists as one name, all that it has."""
    if not _is_own(folder, name):
        return
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        inner = [*_tracked(path), *_new(path)] if (path / ".git").exists() else []
        yield from (str(PurePosixPath(name, each)) for each in inner)
    else:
        yield name


def _is_empty_submodule(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not (path / ".git").exists()


def _is_own(folder: Path, name: str) -> bool:
    """Tell whether a file or folder is a person's own, and nothing that Slipway or tools have made."""
    path = PurePosixPath(name)
    return OWN_FOLDER not in path.parts and is_packed(path) and not _is_page(folder / name)


def _is_page(path: Path) -> bool:
    """Tell whether a file is a page that Slipway wrote, as `slipway board` does."""
    if path.suffix == ".html" and path.is_file():
        with suppress(OSError), path.open("rb") as file:  # One that can't be read is told with the others.
            return OWN_PAGE.encode() in file.read(OWN_PAGE_WITHIN)
    return False


def _followed(folder: Path, names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the path of each file, by its name; and where links lead that can't be followed."""
    paths, links, kept = dict[str, str](), dict[str, str](), set(names)
    for name in names:
        path = folder / name
        if not path.is_symlink():
            paths[name] = name
            continue
        try:
            written = os.readlink(path)  # noqa: PTH115 - as it is written
        except OSError:  # It is deleted meanwhile.
            continue
        target = os.path.realpath(path)
        inner = os.path.relpath(target, folder)
        if inner.startswith("..") or not os.path.exists(target) or path.parent.is_relative_to(target):  # noqa: PTH110
            links[name] = written
        elif os.path.isfile(target):  # noqa: PTH113
            paths[name] = inner
        else:
            below = [each for each in kept if each.startswith(f"{inner}/") and not (folder / each).is_symlink()]
            paths |= {f"{name}{each.removeprefix(inner)}": each for each in below}
            if not below:  # What it leads to is not packed.
                links[name] = inner
    return paths, links


def _sizes(folder: Path, names: Mapping[str, str]) -> tuple[Counter[str], frozenset[str]]:
    """Return the size of each file that is there, and the executable ones. Raises ConfigError for what is no file."""
    sizes, executable = Counter[str](), set[str]()
    for name, path in names.items():
        try:
            status = (folder / path).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as problem:
            raise _unreadable(folder / path, problem) from problem
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(
                f"{folder / path} is not a regular file",
                why="what runs is exactly the files that are packed",
                fix=f"keep it out by a line in {folder / IGNORES}",
            )
        sizes[name] = status.st_size
        if status.st_mode & stat.S_IXUSR:
            executable.add(name)
    return sizes, frozenset(executable)


def _contents(folder: Path, names: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of each file that is not deleted meanwhile."""
    contents = {name: _content(folder / path) for name, path in names.items()}
    return {name: content for name, content in contents.items() if content is not None}


def _vanished(
    names: Mapping[str, str], sizes: Mapping[str, int], files: Mapping[str, bytes], tracked: Iterable[str]
) -> tuple[str, ...]:
    """Return the files that were deleted meanwhile. Git lists `tracked` files that were deleted before, too."""
    deleted_before = {name for name in {*tracked} if name not in sizes}
    return tuple(sorted(name for name in names.keys() - files.keys() if names[name] not in deleted_before))


def _content(path: Path) -> bytes | None:
    """Return a file's content; None where it was deleted meanwhile. Raises ConfigError for one that can't be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def _unreadable(path: Path, problem: OSError) -> ConfigError:
    why = problem.strerror or str(problem)
    return ConfigError(f"can't read {path}", why=why, fix=f"make it readable, or name it in {IGNORES}")


def _commit(folder: Path) -> str:
    try:
        return _git(folder, "rev-parse", "--verify", "-q", "HEAD").strip()
    except ConfigError:
        return ""


def _git(folder: Path, *arguments: str, absent: str = "") -> str:
    """Return git's answer; empty where it refuses with the words `absent`. Raises ConfigError where it refuses
    otherwise, and where there is no git."""
    done = _run(folder, *arguments)
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode and not (absent and absent in message):
        raise ConfigError(
            f"git can't list the folder {folder}",
            why=message or "git says no more",
            fix=f"see what it says: git -C {shlex.quote(str(folder))} status",
        )
    return done.stdout.decode(errors="surrogateescape")


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-c", "core.quotePath=false", *arguments]
    try:
        return subprocess.run(command, cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
    except OSError as problem:
        if not folder.is_dir():  # A folder within it that is deleted meanwhile has nothing.
            return subprocess.CompletedProcess(command, 0, b"", b"")
        why = f"git can't be run: {problem.strerror}"
        raise ConfigError("packing code needs git", why=why, fix="install git, or put it on PATH") from problem


def _top(name: str) -> str:
    head, slash, _ = name.partition("/")
    return f"{head}{slash}"


def _too_much(shown: str, what: str, by_top: Counter[str], kept_out: str, unit: str) -> ConfigError:
    largest = [f"{name} {amount if unit == 'files' else _megabytes(amount)}" for name, amount in by_top.most_common(3)]
    return ConfigError(
        f"the folder {shown} is too large to pack",
        why=f"it has {what}: {', '.join(largest)}",
        fix=f"name a smaller folder, or {kept_out.format(by_top.most_common(1)[0][0])}; "
        "data goes into a bucket: -p data=gs://BUCKET/FOLDER",
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 0.1):,.1f} MB"
