"""What docs/by-hand.md tells people to type leaves the reviewed stack file as it is: on the real engine."""  # D7

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.engine.engine import ensure
from local.environment import engine_variables
from tests.checkouts.git import git
from tests.ci.conftest import ROOT
from tests.docs.console import blocks

PAGE = (ROOT / "docs" / "by-hand.md").read_text()
COPIED, KEPT, ROTATED = (
    [line.removeprefix("$ ") for line in block.splitlines()]
    for block in blocks(ROOT / "docs" / "by-hand.md", "console")
)
FILE = "stacks/Pulumi.dev.yaml"
PROGRAM = """
import os
from pathlib import Path
import pulumi
from slipway.deploying.deployment.checkout import checkout_revision

pulumi.log.info(f"made from {checkout_revision(Path.cwd(), os.environ)}.")
"""


@dataclass(frozen=True)
class Shell:
    """A checkout with a reviewed stack file, and an environment that outlives a command as a person's does."""

    folder: Path
    environ: dict[str, str]

    def type(self, command: str) -> str:
        """What it printed. There is nobody to answer a question."""
        command = re.sub(r"^pulumi (up|destroy)", r"pulumi \1 --yes", command)
        command = re.sub(r"^make (up|destroy)", r"make \1 ARGS=--yes", command)
        command = re.sub(r"^make", f"make -f {ROOT}/Makefile VENV={ROOT}/.venv READY=", command)
        if "change-secrets-provider" in command:
            command = f"printf 'another\\nanother\\n' | {command}"
        if command.startswith("export "):
            name, value = command.removeprefix("export ").split("=", 1)
            self.environ[name] = value
            return ""
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environ, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def changed(self) -> str:
        return self.type("git status --porcelain")

    def clean(self) -> str:
        return f"made from {self.type('git rev-parse --short=7 HEAD').strip()}."


@pytest.fixture
def shell(tmp_path: Path, forked: Mapping[str, str]) -> Shell:
    folder = tmp_path / "checkout"
    (folder / "stacks").mkdir(parents=True)
    for name in (FILE, "Pulumi.yaml", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "__main__.py").write_text(PROGRAM)
    (tmp_path / "pulumi-state").mkdir()
    environ = engine_variables(tmp_path, ensure(lambda line: None).bin, os.environ["PATH"])
    del environ["PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"]  # The page has people say so.
    for words in ("init -q", "config user.name ada", "config user.email ada@company.example", "add ."):
        git(folder, *words.split())
    git(folder, "commit", "-qm", "reviewed")
    return Shell(folder, {**environ, **forked, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)})


@pytest.mark.journey
def test_a_copy_takes_what_the_engine_writes(shell: Shell) -> None:  # N8
    *before, preview, up = COPIED
    told = shell.type(f"{preview} || true")
    assert "no stack named 'dev' found" in told and "or make select STACK=dev, which creates an empty stack" in told
    backend = shell.environ.pop("PULUMI_BACKEND_URL")
    for command in (preview, "make cancel STACK=dev"):
        told = shell.type(f"{command} || true")
        assert "fix: add LAPTOP=1 for the local cloud, or export PULUMI_BACKEND_URL" in told, command
    shell.environ["PULUMI_BACKEND_URL"] = backend
    for command in before:
        shell.type(command)
        assert shell.changed() == "", command
    told = shell.type("make preview STACK=dev ARGS=--no-such-flag || true")
    assert "what the errors mean: make preview STACK=dev 2>&1 | slipway explain -" in told
    for command in (preview, up):
        assert shell.clean() in shell.type(command)
        assert shell.changed() == ""
    for command in (
        "make events STACK=dev",
        "make refresh STACK=dev ARGS=--yes",
        "make cancel STACK=dev ARGS=--yes",
        "make destroy STACK=dev",
    ):
        assert f"`{command.removesuffix(' ARGS=--yes')}`" in PAGE
        shell.type(command)
        assert shell.changed() == "", command
    assert '"summaryEvent"' in (shell.folder / ".slipway" / "dev.events").read_text()
    assert "with local changes." in shell.type("pulumi preview --stack dev"), "the engine writes before it runs"
    assert shell.changed() == f" M {FILE}\n"


@pytest.mark.journey
def test_a_lock_that_was_left_and_a_former_passphrase_are_told_with_the_way_out(shell: Shell) -> None:
    *before, preview, up = COPIED
    for command in before:
        shell.type(command)
    shell.type(up)
    lock = Path(shell.environ["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0]) / ".pulumi" / "locks"
    lock = lock / "organization" / "slipway" / "dev" / "left.json"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text('{"pid": 1, "username": "ada", "hostname": "gone", "timestamp": "2026-11-20T00:00:00Z"}')
    told = shell.type(f"{up} || true")
    assert "stack is currently locked" in told and "then make cancel STACK=dev\n" in told
    shell.type("make cancel STACK=dev ARGS=--yes")
    (shell.folder / "__main__.py").write_text(f"{PROGRAM}\npulumi.export('key', pulumi.Output.secret('k'))\n")
    shell.type(up)
    for command in ROTATED[:-2]:
        shell.type(command)
    told = shell.type(f"{preview} || true")
    assert "incorrect passphrase" in told and "fix: export PULUMI_CONFIG_PASSPHRASE=…, the one that this stack" in told
    for command in ROTATED[-2:]:
        shell.type(command)
    assert shell.changed() == " M __main__.py\n"


@pytest.mark.journey
def test_a_key_that_stands_in_the_file_is_left_there(shell: Shell) -> None:
    reviewed = (shell.folder / FILE).read_text()
    *before, preview, up = KEPT
    for command in before:
        shell.type(command)
    kept = (shell.folder / FILE).read_text()
    assert kept.startswith(reviewed) and re.fullmatch(r"encryptionsalt: \S+\n", kept.removeprefix(reviewed))
    for command in (preview, up, "pulumi stack select --create dev"):
        printed = shell.type(command)
        assert shell.changed() == "", command
        assert command not in (preview, up) or shell.clean() in printed
