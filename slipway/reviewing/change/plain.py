"""Python code less what changes nothing as it runs: texts that stand alone, and annotations. Pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The errors of code that can't be parsed."""
_READERS = re.compile(r"jit\.|__annotations__|type_hints|beartype|typeguard|jaxtyping")
"""Words of code that reads annotations of functions that are called alone."""


def plain(text: str) -> str:
    """Return the code with `pass` for each text that stands alone, as docstrings do, and functions' first lines in one
    form. Its lines stay where they are. Raises UNREADABLE."""
    tree, lines = ast.parse(text.encode()), text.encode().split(b"\n")
    blanks: list[tuple[ast.stmt, int, bytes]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            last = node.end_lineno or node.lineno
            blanks.append((node, last, b"pass" + lines[last - 1][node.end_col_offset :]))
    for function in [] if _READERS.search(text) else _unread(tree):
        if isinstance(function, ast.AnnAssign):
            value = lines[function.lineno - 1][function.value.col_offset :] if function.value else b""
            blanks.append((function, function.lineno, f"{ast.unparse(function.target)} = ".encode() + value))
            continue
        first = function.body[0]
        last = min(node.lineno for node in (first, *getattr(first, "decorator_list", ()))) - 1
        for arg in (each for each in ast.walk(function.args) if isinstance(each, ast.arg)):
            arg.annotation = None
        blanks.append((function, last, f"def {function.name}({ast.unparse(function.args)}):".encode()))
    for node, last, code in (blank for blank in blanks if blank[1] >= blank[0].lineno):
        first_line = lines[node.lineno - 1][: node.col_offset] + code
        lines[node.lineno - 1 : last] = [first_line, *[b""] * (last - node.lineno)]
    return b"\n".join(lines).decode()


def _unread(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AnnAssign]:
    """Yield functions and variables whose annotations nothing reads. What has a decorator, or is handed on as a
    value, may be a command's, made of its annotations; those that name what is not there raise."""
    nodes = [*ast.walk(tree)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    values = (node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called)
    handed = {ast.unparse(node).rpartition(".")[2] for node in values}
    there = dict.fromkeys(dir(builtins), 0)
    for part in (part for part in tree.body if isinstance(part, ast.Import | ast.ImportFrom)):
        there |= {(alias.asname or alias.name).partition(".")[0]: part.lineno for alias in part.names}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name not in handed]
    fields = {id(part) for each in nodes if isinstance(each, ast.ClassDef) for part in each.body}
    functions = (*tree.body, *(part for each in classes if not each.decorator_list for part in each.body))
    parts: list[tuple[ast.FunctionDef | ast.AnnAssign, list[ast.expr | None]]] = [
        (node, [node.returns, *(arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg))])
        for node in functions
        if isinstance(node, ast.FunctionDef) and not (node.decorator_list or node.name in handed)
    ]
    variables = (node for node in nodes if isinstance(node, ast.AnnAssign) and id(node) not in fields)
    parts += [(node, [node.annotation]) for node in variables if node.value and node.value.lineno == node.lineno]
    for node, written in parts:
        names = (name for part in written if part for name in ast.walk(part) if isinstance(name, ast.Name))
        if all(there.get(name.id, node.lineno) < node.lineno for name in names):
            yield node
