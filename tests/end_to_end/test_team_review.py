"""`make review` in a team's repository: what its base pins judges, and nothing of the change. # N14 # D7 # D8"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.base.installation import version
from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.git import git
from tests.checkouts.shell import Done
from tests.docs.console import blocks
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

PAGE = ROOT / "docs" / "policy.md"
OWN = """
import pulumi_gcp as gcp
gcp.storage.Bucket("artifacts", name="{stack}-artifacts", location="US-CENTRAL1")
gcp.storage.Bucket("labelled", name="{stack}-labelled", location="US-CENTRAL1", labels={{"team": "ml"}})
gcp.bigquery.Dataset("events", dataset_id="events", location="US")
"""
LARGER = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}
RAN = "import pathlib, sys\nif '-I' in sys.orig_argv: pathlib.Path({!r}).touch()\n"


@dataclass(frozen=True)
class Team:
    """A team's repository in a folder of a larger one. What judges is made of a wheel, and `cache` has it."""

    checkout: Checkout
    top: Path
    cache: Path

    def git(self, *words: str) -> str:
        return git(self.top, *words)

    def commit(self, why: str) -> None:
        self.git("add", "--all")
        self.git("commit", "-qm", why)

    def edited(self, *flags: str) -> Done:
        words = ("--base", "main", "--stack", self.checkout.stack, "--output", "markdown", *flags)
        # As an installed `python -P -m slipway.local.pull_request`: with nothing of the folder on its path.
        path = {"PYTHONPATH": str(ROOT), "SLIPWAY_CACHE": str(self.cache)}
        command = (sys.executable, "-P", "-m", "local.pull_request", *words)
        return self.checkout.run(*command, role="previewer", **self.checkout.forked, **path)

    def undone(self) -> None:
        self.git("reset", "-q", "--hard", "main")
        self.git("clean", "-qfd")


@pytest.fixture
def team(checkout: Checkout, wheel: Path, tmp_path: Path) -> Team:
    top = checkout.folder
    made = Team(checkout, top.parent, tmp_path / "cache")
    (top / "requirements.txt").write_text(f"slipway-vertex[deploy] @ {wheel.as_uri()}\n")
    (top / ".gitignore").write_text(".slipway/\n__pycache__/\n.venv\n")
    (top.parent / ".gitignore").write_text("/*\n!/checkout/\n!/web/\n!.gitignore\n!/.github/\n")
    made.git("init", "-q", "-b", "main")
    made.commit("first")
    return made


@pytest.mark.deployed
def test_a_team_s_changes_are_judged_by_its_base_s_pins(team: Team, tmp_path: Path, wheel: Path) -> None:
    """With rules of its own: the pack that docs/policy.md shows, as a program that the engine starts."""
    pack = team.checkout.folder / "policy" / "__main__.py"
    pack.parent.mkdir()
    (text,) = blocks(PAGE, "python")
    pack.write_text(text.replace("/usr/bin/env python3", sys.executable, 1))
    pack.chmod(0o755)
    team.commit("rules of our own")
    nothing_of_the_change_runs_in_the_judge_nor_what_it_pins(team, tmp_path / "ran", tmp_path, wheel)
    what_lies_beside_the_folder_says_nothing(team)


def nothing_of_the_change_runs_in_the_judge_nor_what_it_pins(team: Team, ran: Path, place: Path, wheel: Path) -> None:
    """A refusal by the team's rules shuts the gate, and is told beside ours; an allowed change is not mentioned."""
    folder, newer = team.checkout.folder, place / wheel.name.replace(version(), "9.0.0")
    for name in ("sitecustomize.py", "usercustomize.py"):
        (folder / name).write_text(RAN.format(str(ran)))
    shutil.copy(wheel, newer)
    (folder / "requirements.txt").write_text(f"slipway-vertex[deploy] @ {newer.as_uri()}\n")
    program = folder / "__main__.py"
    program.write_text(program.read_text() + OWN.format(stack=team.checkout.stack))
    team.checkout.write(persistentResources=LARGER, workspace={"submitters": ["group:new@company.example"]})
    done = team.edited("--gate")
    assert done.code == 5, done.said
    assert "sitecustomize.py" in done.out and "replace (create before delete)" in done.out, done.said
    pins = "slipway-vertex {} → 9.0.0 (major version)"
    assert pins.format(version()) in done.out.replace("`", ""), done.said
    assert not ran.exists()
    assert "| ⛔ | policy `team-label` | acme: `artifacts`: the label `team` is missing." in done.out, done.said
    assert "new@company.example" in done.out and "Policy: 1 mandatory rule broken." in done.out, done.said
    assert f"{team.checkout.stack}-artifacts" in done.out and f"{team.checkout.stack}-labelled" in done.out, done.said
    assert "bigquery" in done.out, done.said
    team.undone()


def what_lies_beside_the_folder_says_nothing(team: Team) -> None:
    """But the repository's workflows."""
    (team.top / "web").mkdir()
    (team.top / "web" / "requirements.txt").write_text("flask\n")
    workflows = team.top / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "up.yaml").write_text("on: push\n")
    said = team.edited().out
    told = [line for line in said.splitlines() if line.startswith(("| ⛔", "| ⚠", "| •"))]
    assert len(told) == 1 and told[0].startswith("| ⛔ | workflow `up.yaml` |"), said
    assert "`../.github/workflows/up.yaml` is new" in said, said
    team.undone()
