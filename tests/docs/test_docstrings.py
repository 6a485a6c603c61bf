"""What docstrings name is there: modules, and what they define. (D8)"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.test_architecture import named

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("slipway", "components", "policy", "local", "vertex-local", "journey", "bench")
DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
DATA = re.compile(r"\.(jsonl?|yaml|toml|md|txt|com|example)$")
OTHERS = re.compile(
    r"gcp\.|pulumirpc\.|bigquery\.Dataset|storage\.buckets|resourcemanager\.projects|CustomJob\.run"
    r"|disk\.type|versioning\.enabled|pools\.workers\.machine|(params|metrics|quota|aiplatform)\.[A-Z.]+$"
)
"""Others' classes and APIs, and keys of documents and settings."""


@cache
def files() -> tuple[Path, ...]:
    folders = (ROOT / top for top in (*TOPS, "tests/checkouts"))
    found = (path.relative_to(ROOT) for folder in folders for path in sorted(folder.rglob("*.py")))
    return tuple(file for file in found if file.parts[:2] != ("vertex-local", "tests"))


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def docstrings(file: Path) -> Iterator[ast.Constant]:
    """Those of modules, classes and functions, and of what is assigned before them."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            told = (one.value for one in node.body if isinstance(one, ast.Expr))
            yield from (one for one in told if isinstance(one, ast.Constant) and isinstance(one.value, str))


def defined(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Functions, classes, constants and imports of a module, and `Class.method` and `Class.field`."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + node.name
            case ast.ClassDef():
                yield prefix + node.name
                yield from defined(node.body, f"{prefix}{node.name}.")
            case ast.Assign():
                yield from (prefix + one.id for one in node.targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name
            case ast.Import() | ast.ImportFrom():
                yield from (prefix + (one.asname or one.name) for one in node.names)
            case ast.If():
                yield from defined([*node.body, *node.orelse], prefix)


@cache
def modules() -> dict[str, frozenset[str]]:
    """What each module defines, by its full name."""
    named = ((".".join(file.with_suffix("").parts), file) for file in files())
    named = ((name.removeprefix("vertex-local.").removesuffix(".__init__"), file) for name, file in named)
    return {name: frozenset(defined(tree(file).body)) for name, file in named}


@cache
def classes() -> dict[str, frozenset[str]]:
    """What all classes of a name define."""
    found: dict[str, set[str]] = {}
    for name in (name for names in modules().values() for name in names):
        found.setdefault(name.partition(".")[0], set()).add(name)
    return {name: frozenset(inner) for name, inner in found.items() if name[0].isupper()}


@cache
def words(file: Path) -> frozenset[str]:
    """The words of a file's code: those of its names, and of its texts but for docstrings."""
    told = set(map(id, docstrings(file)))
    nodes = [node for node in ast.walk(tree(file)) if id(node) not in told]
    texts = " ".join(str(node.value) for node in nodes if isinstance(node, ast.Constant))
    names = (getattr(node, key, None) for node in nodes for key in ("id", "attr", "arg", "name", "asname"))
    return frozenset(re.findall(r"\w+", f"{texts} {' '.join(name for name in names if name)}"))


@cache
def installed(package: str) -> bool:
    return package in sys.stdlib_module_names or find_spec(package) is not None


def exists(name: str, file: Path) -> bool:
    """Whether a dotted name is one of ours, or of what is installed; else its words are those of the file's own code,
    as in `step.new`."""
    first, *rest = parts = (
        name.removeprefix("slipway.").split(".") if name.startswith("slipway.local") else name.split(".")
    )
    if DATA.search(name) or OTHERS.match(name):
        return True
    if parts[-1] == "py":
        return any(one.name == name for one in files())
    if first in (*TOPS, "vertex_local"):
        splits = ((".".join(parts[:count]), ".".join(parts[count:])) for count in range(len(parts), 0, -1))
        module, inner = next((module, inner) for module, inner in splits if module in modules())
        return not inner or inner in modules()[module]
    if first in classes():
        return name in classes()[first]
    if any(".".join(rest) in names for module, names in modules().items() if module.rpartition(".")[2] == first):
        return True
    return installed(first) or all(part in words(file) for part in parts)


@pytest.mark.parametrize("top", TOPS)
def test_what_a_docstring_names_is_there(top: str) -> None:
    gone = [
        f"{file}:{told.lineno} {name}"
        for file in files()
        if file.parts[0] == top
        for told in docstrings(file)
        for name in DOTTED.findall(str(told.value))
        if not exists(name, file)
    ]
    assert gone == []


@pytest.mark.parametrize("top", TOPS)
def test_a_path_in_a_docstring_leads_somewhere(top: str) -> None:
    gone = [
        f"{file}:{told.lineno} {path}"
        for file in files()
        if file.parts[0] == top
        for told in docstrings(file)
        for path, _ in named(str(told.value))
        if path.partition("/")[0] in (*TOPS, "docs", "tests")
        and not any((at / path).exists() for at in (ROOT, ROOT / "vertex-local"))
    ]
    assert gone == []


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("slipway.model.catalog.placeholders.DOLLAR", True),
        ("slipway.model.catalog.place_holders", False),
        ("placeholders.escaped", True),
        ("JobTemplate.worker_pools", False),
        ("Declaration.worker_pools", True),
        ("by_hand.ask_for", False),
        ("increases.ask_for", True),
        ("workers.py", True),
        ("no_such_file.py", False),
        ("os.environ", True),
    ],
)
def test_a_name_that_is_gone_is_found(name: str, there: bool) -> None:
    assert exists(name, Path("slipway/front/cli/quota.py")) is there
