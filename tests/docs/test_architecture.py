"""The map is true: its paths exist, its names are defined where it says, no folder is left out, and imports follow its
order. (D8)"""

import re
from pathlib import Path

import pytest

from tests.ci.test_imports import FLOORS
from tests.python_files import ROOT, defined

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TESTING = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
# `folder/file.py`, or `folder/file.py:Class.method` for what is defined there.
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)(?::([\w.]+))?`")


def named(text: str) -> list[tuple[str, str]]:
    """The paths that a page names, each with what it says is defined there."""
    names = [(path, name) for path, name in NAMED.findall(text) if "/" in path or path.endswith(".py")]
    return list(dict.fromkeys(names))


def section(heading: str) -> str:
    _, _, rest = PAGE.partition(f"\n## {heading}\n")
    assert rest, f"there is no section {heading!r}"
    return rest.partition("\n## ")[0]


def tables(text: str) -> list[list[str]]:
    """The rows of each table, without its head."""
    blocks = re.findall(r"^\|.*\n\|---.*\n((?:\|.*\n?)+)", text, re.MULTILINE)
    return [block.splitlines() for block in blocks]


@pytest.mark.parametrize(("path", "name"), named(PAGE) + named(TESTING))
def test_what_is_named_is_there(path: str, name: str) -> None:
    example = re.fullmatch(r"stacks/Pulumi\.(dev|staging|prod)\.yaml", path)  # A team has others.
    assert example or (ROOT / path).exists(), f"there is no {path}"
    assert not name or name in defined(Path(path)), f"{path} defines no {name}"


def test_every_folder_and_every_module_at_the_top_is_on_the_map() -> None:
    shown = {path for path, _ in named(section("The map"))}
    wanted = {f"slipway/{floor}/" for floor in FLOORS}
    folders = [path.parent for path in (ROOT / "local").glob("*/__init__.py")]
    wanted |= {f"local/{path.name}/" for path in folders}
    wanted |= {
        f"{name}/"
        for name in (
            "components",
            "stacks",
            "templates",
            "jobs",
            "policy",
            "vertex-local",
            "journey",
            "bench",
            "tests",
            "docs",
        )
    }
    assert wanted - shown == set()


def test_the_map_of_the_product_has_a_row_for_each_floor_from_the_lowest_up() -> None:
    _, product = tables(section("The map"))
    assert [row.split("|")[1].strip(" `/") for row in product] == [f"slipway/{floor}" for floor in FLOORS]
