"""What runs before a commit is what `make` runs, at the versions that `make` installs. # D8"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.conftest import ROOT

(REPOSITORY,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in REPOSITORY["hooks"]}
MAKEFILE = (ROOT / "Makefile").read_text()
STACK_FILE = min((ROOT / "stacks").glob("Pulumi.*.yaml")).relative_to(ROOT)
# A file that each hook is for.
FILES = {
    "ruff-format": "__main__.py",
    "ruff-check": "__main__.py",
    "slipway-check": str(STACK_FILE),
    "actionlint": ".github/workflows/up.yaml",
}


def test_every_hook_is_local_and_takes_what_make_installs() -> None:
    assert REPOSITORY["repo"] == "local"
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}
    assert all(hook["entry"].startswith(".venv/bin/") for hook in HOOKS.values())


@pytest.mark.parametrize("command", ["format", "check"])
def test_make_runs_ruff_too(command: str) -> None:
    assert f"$(VENV)/bin/ruff {command} " in MAKEFILE
    assert HOOKS[f"ruff-{command}"]["entry"].startswith(f".venv/bin/ruff {command} ")


@pytest.mark.parametrize("id_", HOOKS)
def test_a_hook_runs(id_: str) -> None:
    hook, file = HOOKS[id_], FILES[id_]
    assert (ROOT / file).is_file() and re.search(hook.get("files", ""), file)
    program, *arguments = shlex.split(hook["entry"])
    here = Path(sys.executable).with_name(Path(program).name)
    files = [file] if hook.get("pass_filenames", True) else []
    done = subprocess.run([here, *arguments, *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
