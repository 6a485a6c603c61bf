"""A file of a job's code before and after: whether jobs run another program, and with which constants. Pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_ODD = (SyntaxError, ValueError, RecursionError, MemoryError)
_READS_HINTS = re.compile(
    r"__annotations__|get_type_hints|signature|getmembers|inspect"
    r"|\b(tyro|typer|fire|defopt|jsonargparse|simple_parsing|beartype|typeguard|pydantic)\b"
)
_SAVES = re.compile(r"(?i)checkpoint|ckpt|(?<![a-z])sav(e|es|ing)(?![a-z])")
_HINTS = ("typing", "collections.abc")
_RATE = re.compile(r"(?i)every|between|interval|steps|period|freq|seconds|minutes")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_Functions = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Constant:
    """A change of a module's constant, with values as Python writes them. `saves`: by its name, or by the comment on
    its line, it is the distance between two checkpoints."""

    name: str
    before: str
    after: str
    saves: bool = False

    @property
    def rarer(self) -> float:
        """The factor of an increased distance; 0 for any other constant, and for no increase."""
        if not (self.saves and _NUMBER.fullmatch(self.before) and _NUMBER.fullmatch(self.after)):
            return 0
        before, after = float(self.before), float(self.after)
        return after / before if 0 < before < after else 0


@dataclass(frozen=True)
class CodeEdit:
    """An edit of code. `same`: only comments, docstrings, type hints or the form differ. `missing`: names that the file
    still uses, and no longer defines."""

    same: bool = False
    constants: tuple[Constant, ...] = ()
    missing: tuple[str, ...] = ()


def edit(file: str, before: str, after: str) -> CodeEdit:
    """Compare two texts of a file; text that can't be parsed as Python counts as other code."""
    if not file.endswith(".py"):
        return CodeEdit()
    try:
        old, new = _bare(before), _bare(after)
    except _ODD:
        return CodeEdit()
    was, becomes = dict(_constants(old, before)), dict(_constants(new, after))
    pairs = ((name, was[name], becomes[name]) for name in was if name in becomes)
    constants = (Constant(name, a, b, saves or also) for name, (a, saves), (b, also) in pairs if a != b)
    defined = _defined(ast.walk(new))
    missing = () if "*" in defined else sorted(_used(new) & (_defined(old.body) - defined))
    return CodeEdit(ast.dump(old) == ast.dump(new), tuple(constants), tuple(missing))


def same_program(before: str, after: str) -> bool:
    """Tell whether two texts of a module differ in comments, docstrings and form alone."""
    try:
        old, new = (ast.dump(_bare(source, hints=False)) for source in (before, after))
    except _ODD:
        return False
    return old == new


def _used(tree: ast.Module) -> set[str]:
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _defined(some: Iterable[ast.AST]) -> set[str]:
    """Return the names that these bind, the built-in ones, and `*` where an import could bind any."""
    found: set[str] = set(dir(builtins))
    for one in some:
        if isinstance(one, _Functions | ast.ClassDef | ast.ExceptHandler) and one.name:
            found.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            found |= {(each.asname or each.name).partition(".")[0] for each in one.names}
        elif isinstance(one, ast.Assign):
            found |= {each.id for target in one.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
    return found


def _bare(source: str, *, hints: bool = True) -> ast.Module:
    """Return the module without the parts that have no effect on a run. Hints stay where code could read them: on
    fields of classes, on decorated functions, and where the file asks for any. The source is parsed as bytes, since a
    first line may declare another coding."""
    tree = ast.parse(source.encode())
    _strip(tree, docstrings="__doc__" not in source, hints=hints and not _READS_HINTS.search(source))
    used = _used(tree)
    for one in (tree, *ast.walk(tree)):
        if isinstance(statements := getattr(one, "body", None), list):
            one.body = [each for each in statements if not _for_hints(each, used)]  # type: ignore[attr-defined]
    return tree


def _for_hints(one: ast.stmt, used: set[str]) -> bool:
    """Tell whether it imports names that only hints use, and nothing uses without them."""
    if not (isinstance(one, ast.ImportFrom) and one.module in _HINTS):
        return False
    return not any((each.asname or each.name) in used for each in one.names)


def _strip(node: ast.AST, *, docstrings: bool, hints: bool, of_class: bool = False) -> None:
    of_class = isinstance(node, ast.ClassDef) or (of_class and not isinstance(node, _Functions))
    if isinstance(node, _Functions) and hints and not node.decorator_list:
        node.returns = None
        for one in ast.walk(node.args):
            if isinstance(one, ast.arg):
                one.annotation = None
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            kept = (_kept(one, docstrings=docstrings, hints=hints and not of_class) for one in statements)
            setattr(node, name, [one for one in kept if one is not None])
    for inner in ast.iter_child_nodes(node):
        _strip(inner, docstrings=docstrings, hints=hints, of_class=of_class)


def _kept(one: ast.stmt, *, docstrings: bool, hints: bool) -> ast.stmt | None:
    if isinstance(one, ast.Pass):
        return None
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
        return None if docstrings else one
    if isinstance(one, ast.AnnAssign) and hints and isinstance(one.target, ast.Name):
        return ast.copy_location(ast.Assign([one.target], one.value), one) if one.value else one
    return one


def _constants(tree: ast.Module, source: str) -> Iterator[tuple[str, tuple[str, bool]]]:
    lines = source.splitlines()
    for one in tree.body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            value, line = one.value, lines[one.lineno - 1 : one.lineno]
            if isinstance(value, ast.Constant):
                name = one.targets[0].id
                said = f"{name} {''.join(line).partition('#')[2]}"
                yield name, (repr(value.value), bool(_SAVES.search(said) and _RATE.search(said)))
