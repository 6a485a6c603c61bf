"""The map is true: its paths exist, its names are defined where it says, and no folder is left out. (D8)"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TESTING = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
# `folder/file.py`, or `folder/file.py:Class.method` for what is defined there.
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)(?::([\w.]+))?`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def named(text: str) -> list[tuple[str, str]]:
    """The paths that a page names, each with what it says is defined there."""
    found = [(path, name) for path, name in NAMED.findall(text) if "/" in path or path.endswith(".py")]
    return list(dict.fromkeys(found))


def section(heading: str) -> str:
    _, _, rest = PAGE.partition(f"\n## {heading}\n")
    assert rest, f"there is no section {heading!r}"
    return rest.partition("\n## ")[0]


@cache
def defined(path: str) -> set[str]:
    """Functions, classes and constants of a module, and `Class.method`."""
    found: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            if isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize(("path", "name"), named(PAGE) + named(TESTING))
def test_what_is_named_is_there(path: str, name: str) -> None:
    assert (ROOT / path).exists(), f"there is no {path}"
    assert not name or name in defined(path), f"{path} defines no {name}"


@pytest.mark.parametrize("link", LINK.findall(PAGE) + LINK.findall(TESTING))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


def test_every_folder_and_every_module_at_the_top_is_on_the_map() -> None:
    shown = {path for path, _ in named(section("The map"))}
    parts = [path for path in (ROOT / "slipway").iterdir() if not path.name.startswith("__")]
    wanted = {f"slipway/{path.name}" for path in parts if path.suffix == ".py" or (path / "__init__.py").exists()}
    wanted = {path if path.endswith(".py") else f"{path}/" for path in wanted}
    folders = [path.parent for path in (ROOT / "local").glob("*/__init__.py")]
    wanted |= {f"local/{path.name}/" for path in folders}
    wanted |= {
        f"{name}/" for name in ("components", "stacks", "templates", "jobs", "journey", "bench", "tests", "docs")
    }
    assert wanted - shown == set()


def test_every_exercise_names_what_changes() -> None:
    rows = [row for row in section("Where to change what").splitlines() if row.startswith("| ")][1:]
    assert len(rows) >= 7
    assert [row for row in rows if not named(row)] == []


def test_the_readme_points_to_the_map() -> None:
    assert "docs/architecture.md" in (ROOT / "README.md").read_text(encoding="utf-8")
