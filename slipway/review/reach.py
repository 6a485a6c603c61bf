"""Files of a repository as seen from the project's folder, which may lie anywhere in it, and which of them count. Pure.

Names outside of the folder begin with `../`. Of those count what the forge runs or asks, and what something in the
folder leads to: a link, a requirement, the program's own place.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

OUTSIDE = "../"
PINS, LAPTOP = "requirements.txt", "requirements-local.txt"
"""Files of pins: the deployment's, and those of the laptop, from which people deploy too."""
_FORGE = (
    ".github/",
    ".ci/",
    ".gitlab/",
    ".gitlab-ci.yml",
    ".gitattributes",
    ".gitmodules",
    "CODEOWNERS",
    "docs/CODEOWNERS",
)
DEPLOYING = (*_FORGE, "policy/", "Makefile", ".pre-commit-config.yaml")
"""Files and folders that preview, approve or deploy."""
PROSE = (".md", ".txt", ".rst", ".svg", ".png")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[ =]*(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[ =]+")
_EXTRAS = re.compile(r"\[[^]]*\]$")


def seen_from(folder: str, path: str) -> str:
    """`a/b/stacks/x.yaml` from `a/b` is `stacks/x.yaml`, and `.github/x` is `../../.github/x`. Both are of the
    repository; an empty folder is all of it."""
    return posixpath.relpath(path, folder) if folder else path


def counts(path: str, reached: Collection[str]) -> bool:
    """Tell whether an edit of a file may reach a deployment: one of the folder itself may always. `reached`: files and
    folders that something of the folder leads to."""
    return not path.startswith(OUTSIDE) or _within(path).startswith(_FORGE) or reaches(path, reached)


def reaches(path: str, reached: Collection[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") or one == "." for one in reached)


def _within(path: str) -> str:
    """Return the name without the way up to it."""
    return path.rsplit(OUTSIDE, 1)[-1]


def included(requirements: str) -> tuple[str, ...]:
    """Other files of requirements that these name, as they stand there."""
    return tuple(found[1] for line in lines(requirements) if (found := _INCLUDE.match(line)))


def local_paths(requirements: str) -> tuple[str, ...]:
    """Folders and files that requirements are installed from, as they stand there."""
    found = []
    for line in lines(requirements):
        plain = _EDITABLE.sub("", line)
        named = plain.partition(" @ ")[2] if " @ " in plain else plain
        path = _EXTRAS.sub("", named.partition(" ")[0].partition("#")[0])
        if "://" not in path and not path.startswith("-") and ("/" in path or path in (".", "..")):
            found.append(path)
    return tuple(found)


def package(name: str) -> str:
    """Return a package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(requirements: str) -> Iterator[str]:
    """Yield each requirement and option, without its comment."""
    for line in requirements.replace("\\\n", " ").splitlines():
        if (bare := re.sub(r"(^|\s)#.*", "", line).strip()) and not bare.startswith("--hash"):
            yield bare
