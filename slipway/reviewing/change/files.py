"""The files of a change, read from a list of names and from two checkouts, without running any; what deploys or judges
among them, by its path from the project's folder, which may lie anywhere in its repository.

The base branch is checked out in the folder that this runs in, the change in another one, where there is one.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.reviewing.change.change import NO_FILES, Files
from slipway.reviewing.change.edits import edits
from slipway.reviewing.change.pins import changed
from slipway.reviewing.change.programs import edited_lines, forgetting, job_file, same_program
from slipway.reviewing.forge_table import FILES
from slipway.reviewing.sources import text_of

_DECLARED = "*.md docs/* jobs/* pipelines/*.yaml pipelines/*.json stacks/* templates/* tests/* vertex-local/* ../*"
# The forge reads these in the repository's own top folder too.
_READ_BY_FORGE = ("CODEOWNERS", ".gitattributes", ".gitmodules", ".ci/", *FILES)
_GLOBS = (
    ("*", True),
    *((glob, False) for glob in _DECLARED.split()),
    *((f"*{name}*" if name.endswith("/") else f"*{name}", True) for name in _READ_BY_FORGE),
)
"""Globs of files, and whether these deploy or judge. The last one that matches holds."""
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_STATUS = re.compile(r"[ABCDMRTUX]\d*")
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(txt|in)")
ADDRESS = re.compile(r"[A-Za-z0-9._%+'-]{1,64}@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
"""A person's address, or an account's. The name has as many characters as mail allows, or else a long line of letters
would be read anew from each of them."""


def seen_from(folder: str, path: str) -> str:
    """Return `stacks/x.yaml` for `a/b/stacks/x.yaml` from `a/b`, and `../../.github/x` for `.github/x`. Both are in the
    repository; an empty folder is its top."""
    return posixpath.relpath(path, folder) if folder else path


def deploys(path: str) -> bool:
    return next(does for glob, does in reversed(_GLOBS) if fnmatchcase(path, glob))


def has_pins(path: str) -> bool:
    return _REQUIREMENTS.fullmatch(path) is not None


def files_of(file: str | None, head: str | None, folder: str = "") -> Files:
    """Read the list of `git diff --name-status`, with or without `-z`; a bare path counts as touched. `folder`: the
    project's place in the repository. Raises ConfigError."""
    if file is None:
        return NO_FILES
    touched, removed = set(), set()
    for status, *paths in _listed(text_of(file)):
        if not _STATUS.fullmatch(status) or len(paths) != 1 + status.startswith(("C", "R")) or not all(paths):
            why = f"{quoted(' '.join((status, *paths)))} is no status of a file: it is cut, or of other flags"
            fix = "make it with git diff --name-status -z BASE"
            raise ConfigError(f"{quoted(file)} is not a whole list of files", why=why, fix=fix)
        seen = [seen_from(folder, path) for path in paths]
        touched |= {*seen[status.startswith("C") :]}
        if status.startswith(("D", "R")):
            removed.add(seen[0])
    checkout = Path(head or "")
    names = sorted(touched - removed) if head else []
    links = frozenset(file for file in names if _is_link(checkout, file))
    both = [file for file in names if _beside_base(file, checkout)]
    # The diff of a link shows its target, and not the target's contents.
    texts = {file: (text_of(file), text_of(str(checkout / file))) for file in both if file not in links}
    code = {file: sides for file, sides in texts.items() if file.startswith("jobs/")}
    acts = {file: sides for file, sides in texts.items() if deploys(file) and not has_pins(file)}
    alone = {
        file: (_text(Path(file)), _text(checkout / file))
        for file in sorted(touched - texts.keys() if head else ())
        if file.startswith("jobs/") and not _is_link(checkout, file)
    }
    searched = head and touched and not _is_link(checkout, "jobs")
    same = frozenset(file for file, sides in code.items() if same_program(file, *sides))
    # By these alone code loses what it imports; to find imports, each file has to be parsed.
    imports = removed or any(not file.startswith(("jobs/", "stacks/")) for file in touched)
    return Files(
        touched=frozenset(touched),
        removed=frozenset(removed),
        links=links,
        pins={file: edited for file, sides in texts.items() if has_pins(file) and (edited := changed(*sides))},
        same=same,
        moved=moved(code | alone, removed),
        lines={file: edited_lines(file, *sides) for file, sides in (code | acts).items() if file not in same},
        forgetting=forgetting(code | alone),
        code={
            name: job_file(text_of(str(path)), name if imports else "")
            for path in sorted((checkout / "jobs").rglob("*.py") if searched else ())
            if is_own(name := path.relative_to(checkout).as_posix(), checkout)
        },
        stacks={match[1]: edits(*sides) for file, sides in texts.items() if (match := STACK_FILE.fullmatch(file))},
        addresses=frozenset[str]().union(*(addresses(*sides) for sides in texts.values())),
    )


def moved(texts: Mapping[str, tuple[str, str]], removed: Set[str]) -> frozenset[str]:
    """Return the files that went, and those that came with the same text, in another folder of `jobs/`."""
    names = {file: (file.split("/", 2)[-1], both[file not in removed]) for file, both in texts.items()}
    alike = {names[file] for file in names.keys() & removed} & {names[file] for file in names.keys() - removed}
    return frozenset(file for file, name in names.items() if name in alike)


def addresses(before: str, after: str) -> frozenset[str]:
    """Return addresses on lines that one text has and the other lacks, which any diff of the two shows."""
    lines = {*before.splitlines()} ^ {*after.splitlines()}
    return frozenset(match[0] for line in lines for match in ADDRESS.finditer(line))


def _text(path: Path) -> str:
    return text_of(str(path)) if _is_file(path) else ""


def _listed(text: str) -> Iterator[list[str]]:
    """Yield statuses with their paths: of `M\\tpath` and `R100\\told\\tnew`, or of the same between zero bytes; what is
    cut stands alone."""
    if "\0" in text:
        *words, rest = text.split("\0")
        left = iter(words)
        yield from ([status, *islice(left, 1 + status.startswith(("C", "R")))] for status in left)
        yield from [[rest]] if rest else ()
        return
    for line in filter(str.strip, text.split("\n")):  # Names may contain Unicode's other line ends.
        yield line.split("\t") if "\t" in line else ["M", line.strip()]


def _beside_base(file: str, checkout: Path) -> bool:
    """Tell whether a file is in the base branch, whose checkout this command runs in, and in the change's own, if that
    is another one. A link to a place outside is not a file of it."""
    root, path = _real(checkout), _real(checkout / file)
    return root != Path.cwd() and path.is_relative_to(root) and _is_file(path) and _is_file(Path(file))


def is_own(file: str, checkout: Path) -> bool:
    """Tell whether a file of the checkout is there, and no link. What is read of a change may lead anywhere."""
    return _is_file(checkout / file) and not _is_link(checkout, file)


def _is_file(path: Path) -> bool:
    # `Path` raises for a name that no file can have.
    return os.path.lexists(path) and path.is_file()


def _is_link(checkout: Path, file: str) -> bool:
    path, place = checkout / file, os.path.normpath(_real(checkout) / file)
    return os.path.realpath(path) != place or (os.path.lexists(path) and path.is_symlink())


def _real(path: Path) -> Path:
    # `Path.resolve` raises for links that lead to each other.
    return Path(os.path.realpath(path))
