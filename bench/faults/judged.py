"""What an outcome is about: the code that a journey's command can run, and a digest of it.

Read from the source text, so that an import inside a function counts like any other; one for type checkers alone runs
never. Comments, docstrings and layout do not count: words about the code make no outcome old.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Read by its path, and sent to each replica.
_LAUNCHER = "slipway/packages/slipway_launcher.py"
# What the engine runs: the program, and what templates import, whose files the program loads by their paths.
_PROGRAM = ("__main__.py", "slipway/template/__init__.py", _LAUNCHER)
_COMMAND = ("slipway/__main__.py", "slipway/cli/__init__.py", _LAUNCHER)
_CLOUD, _PLUGIN = "local/cloud", "local/plugin"
# What tells people what a deployment does, and decides nothing of it. Were it to fail, so would every clean run, which
# is made anew when it changes.
_TELLING = ("slipway/review", "slipway/deployment/schedule.py", "slipway/deployment/summary.py")
# How a clean run is made and read.
_BENCH = ("bench/faults", "tests/checkouts")


@dataclass
class Sources:
    """The files of a checkout, each read once."""

    root: Path
    _texts: dict[Path, bytes] = field(default_factory=dict)
    _imports: dict[Path, frozenset[Path]] = field(default_factory=dict)

    def closure(self, begin: Iterable[str], without: Iterable[str] = ()) -> frozenset[Path]:
        """These files and all of the checkout that they import, and what those do; the tables that lie beside them.
        `without`: files and folders that are left out, with what they alone import."""
        found, left, out = set[Path](), [Path(name) for name in begin], [Path(name) for name in without]
        while left:
            file = left.pop()
            if file not in found and not any(file.is_relative_to(one) for one in out):
                found.add(file)
                left += self._imported(file)
        folders = {file.parent for file in found} - {Path()}
        tables = {one.relative_to(self.root) for folder in folders for one in (self.root / folder).iterdir()}
        return frozenset(found | {one for one in tables if one.suffix != ".py" and (self.root / one).is_file()})

    def below(self, *folders: str) -> frozenset[Path]:
        every = (one for folder in folders for one in (self.root / folder).rglob("*"))
        return frozenset(
            one.relative_to(self.root) for one in every if one.is_file() and "__pycache__" not in one.parts
        )

    def digest(self, files: Iterable[Path]) -> str:
        digest = hashlib.sha256()
        for file in sorted(files):
            digest.update(f"{file.as_posix()}\0".encode() + self._text(file) + b"\0")
        return digest.hexdigest()[:12]

    def _text(self, file: Path) -> bytes:
        if file not in self._texts:
            content = (self.root / file).read_bytes()
            self._texts[file] = bare(content) if file.suffix == ".py" else content
        return self._texts[file]

    def _imported(self, file: Path) -> frozenset[Path]:
        if file not in self._imports:
            tree = ast.parse((self.root / file).read_bytes())
            names = [*imported_names(file, tree)]
            names += [lazy for name in names for lazy in self._given_lazily(name)]
            self._imports[file] = frozenset(one for name in names for one in self._files(name))
        return self._imports[file]

    def _given_lazily(self, name: tuple[str, ...]) -> list[tuple[str, ...]]:
        """What a package's `__getattr__` may import for whoever asks it for more than its modules: what it names to
        type checkers."""
        package = Path(*name) / "__init__.py"
        if not (self.root / package).is_file():
            package = Path(*name[:-1]) / "__init__.py"
            if not (self.root / package).is_file() or (self.root / Path(*name)).with_suffix(".py").is_file():
                return []
        tree = ast.parse((self.root / package).read_bytes())
        if not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
            return []
        return [*imported_names(package, tree, typed=True)]

    def _files(self, name: tuple[str, ...]) -> Iterator[Path]:
        """The files of ours that an import of this name runs: the packages above it, and the module itself."""
        for count in range(1, len(name) + 1):
            path = Path(*name[:count])
            for file in (path.with_suffix(".py"), path / "__init__.py"):
                if (self.root / file).is_file():
                    yield file


class Codes:
    """The digest that an entry of the journal bears: of what it was played with."""

    def __init__(self, root: Path, commands: Mapping[str, tuple[str, ...]]) -> None:
        """`commands`: what is typed, by journey."""
        self._sources, self._commands = Sources(root), commands
        self._known: dict[tuple[str, str], str] = {}

    def __call__(self, kind: str, key: str) -> str:
        """Of a kind (points, cleans, sequences or mutants) and a key of it; empty for a journey that there is not."""
        journey = key.split(" · ")[0] if kind in ("points", "cleans") else ""
        if journey and journey not in self._commands:
            return ""
        if (kind, journey) not in self._known:
            self._known[kind, journey] = self._sources.digest(self._judged(kind, journey))
        return self._known[kind, journey]

    def _judged(self, kind: str, journey: str) -> frozenset[Path]:
        sources = self._sources
        match kind:
            case "points":
                return judged(sources, self._commands[journey])
            case "cleans":
                return judged(sources, self._commands[journey], telling=True) | sources.below(*_BENCH)
            case "sequences":
                return judged(sources, ("pulumi", "up")) | judged(sources, ("slipway", "submit"))
            case _:
                return sources.below(_CLOUD, "tests/local/cloud")


def judged(sources: Sources, command: tuple[str, ...], *, telling: bool = False) -> frozenset[Path]:
    """All of the checkout that runs when somebody types this: here, and on the other side of the wire. `telling`: with
    what only tells people what a deployment does."""
    if command[0] == "pulumi":
        program = sources.closure(_PROGRAM, without=() if telling else _TELLING)
        return program | {Path("Pulumi.yaml")} | sources.below(_CLOUD, _PLUGIN)
    # The path of its file is the verb.
    verb = f"slipway/cli/{command[1].replace('-', '_')}.py"
    return sources.closure((*_COMMAND, verb)) | sources.below(_CLOUD)


def bare(source: bytes) -> bytes:
    """A module as it is parsed, without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return ast.dump(tree).encode()


def imported_names(file: Path, tree: ast.Module, *, typed: bool = False) -> Iterator[tuple[str, ...]]:
    """Each name that a file imports, in parts; of `from a import b` it is `a.b`. `typed`: for type checkers too."""
    for node in _nodes(tree, typed):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*file.parts[: len(file.parts) - node.level]] if node.level else []
            base += node.module.split(".") if node.module else []
            yield from ((*base, alias.name) for alias in node.names)


def _nodes(tree: ast.AST, typed: bool) -> Iterator[ast.AST]:
    """All nodes below; without what never runs, unless `typed`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            left = [*(node.body if typed else ()), *node.orelse]
            for one in left:
                yield one
                yield from _nodes(one, typed)
        else:
            yield node
            yield from _nodes(node, typed)
