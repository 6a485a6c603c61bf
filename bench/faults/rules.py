"""The rules that the local cloud enforces, found in its source, and a copy of the checkout in which each can be
switched off.

A rule is a condition under which the cloud refuses something: an `if` that ends in `raise` or finds a `Mistake`. In the
copy it reads `condition and met("rule")`: that tells who meets the rule, and is false while the rule is off.
"""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from pathlib import Path

PROJECT = Path("vertex-local")
"""The folder in which its tests are run."""
_CLOUD = PROJECT / "vertex_local"
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
# Errors that stop the process, parse its own files or shape its own errors are no rules of the service.
_NOT_RULES = frozenset({"ValueError", "StopError", "ClientDisconnect", "ConnectionAbortedError", "BusyError"})
MET, OFF = _CLOUD / "met", _CLOUD / "off"
"""Files of the copy: the rules whose condition held, a line each; and the rule that is off, if any."""

# Files, not variables: the processes of jobs have an environment of their own.
SWITCH = '''"""Which rule is off, and who meets which."""

from pathlib import Path


def met(rule: str) -> bool:
    """Tell whether a rule whose condition holds is enforced."""
    try:
        with Path(__file__).with_name("met").open("a") as file:
            file.write(rule + "\\n")
        return Path(__file__).with_name("off").read_text() != rule
    except FileNotFoundError:
        return True
'''


def rules(root: Path) -> list[str]:
    """Return every rule, in the order of files and lines: its file, function and number there, as in
    `vertex/clusters/rules.py:_pool#2`."""
    return [rule for file in _files(root) for rule in switchable(file.relative_to(root / _CLOUD), file.read_text())[0]]


def copy(root: Path, target: Path) -> None:
    """Copy a checkout to a new folder, with a switch for each rule."""
    shutil.copytree(root, target, ignore=_NOT_COPIED)
    for file in _files(target):
        _, source = switchable(file.relative_to(target / _CLOUD), file.read_text())
        file.write_text(source)
    (target / _CLOUD / "switch.py").write_text(SWITCH)


def switchable(file: Path, source: str) -> tuple[list[str], str]:
    """Return the rules of a file, and its source with a switch for each."""
    found = _Rules(str(file))
    tree = ast.parse(source)
    found.visit(tree)
    if found.rules:
        # Behind the docstring and imports from the future.
        place = next(
            number
            for number, node in enumerate(tree.body)
            if not isinstance(node, ast.Expr) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        )
        tree.body[place:place] = ast.parse("from vertex_local.switch import met as _met").body
    return found.rules, ast.unparse(ast.fix_missing_locations(tree))


class _Rules(ast.NodeTransformer):
    def __init__(self, file: str) -> None:
        self.rules: list[str] = []
        self._file, self._within, self._counted = file, tuple[str, ...](), Counter[str]()

    def visit(self, node: ast.AST) -> ast.AST:
        before = self._within
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._within = (*before, node.name)
        elif isinstance(node, ast.If) and _refuses(node):
            function = ".".join(self._within)
            self._counted[function] += 1
            rule = f"{self._file}:{function}#{self._counted[function]}"
            self.rules.append(rule)
            met = ast.Call(ast.Name("_met", ast.Load()), [ast.Constant(rule)], [])
            node.test = ast.BoolOp(ast.And(), [node.test, met])
        self.generic_visit(node)
        self._within = before
        return node


def _files(root: Path) -> list[Path]:
    return sorted((root / _CLOUD).rglob("*.py"))


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
