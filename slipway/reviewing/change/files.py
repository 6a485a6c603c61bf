"""The edited files of a change: a list of names, and the texts of two checkouts. No file is run.

The base branch is checked out in the current directory, the change in another one if there is one.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cached_property
from itertools import chain, filterfalse, islice
from pathlib import Path

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.reviewing.change.left_out import left_out
from slipway.reviewing.forge_table import FILES
from slipway.reviewing.sources import text_of

_DECLARED = "*.md docs/* jobs/* pipelines/*.yaml pipelines/*.json stacks/* templates/* tests/* vertex-local/* ../*"
_WITHOUT_EFFECT = "*.md *.ipynb *.gitignore *.editorconfig *LICENSE mkdocs.yml *.github/ISSUE_TEMPLATE/* *.DS_Store"
# Python could load bytecode (`__pycache__`) in the place of a program's file.
_GENERATED = "*.pytest_cache/* *.mypy_cache/* *.ruff_cache/* *.ipynb_checkpoints/* *.egg-info/* *.sw[op] *~"
# GitHub and GitLab read these in the repository's root folder too.
_READ_BY_FORGE = " ".join(f"*{name}*" for name in (".ci/", *FILES)) + " *CODEOWNERS *.gitattributes *.gitmodules"
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_STATUS = re.compile(r"[ABCDMRTUX]\d*")
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(txt|in)")
_LISTS = re.compile(rf"{_REQUIREMENTS.pattern}|(?:.*/)?(pyproject\.toml|uv\.lock|poetry\.lock)")
_CODE = re.compile(r"(jobs|templates)/.*(\.py|/pyproject\.toml|/\.slipwayignore)", re.DOTALL)
ADDRESS = re.compile(r"[A-Za-z0-9._%+'-]{1,64}@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
"""An address of a person or an account. The name has at most the characters that mail allows: without a limit, a long
line of letters would be read again from each letter."""
MOST_READ = 200_000
"""Characters of a file that is parsed or compared line by line."""
_LARGEST = 4 * 2**20
"""Bytes of a file that is read."""


@dataclass(frozen=True)
class Sides:
    """The text of a file before and after a change; empty if the file does not exist on that side."""

    before: str = ""
    after: str = ""

    @property
    def longest(self) -> int:
        """The characters of the longer side."""
        return max(len(self.before), len(self.after))


@dataclass(frozen=True)
class Files:
    """The files of a change, by their paths from the project's folder."""

    touched: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    #: Symbolic links, which are not read.
    links: frozenset[str] = frozenset()
    #: The texts of touched files; none without another checkout.
    texts: Mapping[str, Sides] = field(default_factory=dict)
    #: Touched files that are not text, too large or unreadable.
    unread: frozenset[str] = frozenset()
    #: All Python files of jobs and templates after the change, and the jobs' pyproject.toml and .slipwayignore.
    code: Mapping[str, str] = field(default_factory=dict)
    #: The paths of all files of jobs after the change.
    of_jobs: frozenset[str] = frozenset()

    @cached_property
    def code_before(self) -> Mapping[str, str]:
        """The same files before the change."""
        edited = filter(is_code, self.texts)
        return {**self.code, **{path: self.texts[path].before for path in edited}}

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The files of jobs that no package has after the change."""
        return left_out(self.code, self.of_jobs)

    @cached_property
    def left_out_before(self) -> frozenset[str]:
        """The same files, as far as no package had them before the change."""
        return left_out(self.code_before, self.of_jobs)

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Addresses of people on lines that differ, which any diff shows."""
        found: set[str] = set()
        for sides in self.texts.values():
            lines = {*sides.before.splitlines()} ^ {*sides.after.splitlines()}
            found.update(match[0] for match in ADDRESS.finditer("\n".join(lines)))
        return frozenset(found)


NO_FILES = Files()


def seen_from(folder: str, path: str) -> str:
    """Return `stacks/x.yaml` for `a/b/stacks/x.yaml` from `a/b`, and `../../.github/x` for `.github/x`. Both are in the
    repository; an empty folder is its root."""
    if not folder:
        return path
    return posixpath.relpath(path, folder)


def _any_of(globs: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs.split())))


_HARMLESS = _any_of(f"{_WITHOUT_EFFECT} {_GENERATED}")
_BY_FORGE = _any_of(_READ_BY_FORGE)
_NOT_PROGRAM = _any_of(_DECLARED)


def deploys(path: str) -> bool:
    """Return whether a file deploys, reviews or grants permissions."""
    if _HARMLESS.match(path):
        return False
    return bool(_BY_FORGE.match(path)) or not _NOT_PROGRAM.match(path)


def has_pins(path: str) -> bool:
    """Return whether a file lists requirements of the deployment."""
    return _REQUIREMENTS.fullmatch(path) is not None


def is_list(path: str) -> bool:
    """Return whether a file lists dependencies alone."""
    return _LISTS.fullmatch(path) is not None


def is_code(path: str) -> bool:
    """Return whether a file belongs to the code of jobs or templates."""
    return _CODE.fullmatch(path) is not None


def printable(path: str) -> str:
    """Return a path without control characters and backticks."""
    shown = [char if char.isprintable() else ascii(char)[1:-1] for char in path]
    return "".join(shown).replace("`", "'")


def files_of(file: str | None, head: str | None, folder: str = "") -> Files:
    """Read the files of a change.

    Args:
        file: The output of `git diff --name-status`, with or without `-z`; a bare path counts as touched.
        head: The project's folder in a checkout of the change.
        folder: The project's folder in its repository.

    Raises:
        ConfigError: The list is cut or has another format.
    """
    if file is None:
        return NO_FILES
    touched: set[str] = set()
    removed: set[str] = set()
    for status, *paths in _listed(text_of(file)):
        _require_whole(file, status, paths)
        seen = [seen_from(folder, path) for path in paths]
        touched.update(seen[status.startswith("C") :])
        removed.update(seen[: status.startswith(("D", "R"))])
    files = Files(frozenset(touched), frozenset(removed))
    if not head:
        return files
    return _with_texts(files, Path(head))


def _with_texts(files: Files, head: Path) -> Files:
    base = Path()
    touched = sorted(files.touched)
    links = frozenset(path for path in touched if is_link(path, base) or is_link(path, head))
    # A file compared with itself would look as if nothing had changed.
    if os.path.realpath(base) == os.path.realpath(head):
        return replace(files, links=links)
    texts: dict[str, Sides] = {}
    unread: set[str] = set()
    for path in filterfalse(links.__contains__, touched):
        before = _text(base / path)
        after = _text(head / path)
        if before is None or after is None:
            unread.add(path)
        else:
            texts[path] = Sides(before, after)
    files = replace(files, links=links, texts=texts, unread=frozenset(unread))
    is_used = any(path.startswith(("jobs/", "templates/", "stacks/")) for path in touched)
    return _with_code(files, head) if is_used else files


def _with_code(files: Files, head: Path) -> Files:
    listed = frozenset(_of_jobs_and_templates(head))
    code = {path: _text(head / path) or "" for path in sorted(filter(is_code, listed))}
    of_jobs = frozenset(path for path in listed if path.startswith("jobs/"))
    return replace(files, code=code, of_jobs=of_jobs)


def _text(place: Path) -> str | None:
    """Return the text of a file, empty if it does not exist; None if it can't be read, is too large or not text."""
    # `Path` raises for a name that no file can have.
    if not os.path.lexists(place):
        return ""
    try:
        text = text_of(str(place)) if place.stat().st_size <= _LARGEST else "\0"
    except (OSError, ConfigError):
        return None
    if "\0" in text:
        return None
    return text


def _of_jobs_and_templates(checkout: Path) -> Iterator[str]:
    """Yield the files of jobs and templates. A folder that is a link may lead anywhere."""
    folders = [checkout / name for name in ("jobs", "templates") if not is_link(name, checkout)]
    for top, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            path = Path(top, name).relative_to(checkout).as_posix()
            if is_own(path, checkout):
                yield path


def is_link(file: str, checkout: Path) -> bool:
    """Return whether a file of a checkout is a link, or lies in a folder that is one."""
    # `Path.resolve` raises for links that lead to each other.
    place = os.path.normpath(Path(os.path.realpath(checkout), file))
    return os.path.realpath(place) != place or (os.path.lexists(place) and Path(place).is_symlink())


def is_own(file: str, checkout: Path) -> bool:
    """Return whether a file of the checkout exists and is no link."""
    return os.path.lexists(checkout / file) and (checkout / file).is_file() and not is_link(file, checkout)


def _require_whole(file: str, status: str, paths: list[str]) -> None:
    expected = 1 + status.startswith(("C", "R"))
    if _STATUS.fullmatch(status) and len(paths) == expected and all(paths):
        return
    why = f"{quoted(' '.join((status, *paths)))} is not a file with a status: the list is cut or has other flags"
    fix = "make it with git diff --name-status -z BASE"
    raise ConfigError(f"{quoted(file)} is not a whole list of files", why=why, fix=fix)


def _listed(text: str) -> Iterator[list[str]]:
    """Yield each status with its paths, separated by tabs or by zero bytes. An incomplete end is yielded alone."""
    if "\0" not in text:
        # Names may contain Unicode's other line ends.
        for line in filter(str.strip, text.split("\n")):
            yield line.split("\t") if "\t" in line else ["M", line.strip()]
        return
    *words, rest = text.split("\0")
    left = iter(words)
    for status in left:
        yield [status, *islice(left, 1 + status.startswith(("C", "R")))]
    if rest:
        yield [rest]
