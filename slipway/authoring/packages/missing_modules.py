"""Modules of a folder's own packages that its code imports and that the folder lacks. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

# Indented imports may be guarded, by `try` or by what the code is asked to do.
_IMPORT = re.compile(
    rb"(?m)^(?:[^\s#\"'][^#\"'\n]*;[ \t]*)?"  # Behind another statement of the line.
    rb"(?:from\s+(?P<dots>\.*)(?P<of>[\w.]*)\s+import\b|import\s+(?:[\w.]+\s*,\s*)*?(?P<itself>\w+\.[\w.]+))"
)
_TESTS = {"tests", "test"}


def missing_modules(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield each module, as `src/third_party/net`, and the first file that imports it. Tests are no part of a job."""
    known, told = _modules(files), set[str]()
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.suffix != ".py" or not _TESTS.isdisjoint(path.parts) or path.name.startswith("test_"):
            continue
        for found in _IMPORT.finditer(content):
            module = _path_of(path, found, files)
            if module and module not in known | told:
                told.add(module)
                yield module, name


def _modules(files: Collection[str]) -> set[str]:
    """Return the paths of all modules, of whatever kind of file, and of the folders."""
    paths = [PurePosixPath(name) for name in files]
    stems = {str(path.with_name(path.name.partition(".")[0])) for path in paths if not path.name.startswith(".")}
    return stems | {str(parent) for path in paths for parent in path.parents}


def _path_of(path: PurePosixPath, found: re.Match[bytes], files: Collection[str]) -> str:
    """Return where a module must be in the folder; empty for one that may be installed."""
    dots, name = len(found["dots"] or b""), (found["of"] or found["itself"] or b"").decode().strip(".")
    inner = name.replace(".", "/")
    if dots:
        above = path.parents[dots - 1] if dots <= len(path.parents) else None
        return str(above / inner) if name and above is not None else ""
    top = name.partition(".")[0]
    place = next((place for place in ("", "src/") if f"{place}{top}/__init__.py" in files), None)
    return f"{place}{inner}" if place is not None and "." in name else ""
