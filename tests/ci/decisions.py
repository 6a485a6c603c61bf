"""Lists of functions with more than 15 decision points. They only get shorter: python -m tests.ci.decisions

The command removes functions that are gone or small enough, lowers the points of others, and follows a function that
has another name or file. It rejects a function that is new in the lists or has more points than before.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.python_files import ROOT

MOST_POINTS = 15
LISTS = {
    "product": ("slipway", "components"),
    "tools": ("vertex-local/vertex_local", "local", "journey", "bench", "policy", "templates", "jobs"),
}
"""The folders of each list."""
COMMAND = "python -m tests.ci.decisions"
_STATEMENTS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert, ast.match_case)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Function:
    """A function by its file and qualified name, with its decision points."""

    path: str
    name: str
    points: int

    @property
    def place(self) -> tuple[str, str]:
        return self.path, self.name

    def __str__(self) -> str:
        return f"{self.path} {self.name} {self.points}"

    @classmethod
    def read(cls, line: str) -> Function:
        path, name, points = line.split()
        return cls(path, name, int(points))


@dataclass(frozen=True)
class Comparison:
    """The differences between a list and the code, and the list to write. `rejected` functions need to be split."""

    rejected: tuple[Function, ...]
    outdated: tuple[Function, ...]
    kept: tuple[Function, ...]


def points_of(node: ast.AST) -> int:
    """Return the decision points of a node alone: a branch, a loop, an `except`, a comprehension with its conditions,
    and each further operand of `and` and `or`."""
    if isinstance(node, _STATEMENTS):
        return 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0


def functions_of(source: str, path: str) -> list[Function]:
    """Return the functions of a file above the limit; of several with one name, the one with the most points."""
    largest: dict[str, Function] = {}
    for name, node in _named(ast.parse(source), ""):
        function = Function(path, name, sum(map(points_of, ast.walk(node))))
        if name not in largest or largest[name].points < function.points:
            largest[name] = function
    return [function for function in largest.values() if function.points > MOST_POINTS]


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, _Function):
                yield name, child
            yield from _named(child, f"{name}.")
        else:
            yield from _named(child, prefix)


def in_code(folders: Iterable[str]) -> list[Function]:
    """Return the functions above the limit in the tracked files of some folders."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = [path for path in listed if path.endswith(".py") and Path(ROOT, path).is_file()]
    return sorted(one for path in paths for one in functions_of(Path(ROOT, path).read_text("utf-8"), path))


def file_of(name: str) -> Path:
    return Path(__file__).with_name(f"decisions_{name}.txt")


def listed(name: str) -> list[Function]:
    lines = file_of(name).read_text("utf-8").splitlines()
    return [Function.read(line) for line in lines]


def compare(before: Iterable[Function], now: Iterable[Function]) -> Comparison:
    """Compare a list with the code."""
    known = {function.place: function for function in before}
    current = {function.place: function for function in now}
    gone = [function for place, function in known.items() if place not in current]
    outdated, rejected, kept = list(gone), [], []
    for place, function in current.items():
        former = known.get(place) or _renamed(function, gone)
        if former is None:
            rejected.append(function)
        elif function.points > former.points:
            rejected.append(function)
            kept.append(former)
        else:
            kept.append(function)
        if former is not None and function.points < former.points and former not in outdated:
            outdated.append(former)
    return Comparison(tuple(rejected), tuple(outdated), tuple(sorted(kept)))


def _renamed(function: Function, gone: list[Function]) -> Function | None:
    """Take the entry of a function that had another name or file from those that are gone."""
    for former in gone:
        is_related = former.path == function.path or former.name == function.name
        if is_related and former.points >= function.points:
            gone.remove(former)
            return former
    return None


def main() -> int:
    """Write the lists, and return 1 if a function has to be split."""
    code = 0
    for name, folders in LISTS.items():
        compared = compare(listed(name), in_code(folders))
        file_of(name).write_text("".join(f"{function}\n" for function in compared.kept), "utf-8")
        print(f"{name}: {len(compared.kept)} functions with more than {MOST_POINTS} decision points")
        for function in compared.rejected:
            code = 1
            print(f"error: {function}\n  fix: split it, at most {MOST_POINTS} points a function", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
