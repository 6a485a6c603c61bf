"""The workflows' own scripts, run with the real engine: state behind a key, a clean commit, a stale lock."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from local.engine.engine import ensure
from local.environment import engine_variables
from tests.checkouts.git import git
from tests.checkouts.kept_server import forking_python
from tests.ci import tools
from tests.ci.conftest import ROOT, Workflow

pytestmark = pytest.mark.journey

STACK_FILE = "# a comment that stays\nconfig:\n  plain:size: '1'\n"
PROGRAM = """
import os
from pathlib import Path
import pulumi
from slipway.deploying.deployment.checkout import checkout_revision

pulumi.export("size", pulumi.Config("plain").get("size"))
pulumi.log.info(f"made from {checkout_revision(Path.cwd(), os.environ)}.")
"""


@dataclass(frozen=True)
class Runner:
    """A runner's checkout, its environment, and the steps by their names."""

    folder: Path
    environ: dict[str, str]
    steps: dict[str, dict[str, Any]]

    def step(self, name: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return tools.run(self.steps[name], self.environ | changes, self.folder)

    def fresh_checkout(self) -> None:
        git(self.folder, "checkout", "--quiet", "--", ".")
        Path(self.environ["GITHUB_OUTPUT"]).write_text("")

    def signs_in(self) -> None:
        """What google-github-actions/auth leaves in the work tree: the federation's configuration."""
        (self.folder / "gha-creds-0123456789abcdef.json").write_text('{"type": "external_account"}')

    def commit(self) -> str:
        return git(self.folder, "rev-parse", "--short=7", "HEAD")

    def config_file(self) -> str:
        return Path(self.environ["GITHUB_OUTPUT"]).read_text().strip().removeprefix("config-file=")


@pytest.fixture
def runner(tmp_path: Path, workflows: dict[str, Workflow]) -> Runner:
    folder = tmp_path / "checkout"
    (folder / "stacks").mkdir(parents=True)
    (folder / "stacks" / "Pulumi.dev.yaml").write_text(STACK_FILE)
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "plain", "runtime": "python", "stackConfigDir": "stacks"}))
    (folder / "__main__.py").write_text(PROGRAM)
    shutil.copy(ROOT / ".gitignore", folder)
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "reviewed"]):
        git(folder, *words)
    for name in ("pulumi-state", "temp"):
        (tmp_path / name).mkdir()
    environ = {
        # The passphrase stands for the key in Cloud KMS: both keep what unlocks the secrets in the state itself.
        **engine_variables(tmp_path, ensure(lambda line: None).bin, os.environ["PATH"]),
        "HOME": str(tmp_path / "temp"),
        "STACK": "dev",
        "SECRETS_PROVIDER": "",
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_OUTPUT": str(tmp_path / "temp" / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "temp" / "summary"),
        "SAID": str(tmp_path / "temp" / "up.txt"),
    }
    steps = [
        step for name in ("actions/stack", "actions/events", "preview", "up-stack") for step in workflows[name].steps()
    ]
    return Runner(folder, environ, {step["name"]: step for step in steps if "run" in step})


def test_one_stack_is_made_deployed_previewed_and_freed_of_a_dead_run_s_lock(runner: Runner) -> None:
    from_the_first_stack_to_a_preview(runner)
    a_failed_preview_fails_the_job_and_still_shows_itself(runner)
    mistakes_stand_in_for_the_events_of_a_file_that_the_engine_can_t_read(runner)
    the_lock_of_a_dead_run_is_released_when_asked(runner)


def from_the_first_stack_to_a_preview(runner: Runner) -> None:  # D5
    runner.signs_in()
    done = runner.step("Stack")
    assert done.returncode == 1
    assert "docs/ci.md, section 'Once'" in done.stdout

    assert runner.step("Stack", SECRETS_PROVIDER="passphrase").returncode == 0
    up = runner.step("Up", CONFIG_FILE=runner.config_file())
    assert up.returncode == 0, up.stdout + up.stderr
    clean = f"made from {runner.commit()}."
    assert clean in up.stdout, "the catalog names the reviewed commit, not a changed tree"  # N8

    runner.fresh_checkout()
    assert runner.step("Stack").returncode == 0
    preview = runner.step("Preview", CONFIG_FILE=runner.config_file())
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert "1 unchanged" in preview.stdout and clean in preview.stdout
    again = runner.step("Preview", CONFIG_FILE=runner.config_file())
    assert clean in again.stdout, "a preview's own text changes nothing"
    summary = Path(runner.environ["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.startswith("### dev\n") and "1 unchanged" in summary
    assert (runner.folder / "stacks" / "Pulumi.dev.yaml").read_text() == STACK_FILE


def a_failed_preview_fails_the_job_and_still_shows_itself(runner: Runner) -> None:
    (runner.folder / "__main__.py").write_text("raise SystemExit('quota is short by 8')")
    assert runner.step("Preview", CONFIG_FILE=runner.config_file()).returncode != 0
    assert "quota is short by 8" in Path(runner.environ["GITHUB_STEP_SUMMARY"]).read_text()


def mistakes_stand_in_for_the_events_of_a_file_that_the_engine_can_t_read(runner: Runner) -> None:
    file, odd = runner.folder.parent / "events", runner.folder / "stacks" / "Pulumi.dev.yaml"
    asked = {"FILE": str(file), "PATH": os.pathsep.join((str(forking_python()), runner.environ["PATH"]))}
    assert runner.step("Events", CONFIG_FILE=runner.config_file(), **asked).returncode == 0
    assert "quota is short by 8" in file.read_text() and "preludeEvent" not in file.read_text()
    odd.write_text("config: [")
    assert runner.step("Stack").returncode == 0
    assert runner.step("Events", CONFIG_FILE=str(odd), **asked).returncode == 0
    told = json.loads(file.read_text())
    assert (told["kind"], told["ok"], told["stacks"][0]["stack"]) == ("check", False, "dev")
    odd.write_text(STACK_FILE)


def the_lock_of_a_dead_run_is_released_when_asked(runner: Runner) -> None:
    (runner.folder / "__main__.py").write_text("import time; time.sleep(60)")
    command = ["pulumi", "up", "--yes", "--skip-preview", "--stack", "dev", "--config-file", runner.config_file()]
    killed = subprocess.Popen(
        [*command, "--non-interactive"],
        cwd=runner.folder,
        env=runner.environ,
        stdout=subprocess.DEVNULL,
    )
    locks = runner.folder.parent / "pulumi-state" / ".pulumi" / "locks"
    while not list(locks.rglob("*.json")):
        assert killed.poll() is None
        time.sleep(0.05)
    # With the language host and the program, which would live on, as they do not on a runner that is gone.
    engine = psutil.Process(killed.pid)
    for process in (engine, *engine.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # what had just ended by itself
            process.kill()
    killed.wait()

    (runner.folder / "__main__.py").write_text(PROGRAM)
    refused = runner.step("Up", CONFIG_FILE=runner.config_file())
    assert refused.returncode != 0
    # The words by which docs/runbook.md tells people to know it.
    assert "locked by 1 lock(s)" in refused.stdout + refused.stderr
    assert runner.step("What to do", PYTHONPATH=str(ROOT)).returncode == 0
    assert "then make cancel STACK=NAME: docs/runbook.md" in Path(runner.environ["GITHUB_STEP_SUMMARY"]).read_text()
    assert runner.step("Release the lock of a dead run").returncode == 0
    assert runner.step("Up", CONFIG_FILE=runner.config_file()).returncode == 0
