"""Whatever runs with prod's identity is owned by the leads, new files included. A team shares that out as it likes, and
leaves none of it without an owner."""  # D7

import re
import subprocess
from pathlib import Path

import pytest

from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import load as load_stack
from slipway.authoring.template.load import load
from tests.ci.conftest import ROOT, STACKS, Workflow
from tests.python_files import into

LEADS, EVERYBODY = frozenset({"@acme/ml-platform-leads"}), frozenset({"@acme/ml-platform"})
Rules = list[tuple[str, frozenset[str]]]
FILES = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))


@pytest.fixture(scope="module")
def rules() -> Rules:
    """Patterns with their owners, in the file's order."""
    lines = (ROOT / ".github" / "CODEOWNERS").read_text().splitlines()
    lines_of_owners = [line.partition("#")[0].split() for line in lines]
    return [(words[0], frozenset(words[1:])) for words in lines_of_owners if words]


@pytest.fixture(scope="module")
def sampled(rules: Rules) -> bool:
    """Tell whether the owners are the sample's still."""
    return all(teams <= LEADS | EVERYBODY for _, teams in rules)


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def covers(pattern: str, path: str) -> bool:
    """As GitHub decides: from the top where there is a slash before the end, and all that is below a folder."""
    glob = re.escape(pattern.strip("/")).replace(r"\*\*/", "(.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    above = "" if "/" in pattern.rstrip("/") else "(.*/)?"
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(/.*)?"
    return re.fullmatch(above + glob + below, path) is not None


def owners(rules: Rules, path: str) -> frozenset[str]:
    """Owners by the last line that covers the path."""
    return next((teams for pattern, teams in reversed(rules) if covers(pattern, path)), frozenset())


def run_by(file: Path, tracked: list[str], workflows: dict[str, Workflow]) -> set[str]:
    """The tracked files that an `up` of any stack with these templates runs or reads: all but the stack's own file."""
    owning = set[str]()
    declared = parse(load_stack(file))
    templates = [load(name, ROOT / "templates") for name in declared.templates]
    left = ["__main__.py", "slipway/__main__.py", *(f"templates/{t.name.replace('-', '_')}.py" for t in templates)]
    while left:
        module = left.pop()
        if module not in owning:
            owning.add(module)
            left += map(str, into(Path(module)))
    folders = {f"{Path(path).parent}/" for path in owning if "/" in path and not path.startswith("templates/")}
    folders |= {f"{package.folder}/" for template in templates for package in template.packages}
    data = {name for name in tracked if any(name.startswith(folder) for folder in folders)}
    used = [key for key in workflows if key.startswith("actions/")]
    steps = [step.get("run", "") for key in (*used, "up-stack") for step in workflows[key].steps()]
    # The documents that errors name are read by people.
    named = {name for name in tracked if name[-3:] != ".md" and any(f" {name}" in script for script in steps)}
    ci = {name for name in tracked if name.startswith(".github/")}
    return (owning & set(tracked)) | data | named | ci | {"Pulumi.yaml", "pyproject.toml"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_all_that_a_deployment_runs_is_the_leads(
    rules: Rules, sampled: bool, tracked: list[str], workflows: dict[str, Workflow], file: Path
) -> None:
    run = run_by(file, tracked, workflows)
    assert {
        "__main__.py",
        "components/guard.py",
        "slipway/deploying/deployment/live_plan.py",
        "slipway/model/machines/table.json",
        "requirements.txt",
        ".github/workflows/up-stack.yaml",
    } <= run, "what is found is not next to nothing"
    assert [path for path in sorted(run) if not owners(rules, path)] == []
    assert not sampled or [path for path in sorted(run) if owners(rules, path) != LEADS] == []


def test_prods_own_file_is_too(rules: Rules, sampled: bool) -> None:
    owning = owners(rules, f"stacks/Pulumi.{STACKS[-1]}.yaml")
    assert owning == LEADS if sampled else owning


@pytest.mark.parametrize(
    "new", ["yaml.py", "pulumi/__init__.py", "slipway/new.py", "templates/new.py", "policy/new.py", ".pulumi/x"]
)
def test_a_new_file_where_the_program_imports_from_is_too(rules: Rules, sampled: bool, new: str) -> None:
    owning = owners(rules, new)
    assert owning == LEADS if sampled else owning


def test_what_prod_does_not_run_is_everybodys(rules: Rules, sampled: bool, tracked: list[str]) -> None:
    if not sampled:
        pytest.skip("a team's own owners")
    others = {f"stacks/Pulumi.{stack}.yaml" for stack in ("dev", "staging")}
    free = {pattern.strip("/") for pattern, teams in rules if teams == EVERYBODY}
    assert free >= {"docs", "tests", "README.md", *(others & set(tracked))}
    for path in free - others:
        assert any(name == path or name.startswith(f"{path}/") for name in tracked), f"{path} is not there"
