"""Files that `make` leaves on a machine beside its own folders. # D8"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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


def dry_run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "--dry-run", "test", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("only", ["slipway/google/quota", "tests/slipway/google/quota", "quota_requests"])
def test_a_part_of_the_suite_is_named_by_a_folder_or_a_word(only: str) -> None:
    files = re.findall(r"tests/\S+\.py", dry_run(f"ONLY={only}").stdout)
    assert files and all(only.removeprefix("tests/") in name for name in files)


@pytest.mark.parametrize(
    ("only", "suites"),
    [
        ("", [".", "vertex-local"]),
        ("slipway", ["."]),
        ("vertex-local", ["vertex-local"]),
        ("vertex-local/tests/storage", ["vertex-local"]),
        ("google/quota", ["."]),
    ],
)
def test_each_project_has_a_suite(only: str, suites: list[str]) -> None:
    run = re.findall(r"cd (\S+) && \S+ -m pytest", dry_run(f"ONLY={only}").stdout)
    assert sorted(run) == suites


def test_a_part_that_no_test_belongs_to_is_an_error() -> None:
    done = dry_run("ONLY=qouta")
    assert (done.returncode, done.stderr.count("No test has 'qouta' in its path")) == (2, 1)
