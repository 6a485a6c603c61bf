"""Python files of the repository, read once for all tests that look into them. Paths begin at the root."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


@cache
def imported(file: Path) -> tuple[tuple[str, ...], ...]:
    """Return each name that a file imports, also inside a function, in parts; of `from a import b` it is `a.b`."""
    names = list[tuple[str, ...]]()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            names += (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = (*file.parts[: len(file.parts) - node.level],) if node.level else ()
            names += ((*base, *(node.module or "").split("."), alias.name) for alias in node.names)
    return tuple(tuple(filter(None, name)) for name in names)


@cache
def as_file(name: tuple[str, ...]) -> Path | None:
    """Return the file of ours that a name comes from: a module, a package, or something defined in one of them."""
    for parts in (name, name[:-1]):
        for file in (Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py")) if parts else ():
            if (ROOT / file).is_file():
                return file
    return None


@cache
def into(file: Path) -> frozenset[Path]:
    """Return the files of ours that a file imports."""
    return frozenset(to for name in imported(file) if (to := as_file(name)) is not None and to != file)


@cache
def defined(file: Path) -> frozenset[str]:
    """Return functions, classes and constants of a module, and `Class.method`."""
    names = set[str]()
    for node in tree(file).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names |= {f"{node.name}.{entry.name}" for entry in node.body if isinstance(entry, ast.FunctionDef)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)
