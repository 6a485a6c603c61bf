"""A folder of code of a person's own, and what is told of it before it is sent."""

import subprocess
from pathlib import Path

import pytest

from slipway.authoring.packages.folder_check import about
from slipway.authoring.packages.working_tree import read
from tests.checkouts.git import git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for name, text in {
        "train.py": "import csv\nopen('data/small.csv')\n",
        "scripts/run.sh": "python train.py\n",
        "data/small.csv": "1,2\n",
        "local.yaml": "lr: 1\n",
        "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
        ".gitignore": "data/\nlocal.yaml\nsecret.py\n",
        "secret.py": "",
        "my train.py": "",
        "tool.sh": "#!/bin/sh\n",
        "dos.sh": "#!/bin/sh\r\necho\r\n",
        "bare.sh": "echo\n",
        "tool": "\x7fELF",
        "nb.ipynb": "{}",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    (made / "tool").chmod(0o755)
    git(made, "init", "-q")
    return made


def told(folder: Path, command: str) -> str:
    return "\n".join(about(read(folder), folder, command))


def typed(folder: Path, fix: str) -> None:
    """Type a command of a fix in the folder."""
    subprocess.run(["bash", "-ec", fix], cwd=folder, check=True, capture_output=True)
