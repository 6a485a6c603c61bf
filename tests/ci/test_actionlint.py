"""GitHub would read the workflows: actionlint checks syntax, contexts, types of expressions and injections."""  # D5

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.ci.conftest import ROOT, Workflow


def lint(actionlint: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    # The shell and Python checkers it would call are not everywhere: the same answer on every machine without them.
    return subprocess.run(
        [actionlint, "-no-color", "-shellcheck=", "-pyflakes=", *files], cwd=ROOT, capture_output=True, text=True
    )


def test_every_workflow_is_clean(actionlint: Path) -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
    assert len(files) >= 3
    done = lint(actionlint, *files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_does_find_faults(actionlint: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    broken = shutil.copy(ROOT / ".github" / "workflows" / "preview.yaml", folder / "preview.yaml")
    Path(broken).write_text(Path(broken).read_text().replace("matrix.stack", "matrix.stak", 1))
    done = lint(actionlint, Path(broken))
    assert done.returncode == 1
    assert '"stak" is not defined' in done.stdout


def test_the_scripts_are_shell(workflows: dict[str, Workflow]) -> None:
    for workflow in workflows.values():
        for step in workflow.steps():
            if "run" in step:
                done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True)
                assert done.returncode == 0, f"{workflow.path.name}: {step.get('name')}: {done.stderr}"
