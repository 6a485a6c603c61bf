"""docs/first-stack.md, typed line by line where nothing but the wheel and git, make and Python are. # D8 # N13"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.checkouts.laptop import UV
from tests.docs.console import commands, missing
from tests.local.conftest import FAST, ROOT

pytestmark = pytest.mark.journey
PAGE = ROOT / "docs" / "first-stack.md"
STACK = Path("stacks", "Pulumi.dev.yaml")


@pytest.fixture
def environ(tmp_path: Path, deploying: Path) -> Mapping[str, str]:
    """Somebody's shell: `slipway` as uvx would run it, uv, and no variable that leads to this checkout."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "uv").symlink_to(UV)
    (programs / "slipway").symlink_to(deploying / "bin" / "slipway")
    ours = ("PYTHON", "VIRTUAL_ENV", "PULUMI_", "SLIPWAY_", "GIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = [str(programs), *(one for one in os.environ["PATH"].split(os.pathsep) if one != str(UV.parent))]
    who = {f"GIT_{one}_{key}": "ada@acme.example" for one in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    laptop = {"SLIPWAY_LOCAL_PORT": "0", "SLIPWAY_LOCAL_SET": ",".join(FAST), "PYTHON": sys.executable}
    return {**kept, **who, **laptop, "PATH": os.pathsep.join(path), "NO_COLOR": "1"}


def test_a_platform_team_begins_as_the_page_says(tmp_path: Path, environ: Mapping[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (line,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    try:
        for told in commands(PAGE):
            typed = re.sub(r"^uvx --from '[^']*' ", "", told.command)  # what has just been built stands for it
            if typed == "slipway init acme-training":
                continue  # which asks
            if told.command.startswith("cd "):
                folder /= told.command.removeprefix("cd ")
                continue
            if told.command.startswith("make review"):
                edit(folder / STACK, line)
            done = subprocess.run(
                ["bash", "-c", typed],
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{told.command}:\n{done.stdout}"
            assert missing(told.shown, done.stdout) == [], f"{told.command}:\n{done.stdout}"
    finally:
        subprocess.run(["make", "demo-down"], cwd=folder, env=environ, check=True, capture_output=True)
    assert not (folder / ".slipway" / "local").exists()


def edit(file: Path, line: str) -> None:
    """Put the page's line in the place of the one with the same key."""
    key = line.split(":")[0]
    before = file.read_text("utf-8")
    after = re.sub(rf"^{key}:.*\n", lambda _: line, before, flags=re.MULTILINE)
    assert after != before
    file.write_text(after, "utf-8")


def test_it_takes_ten_minutes_to_read() -> None:
    assert len(PAGE.read_text("utf-8").split()) <= 600
