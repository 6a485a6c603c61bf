"""Whatever runs with prod's identity is owned by the leads, new files included."""  # D7

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.stack.stack import parse
from slipway.stack.yaml_file import load as load_stack
from slipway.template.load import load
from tests.ci.conftest import ROOT, Workflow

LEADS, EVERYBODY = "@acme/ml-platform-leads", "@acme/ml-platform"


@pytest.fixture(scope="module")
def rules() -> list[tuple[str, str]]:
    """Patterns with their owner, in the file's order."""
    lines = (ROOT / ".github" / "CODEOWNERS").read_text().splitlines()
    return [(words[0], words[1]) for line in lines if (words := line.split()) and not line.startswith("#")]


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def owner(rules: list[tuple[str, str]], path: str) -> str:
    """As GitHub decides, for the patterns that the sample has: everything, a folder from the top, one file."""
    found = ""
    for pattern, team in rules:
        if pattern == "*" or f"/{path}" == pattern or (pattern.endswith("/") and f"/{path}".startswith(pattern)):
            found = team
    return found


def imported(file: str, tracked: set[str]) -> Iterator[str]:
    """The tracked files that a module's imports name, also those inside of functions, with the packages they are in."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            for end in range(1, len(parts) + 1):
                path = "/".join(parts[:end])
                yield from {f"{path}.py", f"{path}/__init__.py"} & tracked


def run_by(stack: str, tracked: list[str], workflows: dict[str, Workflow]) -> set[str]:
    """The tracked files that an `up` of the stack runs or reads."""
    every, found = set(tracked), set[str]()
    declared = parse(load_stack(ROOT / "stacks" / f"Pulumi.{stack}.yaml"))
    templates = load(declared.templates, ROOT / "templates")
    left = ["__main__.py", "slipway/__main__.py", *(f"templates/{t.name.replace('-', '_')}.py" for t in templates)]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += imported(file, every)
    folders = {f"{Path(file).parent}/" for file in found if "/" in file and not file.startswith("templates/")}
    folders |= {f"{package.folder}/" for template in templates for package in template.packages}
    data = {name for name in tracked if any(name.startswith(folder) for folder in folders)}
    used = [key for key in workflows if key.startswith("actions/")]
    steps = [step.get("run", "") for key in (*used, "up-stack") for step in workflows[key].steps()]
    # The documents that errors name are read by people.
    named = {name for name in tracked if name[-3:] != ".md" and any(f" {name}" in script for script in steps)}
    ci = {name for name in tracked if name.startswith(".github/")}
    return found | data | named | ci | {"Pulumi.yaml", "pyproject.toml", f"stacks/Pulumi.{stack}.yaml"}


def test_all_that_runs_in_prod_is_the_leads(
    rules: list[tuple[str, str]], tracked: list[str], workflows: dict[str, Workflow]
) -> None:
    run = run_by("prod", tracked, workflows)
    assert {
        "__main__.py",
        "components/guard.py",
        "slipway/deployment/live_plan.py",
        "slipway/machines/table.json",
        "requirements.txt",
        ".github/workflows/up-stack.yaml",
    } <= run, "what is found is not next to nothing"
    assert run <= set(tracked)
    assert [path for path in sorted(run) if owner(rules, path) != LEADS] == []


@pytest.mark.parametrize(
    "new", ["yaml.py", "pulumi/__init__.py", "slipway/new.py", "templates/new.py", "policy/new.py", ".pulumi/x"]
)
def test_a_new_file_where_the_program_imports_from_is_too(rules: list[tuple[str, str]], new: str) -> None:
    assert owner(rules, new) == LEADS


def test_what_prod_does_not_run_is_everybodys(rules: list[tuple[str, str]], tracked: list[str]) -> None:
    free = {pattern.strip("/") for pattern, team in rules if team == EVERYBODY}
    assert free >= {"docs", "tests", "README.md", "stacks/Pulumi.dev.yaml", "stacks/Pulumi.staging.yaml"}
    for path in free:
        assert any(name == path or name.startswith(f"{path}/") for name in tracked), f"{path} is not there"
