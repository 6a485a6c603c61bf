"""The rules that the local cloud enforces, found in its source, and a copy of it in which each can be switched off.

A rule is a condition under which the cloud refuses something: an `if` that ends in `raise` or finds a `Mistake`. In the
copy it reads `(condition) and met("rule")`: that tells who meets the rule, and is false while it is switched off.
"""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CLOUD = Path("local/cloud")
_COPIED = (
    "local",
    "slipway",
    "components",
    "policy",
    "journey",
    "bench",
    "jobs",
    "templates",
    "stacks",
    "tests",
    "docs",
)
_FILES = ("__main__.py", "Pulumi.yaml", "pyproject.toml", "README.md", "requirements.txt", "requirements-dev.txt")
_IMPORT = "from local.cloud.mutant import met as _met\n"
# What stops the process, parses its own files or shapes its own errors is no rule of the service.
_NOT_RULES = frozenset({"ValueError", "StopError", "ClientDisconnect", "ConnectionAbortedError", "BusyError"})

MET = '''"""Which rule is switched off, and who meets which."""

from pathlib import Path

# Not in a variable: the processes of jobs have an environment of their own.
_FOLDER = Path({folder!r})


def met(rule: str) -> bool:
    """Whether a rule whose condition holds is enforced."""
    try:
        with (_FOLDER / "met").open("a") as file:
            file.write(rule + "\\n")
        return (_FOLDER / "off").read_text() != rule
    except FileNotFoundError:
        return True
'''


@dataclass(frozen=True)
class Rule:
    """`id` is its file and function, with a number where that has several: `vertex/clusters/rules.py:_pool#2`. The
    condition stands in `file` (from the root) between two places, each a line from 1 and a column in bytes."""

    id: str
    file: Path
    begin: tuple[int, int]
    end: tuple[int, int]


def rules(root: Path) -> list[Rule]:
    """All rules, in the order of files and lines."""
    found = []
    for file in sorted((root / _CLOUD).rglob("*.py")):
        counted: Counter[str] = Counter()
        for function, node in _guards(ast.parse(file.read_text(encoding="utf-8"))):
            counted[function] += 1
            name = f"{file.relative_to(root / _CLOUD)}:{function}#{counted[function]}"
            test = node.test
            assert test.end_lineno is not None and test.end_col_offset is not None
            place = (test.lineno, test.col_offset), (test.end_lineno, test.end_col_offset)
            found.append(Rule(name, file.relative_to(root), *place))
    return found


def copy(root: Path, target: Path, notes: Path) -> list[Rule]:
    """A copy of the checkout in which each rule can be switched off; the rules. In the folder of notes, the file `off`
    names the rule that is off, and in `met` those are written whose condition held."""
    ignored = shutil.ignore_patterns("__pycache__", ".slipway")
    for name in _COPIED:
        shutil.copytree(root / name, target / name, ignore=ignored)
    for name in _FILES:
        shutil.copy(root / name, target / name)
    found = rules(root)
    for file in sorted({rule.file for rule in found}):
        source = (target / file).read_text(encoding="utf-8")
        (target / file).write_text(switched([rule for rule in found if rule.file == file], source), encoding="utf-8")
    (target / _CLOUD / "mutant.py").write_text(MET.format(folder=str(notes)))
    return found


def switched(found: list[Rule], source: str) -> str:
    """A file's source with the conditions of its rules made such that they can be switched off."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    for rule in sorted(found, key=lambda each: each.begin, reverse=True):
        (first, begin), (last, end) = rule.begin, rule.end
        after = f') and _met("{rule.id}"))'.encode()
        lines[last - 1] = lines[last - 1][:end] + after + lines[last - 1][end:]
        lines[first - 1] = lines[first - 1][:begin] + b"((" + lines[first - 1][begin:]
    lines.insert(_place(source), _IMPORT.encode())
    return b"".join(lines).decode()


def _place(source: str) -> int:
    """The line before which an import may stand: after the docstring and what comes from the future."""
    line = 0
    for node in ast.parse(source).body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        line = node.end_lineno or line
    return line


def _guards(tree: ast.Module) -> Iterator[tuple[str, ast.If]]:
    """Each condition that refuses, with the function that it stands in."""

    def within(node: ast.AST, function: str) -> Iterator[tuple[str, ast.If]]:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            inner = ".".join(filter(None, (function, child.name))) if named else function  # type: ignore[attr-defined]
            if isinstance(child, ast.If) and _refuses(child):
                yield function, child
            yield from within(child, inner)

    yield from within(tree, "")


def _refuses(node: ast.If) -> bool:
    last = node.body[-1]
    if isinstance(last, ast.Raise):
        raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
        return not (isinstance(raised, ast.Name) and raised.id in _NOT_RULES)
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "Mistake"
        for statement in node.body
        if isinstance(statement, ast.Expr | ast.Return)
        for one in ast.walk(statement)
    )
