"""Files of a repository as seen from the project's folder, which may lie anywhere in it, and the files that count.
Pure.

Names outside of the folder begin with `../`. Among those, the files that the forge runs or reads count, and those that
the folder refers to: by a link, a requirement, the program's own place.
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
    """Return `stacks/x.yaml` for `a/b/stacks/x.yaml` from `a/b`, and `../../.github/x` for `.github/x`. Both are in the
    repository; an empty folder is its top."""
    return posixpath.relpath(path, folder) if folder else path


def counts(path: str, reached: Collection[str]) -> bool:
    """Tell whether an edit of a file may reach a deployment: a file of the folder itself always may. `reached`: files
    and folders that the folder refers to."""
    return not path.startswith(OUTSIDE) or _within(path).startswith(_FORGE) or reaches(path, reached)


def reaches(path: str, reached: Collection[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") or one == "." for one in reached)


def _within(path: str) -> str:
    """Return the name without the way up to it."""
    return path.rsplit(OUTSIDE, 1)[-1]


def included(requirements: str) -> tuple[str, ...]:
    """Return other files of requirements that these name, as written there."""
    return tuple(found[1] for line in lines(requirements) if (found := _INCLUDE.match(line)))


def local_paths(requirements: str) -> tuple[str, ...]:
    """Return folders and files that requirements are installed from, as written there."""
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
