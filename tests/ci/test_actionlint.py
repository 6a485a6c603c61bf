"""GitHub would read the workflows: actionlint checks syntax, contexts, types of expressions and injections."""  # D5

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ci.conftest import ROOT, Workflow

pytestmark = pytest.mark.journey


def lint(
    actionlint: Path, *files: Path, config: Path | None = None, at: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    how = ["-no-color", "-shellcheck=", "-pyflakes=", *(["-config-file", str(config)] if config else [])]
    # The shell and Python checkers it would call are not everywhere: the same answer on every machine without them.
    return subprocess.run([actionlint, *how, *files], cwd=at, capture_output=True, text=True)


def test_every_workflow_is_clean(actionlint: Path, tmp_path: Path) -> None:
    """Also with `uses: $/…`, a path in this repository, as the path from a checkout, which actionlint looks up."""
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for path in (tmp_path / ".github").rglob("*.yaml"):
        path.write_text(path.read_text().replace("uses: $/", "uses: ./"))
    for at in (ROOT, tmp_path):
        done = lint(actionlint, *sorted((at / ".github" / "workflows").glob("*.yaml")), at=at)
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_linter_does_not_know_yet_is_all_that_it_would_say(actionlint: Path, tmp_path: Path) -> None:
    """`queue` and `uses: $/…`: .github/actionlint.yaml says since when."""
    (empty := tmp_path / "none.yaml").write_text("")
    files = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
    done = lint(actionlint, *files, config=empty)
    known = {word: sum(path.read_text().count(word) for path in files) for word in ("queue:", "uses: $/")}
    assert done.stdout.count('unexpected key "queue" for "concurrency" section') == known["queue:"] > 0
    assert done.stdout.count(' "$/') == known["uses: $/"] > 0, "it knows it now: take its lines away"


def test_the_scripts_are_shell(workflows: dict[str, Workflow]) -> None:
    for workflow in workflows.values():
        for step in workflow.steps():
            done = subprocess.run(["bash", "-n"], input=step.get("run", ""), capture_output=True, text=True)
            assert done.returncode == 0, f"{workflow.path.name}: {step.get('name')}: {done.stderr}"
