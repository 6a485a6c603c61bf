"""Which part of the tree may import which: one way, and never in a circle. (D8, N4)

Read from the source text, so that an import inside a function and one for types alone count like any other.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.python_files import ROOT, imported, into

PARTS = ("slipway", "components", "policy", "local", "journey", "bench")
FLOORS = ("base", "model", "google", "authoring", "deploying", "using", "operating", "answers", "reviewing", "front")
"""The folders of slipway/, lowest first."""
APART = ({"deploying", "using"},)
"""Floors beside each other."""


@cache
def files() -> list[Path]:
    """The product's files, from the root; the tests are no part of it."""
    paths = [*ROOT.glob("*.py"), *(file for part in PARTS for file in (ROOT / part).rglob("*.py"))]
    return sorted(file.relative_to(ROOT) for file in paths)


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """One circle of a graph, from a node back to itself; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def importers(names: Iterable[str], among: Iterable[str]) -> list[str]:
    """The files below some folders that import one of some top-level packages."""
    return [
        str(file)
        for file in files()
        if file.parts[0] in set(among) and {name[0] for name in imported(file)} & set(names)
    ]


def test_neither_files_nor_what_lies_side_by_side_in_a_folder_is_imported_in_a_circle() -> None:
    """Files and subfolders of one folder, each subfolder as a whole."""
    assert circle({str(file): map(str, into(file)) for file in files()}) == []
    graphs: dict[Path, dict[str, set[str]]] = {}
    for file in files():
        for to in into(file):
            folder = next(parent for parent in file.parents if parent in to.parents)
            here, there = file.parts[len(folder.parts)], to.parts[len(folder.parts)]
            graphs.setdefault(folder, {}).setdefault(here, set()).add(there)
    assert graphs.keys() >= {Path("slipway"), Path("local"), Path("local/plugin")}
    assert {str(folder): found for folder, graph in graphs.items() if (found := circle(graph))} == {}


def test_each_floor_imports_only_those_below_it() -> None:
    """Modules beside the floors are on top of them all."""

    def floor_of(file: Path) -> str:
        return file.parts[1] if file.parts[1] in FLOORS else FLOORS[-1]

    folders = {file.parts[1] for file in files() if file.parts[0] == "slipway" and len(file.parts) > 2}
    assert folders == set(FLOORS)
    against = [
        f"{file} imports {to}"
        for file in files()
        for to in into(file)
        if file.parts[0] == to.parts[0] == "slipway" and str(to) != "slipway/__init__.py"
        if FLOORS.index(floor_of(to)) > FLOORS.index(floor_of(file)) or {floor_of(file), floor_of(to)} in APART
    ]
    assert against == []


PRODUCT = ("slipway", "components", "policy")
LAPTOP = ("local", "vertex_local", "journey", "bench")


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (["slipway"], ["pulumi", "pulumi_gcp", "components", "policy", *LAPTOP]),
        (["components"], ["policy", *LAPTOP]),
        (["policy"], ["components", *LAPTOP]),
        ([".", *PRODUCT, "__main__.py"], ["local", "vertex_local", "tests"]),
    ],
    ids=["the rules", "components", "the policy pack", "the product without the laptop"],
)
def test_nothing_below_imports_what_is_above_it(below: list[str], above: list[str]) -> None:
    assert importers(above, below) == []


def test_the_library_does_not_need_its_terminal() -> None:
    above = ("slipway/front/cli/", "slipway/__main__.py")
    using = [str(file) for file in files() if any(str(to).startswith("slipway/front/cli/") for to in into(file))]
    assert [file for file in using if not file.startswith(above)] == []


def test_types_are_checked_of_every_service_of_the_provider_that_is_used() -> None:
    """D8: mypy takes what it is told to skip for Any."""
    rows = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    followed = {name for row in rows if row.get("follow_imports") == "normal" for name in row["module"]}
    used = {
        f"pulumi_gcp.{name[1]}.*" for file in files() for name in imported(file) if name[0] == "pulumi_gcp" and name[1:]
    }
    assert used
    assert used <= followed


def test_a_submission_imports_no_more_than_it_needs_before_it_sends() -> None:
    """Each module costs a person's time; quota and findings are for what draws quota, and for reviews. # P1"""
    program = """
import sys
import slipway.front.cli.terminal.arguments, slipway.front.cli.terminal.delivery, slipway.using.submission.submitter
print(*(name.removeprefix("slipway.") for name in sys.modules if name.startswith("slipway.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    costly = ("google.quota", "model.findings", "using.sweeps", "operating", "reviewing")
    assert [name for name in done.stdout.split() if name.startswith(costly)] == []
