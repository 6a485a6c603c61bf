"""Code of a template's file beside the declaration: a preview or deployment runs it. Pure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

_OF_VALUES = frozenset({"itertools", "math"})
_OF_TYPES = frozenset({"slipway.template", "typing"})
"""Modules whose types are taken by name: their other names are modules, some with all of Python behind."""
_CALLED = _OF_VALUES | {"slipway.template"}
# Functions that make values of values, and nothing else.
_FUNCTIONS = frozenset(
    ("abs", "all", "any", "bool", "dict", "enumerate", "filter", "float", "frozenset", "int", "len", "list", "map",
     "max", "min", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip")
)  # fmt: skip
_METHODS = frozenset(
    ("count", "endswith", "format", "index", "items", "join", "keys", "lower", "lstrip", "partition",
     "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "split", "startswith", "strip",
     "title", "upper", "values")
)  # fmt: skip


def beyond_declaring(source: str) -> tuple[str, ...]:
    """Return what else the file does, by line: ``imports `os` (line 41)``. Empty for a plain template."""
    try:
        tree = ast.parse(source.encode())  # A first line may declare another coding.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ("can't be read as Python",)
    nodes = sorted((one for one in ast.walk(tree) if hasattr(one, "lineno")), key=lambda one: one.lineno)
    defined, harmless = _defined(nodes), frozenset(_harmless(nodes))
    found: dict[str, int] = {}
    for node in nodes:
        bound = () if node in harmless else _rebinds(node)
        for words in (*bound, *_beyond(node, defined)):
            found.setdefault(words, node.lineno)
    return tuple(f"{words} (line {line})" for words, line in found.items())


def _defined(nodes: list[ast.AST]) -> frozenset[str]:
    own = (one.name for one in nodes if isinstance(one, ast.FunctionDef))
    imports = (one for one in nodes if isinstance(one, ast.ImportFrom) and one.module in _CALLED)
    return frozenset((*own, *(alias.asname or alias.name for one in imports for alias in one.names)))


def _harmless(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield names that are rebound and still make values: functions of `math` and `itertools`, under their own names,
    and a function's parameter such as `min` that is not called in it."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module in _OF_VALUES and not node.level:
            yield from (one for one in node.names if one.asname in (None, one.name))
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            called = {
                one.func.id for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
            }
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            yield from (one for one in given if one.arg in _FUNCTIONS - called)


def _rebinds(node: ast.AST) -> Iterator[str]:
    """Yield a name that must mean Python's own, and is rebound or deleted, in any scope."""
    if isinstance(node, ast.alias) and node.name in _OF_VALUES and node.asname in (None, node.name):
        return
    name = _bound(node)
    method = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    special = name.startswith("__") and not method
    if special or name in _OF_VALUES or callable(getattr(builtins, name, None)):
        yield f"binds `{name}`"


def _bound(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return "" if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.arg):
        return node.arg
    found = node.asname or node.name if isinstance(node, ast.alias) else getattr(node, "name", None)
    return found if isinstance(found, str) else ""


def _beyond(node: ast.AST, defined: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"imports `{one.name}`" for one in node.names if one.name not in _OF_VALUES)
    elif isinstance(node, ast.ImportFrom):
        yield from _taken(node)
    elif isinstance(node, ast.Match):
        yield "uses `match`"  # whose patterns take attributes by name
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        yield f"decorates `{node.name}`"
    elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield f"writes to `{ast.unparse(node)}`"
    elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
        yield f"uses `{node.attr}`"
    elif isinstance(node, ast.Attribute) and not _of_values(node):
        yield f"uses `{ast.unparse(node)}`"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and _hidden(node.id, defined):
        yield f"uses `{node.id}`"
    elif isinstance(node, ast.Call) and not _told_or_harmless(node.func, defined):
        yield f"calls `{ast.unparse(node.func)}`"


def _hidden(name: str, defined: frozenset[str]) -> bool:
    """Tell whether it is a function of Python's own that does more than make values, such as `exec` under another
    name."""
    able = callable(getattr(builtins, name, None)) or name.startswith("__")
    return able and name not in _FUNCTIONS | defined and not name.endswith(("Error", "Exception"))


def _told_or_harmless(called: ast.expr, defined: frozenset[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _FUNCTIONS | defined or _hidden(called.id, defined)
    return isinstance(called, ast.Attribute)  # reported under its own name


def _of_values(one: ast.Attribute) -> bool:
    return one.attr in _METHODS or (isinstance(one.value, ast.Name) and one.value.id in _OF_VALUES)


def _taken(node: ast.ImportFrom) -> Iterator[str]:
    module = f"{'.' * node.level}{node.module or ''}"
    if module in _OF_TYPES:
        yield from (f"imports `{module}.{one.name}`" for one in node.names if not one.name[:1].isupper())
    elif module not in _OF_VALUES | {"__future__"}:
        yield f"imports `{module}`"
