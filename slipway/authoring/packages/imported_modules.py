"""The modules that a command imports from outside of its folder, as far as its files show. Pure."""

from __future__ import annotations

import ast
import posixpath
import shlex
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from slipway.authoring.packages.command_script import commands, modules_of

_OF_PYTHON = sys.stdlib_module_names | {"__future__", "asynchat", "asyncore", "distutils", "imp", "smtpd"}
"""The standard library of this Python and of older ones."""
_HARMLESS = frozenset({"__main__", "antigravity", "idlelib", "test", "this", "turtle", "turtledemo"})
"""Modules of Python that no code of a job imports."""


def outer_modules(files: Mapping[str, bytes], command: str, code: Collection[str] = ()) -> dict[str, str]:
    """Return each top module that is neither Python's nor in the folder, and the first file that imports it. Only what
    is imported without a condition counts. `code` are folders whose modules are imported by their names from there."""
    waiting, known, outer = [*entries(files, command, code)], set[str](), dict[str, str]()
    while waiting:
        file = waiting.pop(0)
        if file in known:
            continue
        known.add(file)
        roots = (posixpath.dirname(file), "", "src", *code)
        for module in _imports(files[file], posixpath.dirname(file).replace("/", ".")):
            inner = [name for root in roots for name in _files_of(files, root, module)]
            waiting += inner
            top = module.partition(".")[0]
            if not inner and top and top not in _OF_PYTHON and not _is_in(files, top):
                outer.setdefault(top, file)
    return outer


def shadowing(files: Mapping[str, bytes], command: str) -> list[str]:
    """Return the files beside a script of the command that Python imports in place of its own modules."""
    places = {posixpath.dirname(file) for file in entries(files, command)}
    places |= {""} if modules_of(command) else set()
    tops = {name: _module(name) for name in files if posixpath.dirname(name.removesuffix("/__init__.py")) in places}
    return sorted(name for name, module in tops.items() if module in _OF_PYTHON - _HARMLESS)


def entries(files: Mapping[str, bytes], command: str, code: Collection[str] = ()) -> list[str]:
    """Return the Python files that a command starts, also by a script for a shell."""
    found: list[str] = []
    for words in commands(command):
        inner = [posixpath.normpath(word) for word in words]
        found += [name for name in inner if name in files and name.endswith(".py")]
        scripts = [name for name in inner if name in files and name.endswith(".sh")]
        for script in scripts:
            text = files[script].decode(errors="replace").replace("\\\n", " ")
            found += entries(
                {name: text for name, text in files.items() if name != script}, f"sh -c {shlex.quote(text)}"
            )
    for module in modules_of(command):
        found += [name for root in ("", "src", *code) for name in _files_of(files, root, f"{module}.__main__")]
    return list(dict.fromkeys(found))


def _module(name: str) -> str:
    if name.endswith("/__init__.py"):
        return posixpath.basename(posixpath.dirname(name))
    return posixpath.basename(name).removesuffix(".py") if name.endswith(".py") else ""


def _files_of(files: Collection[str], root: str, module: str) -> Iterator[str]:
    """Yield the files of a module, and of the packages around it, below a root."""
    place = root
    for part in module.split("."):
        place = posixpath.join(place, part)
        yield from (name for name in (f"{place}.py", f"{place}/__init__.py") if name in files)


def _is_in(files: Collection[str], top: str) -> bool:
    """Return whether a folder has a module of this name anywhere, which the code may add to its path."""
    return any(part.partition(".")[0] == top for name in files for part in name.split("/"))


@lru_cache(maxsize=1024)
def _imports(content: bytes, package: str) -> tuple[str, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(module for statement in tree.body for module in _of_statement(statement, package))


def _of_statement(statement: ast.stmt, package: str) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
        base = ".".join(part for part in (*above, statement.module or "") if part)
        yield from (f"{base}.{alias.name}" if base else alias.name for alias in statement.names)
