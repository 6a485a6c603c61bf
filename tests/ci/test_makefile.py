"""Files that `make` leaves on a machine, the parts of the suite that it runs, and what runs before a commit. # D8"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.conftest import ROOT

# uv leaves a lock for each source that it builds.
UV = """#!/bin/sh
case "$*" in *"--editable ."*) touch "${TMPDIR:-/tmp}/uv-setuptools.lock" ;; esac
"""


def test_the_set_up_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    folder, temporary = tmp_path / "our checkout", tmp_path / "temporary"
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    temporary.mkdir()
    (folder / "vertex-local").mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements-dev.txt", "vertex-local/pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for name, text in (("python", "#!/bin/sh\n"), ("uv", UV)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    subprocess.run(["make", "setup"], cwd=folder, env={**os.environ, "TMPDIR": str(temporary)}, check=True)
    assert (folder / ".venv" / ".ready").exists()
    assert not [*temporary.iterdir()]


def dry_run(only: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--dry-run", "test", f"ONLY={only}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("only", "suites"),
    [
        ("", [".", "vertex-local"]),
        ("slipway", ["."]),
        ("vertex-local", ["vertex-local"]),
        ("vertex-local/tests/storage", ["vertex-local"]),
        ("google/quota", ["."]),
        ("tests/slipway/google/quota", ["."]),
        ("quota_requests", ["."]),
    ],
)
def test_a_part_of_the_suite_is_named_by_a_folder_or_a_word(only: str, suites: list[str]) -> None:
    planned = dry_run(only).stdout
    assert sorted(re.findall(r"cd (\S+) && \S+ -m pytest", planned)) == suites
    if "quota" in only:
        files = re.findall(r"tests/\S+\.py", planned)
        assert files and all(only.removeprefix("tests/") in name for name in files)


def test_a_part_that_no_test_belongs_to_is_an_error() -> None:
    done = dry_run("qouta")
    assert (done.returncode, done.stderr.count("No test has 'qouta' in its path")) == (2, 1)


(REPOSITORY,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in REPOSITORY["hooks"]}
# A file that each hook is for.
FILES = {
    "ruff-format": "__main__.py",
    "ruff-check": "__main__.py",
    "slipway-check": str(min((ROOT / "stacks").glob("Pulumi.*.yaml")).relative_to(ROOT)),
    "actionlint": ".github/workflows/up.yaml",
}


@pytest.mark.parametrize("id_", HOOKS)
def test_a_hook_runs_what_make_installs(id_: str) -> None:
    hook, file = HOOKS[id_], FILES[id_]
    assert hook["language"] == "system" and hook["entry"].startswith(".venv/bin/")
    assert re.search(hook.get("files", ""), file)
    program, *arguments = shlex.split(hook["entry"])
    here = Path(sys.executable).with_name(Path(program).name)
    files = [file] if hook.get("pass_filenames", True) else []
    done = subprocess.run([here, *arguments, *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
