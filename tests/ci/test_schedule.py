"""The scheduled deployment's choice of a commit, played with a repository of git's and a published catalog. # B6"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slipway.google.catalog import document
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import UNCOMMITTED
from tests.checkouts.git import git
from tests.ci import tools
from tests.ci.conftest import All

CATALOG = "gs://acme-prod-catalog/catalog.json"
TOOLS = {
    "pulumi": """
import json, os, sys
assert sys.argv[1:] == ["stack", "output", "--json", "--stack", "prod"]
print(json.dumps(json.loads(os.environ["OUTPUTS"])))
""",
    "gcloud": f"""
import os, sys
assert sys.argv[1:] == ["storage", "cat", {CATALOG!r}]
print(open(os.environ["CATALOG"]).read())
""",
    "jq": tools.JQ,
}
"""What is on a runner, as far as it is asked here."""


@dataclass
class Main:
    """A checkout of main; its commits, oldest first. `step`: the workflow's."""

    folder: Path
    commits: list[str]
    step: dict[str, Any]

    def git(self, *words: str) -> str:
        return git(self.folder, *words)

    def commit(self, why: str) -> str:
        (self.folder / "program").write_text(why)
        self.git("add", "program")
        self.git("commit", "-qm", why)
        self.commits.append(self.git("rev-parse", "HEAD"))
        return self.commits[-1]

    def published(self, commit: str, *, dirty: bool = False, under_way: str | None = None) -> None:
        whole = Catalog("prod", "acme", "us-central1", commit, dirty, "w", "t", {}, (), {}, under_way=under_way)
        (self.folder.parent / "catalog.json").write_text(document.write(whole))

    def choose(self, outputs: str = f'{{"catalog": "{CATALOG}"}}') -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": tools.put(self.folder.parent / "bin", **TOOLS),
            "STACK": "prod",
            "OUTPUTS": outputs,
            "CATALOG": str(self.folder.parent / "catalog.json"),
            "GITHUB_OUTPUT": str(self.folder.parent / "output"),
        }
        return tools.run(self.step, environ, self.folder)

    @property
    def chosen(self) -> str:
        output = self.folder.parent / "output"
        return output.read_text().strip().removeprefix("commit=") if output.exists() else ""


@pytest.fixture
def main(tmp_path: Path, workflows: All) -> Main:
    made = Main(tmp_path / "checkout", [], workflows["schedule-stack"].step("Deployed commit"))
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    for why in ("first", "deployed", "merged since"):
        made.commit(why)
    return made


@pytest.mark.parametrize("under_way", [False, True], ids=["deployed", "begun"])
def test_it_takes_what_is_deployed_or_was_begun_and_not_what_main_has(main: Main, under_way: bool) -> None:
    first, deployed, _ = main.commits
    main.published(first[:7] if under_way else deployed[:7], under_way=deployed[:7] if under_way else None)
    done = main.choose()
    assert done.returncode == 0, done.stdout + done.stderr
    assert main.chosen == deployed == main.git("rev-parse", "HEAD")
    assert (main.folder / "program").read_text() == "deployed"


STRAY: dict[str, Callable[[Main], None]] = {
    "local changes": lambda main: main.published(main.commits[0][:7], dirty=True),
    "no git": lambda main: main.published("unknown"),
    "untold": lambda main: main.published(""),
    "begun from local changes": lambda main: main.published(main.commits[0][:7], under_way=UNCOMMITTED),
    "of a branch": lambda main: of_a_branch(main),
}


def of_a_branch(main: Main) -> None:
    main.git("switch", "-qc", "mine")
    main.published(main.commit("never merged")[:7])
    main.git("switch", "-q", "main")


@pytest.mark.parametrize("why", STRAY)
def test_what_is_no_commit_of_main_stops_it_in_words(main: Main, why: str) -> None:
    STRAY[why](main)
    done = main.choose()
    assert done.returncode == 1
    assert "is no commit of main::" in done.stdout
    assert "→ up → Run workflow" in done.stdout
    assert main.chosen == "" and main.git("branch", "--show-current") == "main"


def test_where_nothing_is_deployed_nothing_is_due_and_a_catalog_that_can_t_be_read_is_not_none(main: Main) -> None:
    done = main.choose("{}")
    assert done.returncode == 0 and "nothing is deployed of prod" in done.stdout
    assert main.choose().returncode != 0
    assert main.chosen == ""


def test_nothing_of_main_s_runs_before_that_with_the_deployer_s_rights(workflows: All) -> None:
    steps = workflows["schedule-stack"].jobs()["up"]["steps"]
    names = [step.get("name", step.get("uses", "")) for step in steps]
    before, after = steps[: names.index("Deployed commit")], steps[names.index("Deployed commit") + 1 :]
    (signing_in,) = [step for step in before if step["uses"].startswith(("./", "$/"))]
    assert signing_in["uses"] == "$/.github/actions/backend", "of the workflow's own commit, as this file is"
    (sign_in,) = workflows["actions/backend"].steps()
    assert not re.search(r"python|make|pip |\./|\$PWD|source ", sign_in["run"]), "and it runs nothing of the checkout"
    assert all("run" not in step for step in before)
    run = steps[names.index("Deployed commit")]["run"]
    assert not re.search(r"python|make|pip |\./", run)
    for step in after:
        only = str(step.get("if", ""))
        assert "steps.deployed.outputs.commit" in only or "steps.up.outcome" in only or "machines" in only, step
