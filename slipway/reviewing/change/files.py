"""Kinds of changed files: what deploys or judges, by its path from the project's folder, which may lie anywhere in its
repository. Pure."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from slipway.reviewing.forge_table import FILES

_GLOBS = (
    ("*", True),
    ("*.md", False),
    ("docs/*", False),
    ("jobs/*", False),
    ("stacks/*", False),
    ("templates/*", False),
    ("tests/*", False),
    ("vertex-local/*", False),
    ("../*", False),
    # The forge reads these in the repository's own top folder too.
    ("*CODEOWNERS", True),
    ("*.gitattributes", True),
    ("*.gitmodules", True),
    ("*.ci/*", True),
    *((f"*{name}*" if name.endswith("/") else f"*{name}", True) for name in FILES),
)
"""Globs of files, and whether these deploy or judge. The last one that matches holds."""
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(txt|in)")


def seen_from(folder: str, path: str) -> str:
    """Return `stacks/x.yaml` for `a/b/stacks/x.yaml` from `a/b`, and `../../.github/x` for `.github/x`. Both are in the
    repository; an empty folder is its top."""
    return posixpath.relpath(path, folder) if folder else path


def deploys(path: str) -> bool:
    return next(does for glob, does in reversed(_GLOBS) if fnmatchcase(path, glob))


def has_pins(path: str) -> bool:
    return _REQUIREMENTS.fullmatch(path) is not None
