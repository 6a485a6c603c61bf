"""The modules that a command imports from outside of its folder, as far as its files show. Pure."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import sys
import warnings
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from slipway.authoring.packages.command_script import commands, modules_of

_OF_PYTHON = sys.stdlib_module_names | {"__future__", "asynchat", "asyncore", "distutils", "imp", "smtpd"}
"""The standard library of this Python and of older ones."""
_HARMLESS = frozenset({"__main__", "antigravity", "idlelib", "test", "this", "turtle", "turtledemo"})
"""Modules of Python that no code of a job imports."""
COMMAND = "the command"
"""The place of an import in a command itself."""
_PYTHON = re.compile(r"python[\d.]*")
_PACKAGE = "/__init__.py"
_ENDS = (".py", _PACKAGE)


class Modules:
    """The modules of a folder. `code` are its folders whose modules are imported by their names from there."""

    def __init__(self, files: Mapping[str, bytes], code: Collection[str] = ()) -> None:
        self.files = files
        self.roots = ("", "src", *code)
        names = "/".join(files).split("/")
        self._stems = {name.partition(".")[0] for name in names}

    def has(self, top: str) -> bool:
        """Return whether the folder has a module of this name anywhere, which the code may add to its path."""
        return top in self._stems

    def of(self, module: str, beside: str = "") -> list[str]:
        """Return the files of a module, and of the packages around it, as a file in the folder `beside` finds them."""
        found: list[str] = []
        for root in (beside, *self.roots):
            place = root
            for part in module.split("."):
                place = posixpath.join(place, part)
                found += (f"{place}.py", f"{place}{_PACKAGE}")
        return list(filter(self.files.__contains__, found))


def outer_modules(files: Mapping[str, bytes], command: str, code: Collection[str] = ()) -> dict[str, str]:
    """Return each top module that is neither Python's nor in the folder, and the first file that imports it. Only what
    is imported without a condition counts. `code` are folders as for `Modules`."""
    folder = Modules(files, code)
    waiting = deque(entries(folder, command))
    known = set[str]()
    imported = {module: COMMAND for module in _of_text(command) if not folder.of(module)}
    while waiting:
        file = waiting.popleft()
        if file in known:
            continue
        known.add(file)
        place = posixpath.dirname(file)
        for module in _imports(files[file], place.replace("/", ".")):
            inner = folder.of(module, place)
            waiting.extend(inner)
            if not inner:
                imported.setdefault(module.partition(".")[0], file)
    inside = {top for top in imported if folder.has(top)}
    outer = imported.keys() - _OF_PYTHON - inside
    return {top: file for top, file in imported.items() if top in outer}


def _of_text(command: str) -> Iterator[str]:
    """Yield the top modules that a program in the command itself imports, by `python -c`."""
    for words in commands(command):
        flag = words.index("-c") if "-c" in words[:-1] else 0
        if flag and _PYTHON.fullmatch(posixpath.basename(words[0])):
            modules = _imports(words[flag + 1].encode(), "")
            yield from (module.partition(".")[0] for module in modules)


def shadowing(files: Mapping[str, bytes], command: str) -> list[str]:
    """Return the files beside a script of the command that Python imports in place of its own modules."""
    places = set(map(posixpath.dirname, entries(Modules(files), command)))
    if modules_of(command):
        places.add("")
    hiding = _OF_PYTHON - _HARMLESS
    possible = {posixpath.join(place, f"{module}{end}") for place in places for module in hiding for end in _ENDS}
    return sorted(possible & files.keys())


def entries(folder: Modules, command: str) -> list[str]:
    """Return the Python files that a command starts, also by a script for a shell."""
    found: list[str] = []
    for words in commands(command):
        for name in map(posixpath.normpath, words):
            content = folder.files.get(name)
            if content is not None:
                found += _started(folder, name, content)
    for module in modules_of(command):
        found += folder.of(f"{module}.__main__")
    return list(dict.fromkeys(found))


def _started(folder: Modules, name: str, content: bytes) -> list[str]:
    """Return what a file of a command starts: itself, or what a script for a shell starts."""
    if name.endswith(".py"):
        return [name]
    if not name.endswith(".sh"):
        return []
    text = content.decode(errors="replace").replace("\\\n", " ")
    found: list[str] = []
    for words in commands(f"sh -c {shlex.quote(text)}"):
        inner = map(posixpath.normpath, words)
        found += filter(folder.files.__contains__, inner)
    return [each for each in found if each.endswith(".py")]


@lru_cache(maxsize=1024)
def _imports(content: bytes, package: str) -> tuple[str, ...]:
    """Return the modules that a file imports at its top level, by their full names."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found: list[str] = []
    for statement in tree.body:
        found += _of_statement(statement, package)
    return tuple(found)


def _of_statement(statement: ast.stmt, package: str) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        base = statement.module or ""
        if statement.level:
            parts = package.split(".")
            above = parts[: len(parts) - statement.level + 1]
            base = ".".join(filter(None, [*above, base]))
        yield from (f"{base}.{alias.name}".lstrip(".") for alias in statement.names)
