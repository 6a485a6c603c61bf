"""GitHub would read the workflows: actionlint checks syntax, contexts, types of expressions and injections."""  # D5

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import yaml

from tests.ci.conftest import ROOT, Workflow


def lint(
    actionlint: Path, *files: Path, config: Path | None = None, at: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    how = ["-no-color", "-shellcheck=", "-pyflakes=", *(["-config-file", str(config)] if config else [])]
    # The shell and Python checkers it would call are not everywhere: the same answer on every machine without them.
    return subprocess.run([actionlint, *how, *files], cwd=at, capture_output=True, text=True)


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


def test_what_the_linter_does_not_know_yet_is_held_to_what_github_says(
    actionlint: Path, workflows: dict[str, Workflow], tmp_path: Path
) -> None:
    """`queue` (.github/actionlint.yaml says since when): one of two words, and not where what runs is cancelled. And
    `uses: $/…`, a path in this repository: linted as the path from a checkout, which actionlint looks up."""
    queued = [path for path, one in sorted(workflows.items()) if "queue:" in one.text]
    for name, workflow in workflows.items():
        for one in (workflow.tree, *workflow.jobs().values()):
            concurrency = one.get("concurrency", {})
            assert set(concurrency) <= {"group", "cancel-in-progress", "queue"}, name
            assert concurrency.get("queue", "single") in ("single", "max"), name
            assert "queue" not in concurrency or concurrency["cancel-in-progress"] is False, name
    ignored = yaml.safe_load((ROOT / ".github" / "actionlint.yaml").read_text())["paths"]
    everywhere = ignored.pop(".github/workflows/*.yaml")
    assert sorted(ignored) == [f".github/workflows/{name}.yaml" for name in queued]
    (empty := tmp_path / "none.yaml").write_text("")
    files = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
    done = lint(actionlint, *files, config=empty)
    assert done.stdout.count("[syntax-check]") == len(queued), "it knows it now: take its lines away"
    assert done.stdout.count('unexpected key "queue" for "concurrency" section') == len(queued)
    used = sum(path.read_text().count("uses: $/") for path in files)
    assert len(everywhere["ignore"]) == 2 and used == done.stdout.count(' "$/'), "it knows it now: take its lines away"

    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for path in (tmp_path / ".github").rglob("*.yaml"):
        path.write_text(path.read_text().replace("uses: $/", "uses: ./"))
    files = sorted((tmp_path / ".github" / "workflows").glob("*.yaml"))
    looked_up = lint(actionlint, *files, at=tmp_path)
    assert looked_up.returncode == 0, looked_up.stdout


def test_the_scripts_are_shell(workflows: dict[str, Workflow]) -> None:
    for workflow in workflows.values():
        for step in workflow.steps():
            if "run" in step:
                done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True)
                assert done.returncode == 0, f"{workflow.path.name}: {step.get('name')}: {done.stderr}"
