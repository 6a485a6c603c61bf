"""The edited files of a change: a list of names, and the texts of two checkouts. No file is run.

The base branch is checked out in the current directory, the change in another one if there is one.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.reviewing.forge_table import FILES
from slipway.reviewing.sources import text_of

_DECLARED = "*.md docs/* jobs/* pipelines/*.yaml pipelines/*.json stacks/* templates/* tests/* vertex-local/* ../*"
_WITHOUT_EFFECT = "*.md *.ipynb *.gitignore *.editorconfig *LICENSE mkdocs.yml *.github/ISSUE_TEMPLATE/*"
# GitHub and GitLab read these in the repository's root folder too.
_READ_BY_FORGE = ("CODEOWNERS", ".gitattributes", ".gitmodules", ".ci/", *FILES)
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_STATUS = re.compile(r"[ABCDMRTUX]\d*")
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(txt|in)")
ADDRESS = re.compile(r"[A-Za-z0-9._%+'-]{1,64}@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
"""An address of a person or an account. The name has at most the characters that mail allows: without a limit, a long
line of letters would be read again from each letter."""
_LARGEST = 4 * 2**20
"""Bytes of a file that is read."""
_MOST_CODE = 2_000
"""Files of code that are read."""


@dataclass(frozen=True)
class Sides:
    """The text of a file before and after a change; empty if the file does not exist on that side."""

    before: str = ""
    after: str = ""


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
    #: All Python files of jobs and templates after the change, and the jobs' pyproject.toml.
    code: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def code_before(self) -> Mapping[str, str]:
        """The same files before the change."""
        code = {path: text for path, text in self.code.items() if path not in self.touched}
        for path, sides in self.texts.items():
            if is_code(path) and sides.before:
                code[path] = sides.before
        return code

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Addresses of people on lines that differ, which any diff shows."""
        found: set[str] = set()
        for sides in self.texts.values():
            for line in {*sides.before.splitlines()} ^ {*sides.after.splitlines()}:
                found.update(match[0] for match in ADDRESS.finditer(line))
        return frozenset(found)


NO_FILES = Files()


def seen_from(folder: str, path: str) -> str:
    """Return `stacks/x.yaml` for `a/b/stacks/x.yaml` from `a/b`, and `../../.github/x` for `.github/x`. Both are in the
    repository; an empty folder is its root."""
    return posixpath.relpath(path, folder) if folder else path


def deploys(path: str) -> bool:
    """Return whether a file deploys, reviews or grants permissions."""
    if _matches(path, _WITHOUT_EFFECT.split()):
        return False
    for part in _READ_BY_FORGE:
        if fnmatchcase(path, f"*{part}*" if part.endswith("/") else f"*{part}"):
            return True
    return not _matches(path, _DECLARED.split())


def _matches(path: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(path, glob) for glob in globs)


def has_pins(path: str) -> bool:
    """Return whether a file lists requirements of the deployment."""
    return _REQUIREMENTS.fullmatch(path) is not None


def is_code(path: str) -> bool:
    """Return whether a file belongs to the code of jobs or templates."""
    if not path.startswith(("jobs/", "templates/")):
        return False
    return path.endswith((".py", "/pyproject.toml"))


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
        if status.startswith(("D", "R")):
            removed.add(seen[0])
    if not head:
        return Files(frozenset(touched), frozenset(removed))
    checkout = _Checkout(Path(head), folder)
    base = _Checkout(Path(), folder)
    links = frozenset(path for path in touched if checkout.is_link(path) or base.is_link(path))
    files = Files(frozenset(touched), frozenset(removed), links)
    if checkout.root == base.root:
        return files
    return _with_texts(files, base, checkout)


def _with_texts(files: Files, base: _Checkout, head: _Checkout) -> Files:
    texts: dict[str, Sides] = {}
    unread: set[str] = set()
    for path in sorted(files.touched - files.links):
        after = "" if path in files.removed else head.text(path)
        before = base.text(path)
        if before is None or after is None:
            unread.add(path)
        else:
            texts[path] = Sides(before, after)
    is_read = any(path.startswith(("jobs/", "templates/", "stacks/")) for path in files.touched)
    code = head.code() if is_read else {}
    return Files(files.touched, files.removed, files.links, texts, frozenset(unread), code)


@dataclass(frozen=True)
class _Checkout:
    """The project's folder in a checkout. A file of it may lead anywhere, so links are not followed."""

    path: Path
    #: The project's folder in its repository.
    folder: str

    @cached_property
    def root(self) -> Path:
        # `Path.resolve` raises for links that lead to each other.
        return Path(os.path.realpath(self.path))

    @cached_property
    def repository(self) -> Path:
        return self.root.joinpath(*[".." for _ in PurePosixPath(self.folder).parts])

    def is_link(self, path: str) -> bool:
        place = os.path.normpath(self.root / path)
        return os.path.realpath(place) != place

    def text(self, path: str) -> str | None:
        """Return the text of a file; empty if it does not exist, None if it can't be read as text."""
        place = Path(os.path.normpath(self.root / path))
        if not place.is_relative_to(os.path.normpath(self.repository)):
            return None
        # `Path` raises for a name that no file can have.
        if not os.path.lexists(place):
            return ""
        try:
            if not place.is_file() or place.stat().st_size > _LARGEST:
                return None
            text = text_of(str(place))
        except (OSError, ConfigError):
            return None
        return None if "\0" in text else text

    def code(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for folder in ("jobs", "templates"):
            if self.is_link(folder):
                continue
            for place in islice(sorted((self.root / folder).rglob("*")), _MOST_CODE):
                path = place.relative_to(self.root).as_posix()
                if is_code(path) and not self.is_link(path):
                    found[path] = self.text(path) or ""
        return found


def is_own(file: str, checkout: Path) -> bool:
    """Return whether a file of the checkout exists and is no link."""
    folder = _Checkout(checkout, "")
    return not folder.is_link(file) and os.path.lexists(checkout / file) and (checkout / file).is_file()


def _require_whole(file: str, status: str, paths: list[str]) -> None:
    expected = 1 + status.startswith(("C", "R"))
    if _STATUS.fullmatch(status) and len(paths) == expected and all(paths):
        return
    raise ConfigError(
        f"{quoted(file)} is not a whole list of files",
        why=f"{quoted(' '.join((status, *paths)))} is not a file with a status: the list is cut or has other flags",
        fix="make it with git diff --name-status -z BASE",
    )


def _listed(text: str) -> Iterator[list[str]]:
    """Yield each status with its paths: `M\\tpath` and `R100\\told\\tnew`, or the same between zero bytes. An incomplete
    end is yielded alone."""
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
