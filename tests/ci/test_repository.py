"""What whoever reports, proposes or sets up meets: forms, updates of what is pinned, an editor, a container."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import tomllib
from fnmatch import fnmatch

import yaml

from tests.ci.conftest import ROOT

GITHUB = ROOT / ".github"


def test_all_that_is_pinned_is_renewed() -> None:
    updates = {
        one["package-ecosystem"]: one for one in yaml.safe_load((GITHUB / "dependabot.yml").read_text())["updates"]
    }
    assert updates["pip"]["directory"] == "/" and (ROOT / "requirements.txt").is_file()
    files = [*GITHUB.glob("workflows/*.yaml"), *GITHUB.glob("actions/*/action.yaml")]
    used = {path for path in files if re.search(r"uses: [^.\s]", path.read_text())}
    # Of the workflows dependabot knows by "/".
    folders = {
        "/" if path.parent.name == "workflows" else f"/{path.parent.relative_to(ROOT).as_posix()}" for path in used
    }
    assert len(folders) > 2
    looked_at = updates["github-actions"]["directories"]
    assert [folder for folder in folders if not any(fnmatch(folder, pattern) for pattern in looked_at)] == []


def test_a_report_has_the_version_and_keeps_what_is_dangerous_private() -> None:
    text = (GITHUB / "ISSUE_TEMPLATE" / "bug.yaml").read_text()
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
