"""The parts that `make` runs and what it leaves on a machine, what runs before a commit, and what a contributor meets.
# D8"""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
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


STUB = """#!/bin/bash
case "$*" in *.shell*) echo 'export FROM_SHELL=1' ;; *.engine*) echo /nowhere ;; esac
"""
MAKEFILES = {"repository": ROOT / "Makefile", "starter": ROOT / "slipway" / "front" / "starter" / "Makefile.in"}
TYPED = ("review BASE=main", "events", "preview", "up", "refresh", "destroy", "cancel", "select", "bootstrap", "shell")


@pytest.mark.parametrize("makefile", MAKEFILES)
def test_every_command_runs_in_a_shell_that_has_set_nothing(makefile: str, tmp_path: Path) -> None:
    """The recipes end at a variable that is not set."""
    for program in ("pulumi", ".venv/bin/python", ".venv/bin/uv"):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB)
        path.chmod(0o755)
    pins = ("requirements-local.txt", "requirements-dev.txt", "pyproject.toml", "vertex-local/pyproject.toml")
    for name in ("stacks/Pulumi.dev.yaml", "bootstrap/Pulumi.ci.yaml", *pins, ".venv/.ready"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    shutil.copy(MAKEFILES[makefile], tmp_path / "Makefile")
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for words in TYPED:
        for laptop in ("", "LAPTOP=1"):
            command = ["make", "STACK=dev", *words.split(), *laptop.split()]
            done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
            assert done.returncode == 0, (words, laptop, done.stdout + done.stderr)


def test_the_wheel_has_every_package() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "slipway").rglob("__init__.py")}
    assert found <= {package.replace(".", "/") for package in packages}


def test_all_that_is_pinned_is_renewed() -> None:
    updates = {
        update["package-ecosystem"]: update
        for update in yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    }
    assert updates["pip"]["directory"] == "/" and (ROOT / "requirements.txt").is_file()
    files = [*(ROOT / ".github").glob("workflows/*.yaml"), *(ROOT / ".github").glob("actions/*/action.yaml")]
    used = {path for path in files if re.search(r"uses: [^.\s]", path.read_text())}
    # Of the workflows dependabot knows by "/".
    folders = {
        "/" if path.parent.name == "workflows" else f"/{path.parent.relative_to(ROOT).as_posix()}" for path in used
    }
    assert len(folders) > 2
    looked_at = updates["github-actions"]["directories"]
    assert [folder for folder in folders if not any(fnmatch(folder, pattern) for pattern in looked_at)] == []


def test_a_report_has_the_version_and_keeps_what_is_dangerous_private() -> None:
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yaml").read_text()
    assert "`slipway --version`" in text and "SECURITY.md" in text


def test_a_container_has_the_oldest_python_that_is_promised() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    assert container["image"].startswith(f"python:{oldest}-")


def test_files_are_written_as_editors_are_told() -> None:
    rules = configparser.ConfigParser()
    rules.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    assert rules["*"]["insert_final_newline"] == rules["*"]["trim_trailing_whitespace"] == "true"
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    assert int(rules["*"]["max_line_length"]) == ruff["line-length"]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name and not name.endswith((".png", ".ambr", ".txt"))]
    texts = {name: (ROOT / name).read_text("utf-8") for name in names if (ROOT / name).is_file()}
    assert [name for name, text in texts.items() if text and not text.endswith("\n")] == []
    assert [name for name, text in texts.items() if re.search(r"[ \t\r]$", text, re.MULTILINE)] == []
