"""`slipway init` in tests: to its end, or killed at one of its files."""

import contextlib
import os
from pathlib import Path
from unittest import mock

from slipway.base import files
from tests.checkouts.shell import Done, slipway

FLAGS = ("--project", "acme-ml-dev", "--submitter", "group:ml@acme.example", "--team", "@acme/ml-platform", "--yes")
GITHUB = ("--workflows", "acme/slipway@v0.1.0")


def run(folder: Path, *arguments: str, **environ: str) -> Done:
    return slipway(arguments, {"PATH": os.environ["PATH"], **environ}, folder)


def well(folder: Path, *arguments: str) -> Done:
    done = run(folder, *arguments)
    assert done.code == 0, done.said
    return done


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Killed(BaseException):
    """The end of a process, which nothing catches."""


def killed(folder: Path, at: int, *arguments: str) -> bool:
    """Run a command that is killed at its n-th file; False where it has written all before."""
    left = [at]

    def write(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
        left[0] -= 1
        if left[0] < 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.abcd_123").write_text("begun")
            raise Killed
        files.write_atomically(path, content, mode=mode)

    with mock.patch("slipway.front.cli.terminal.starter.write_atomically", write), contextlib.suppress(Killed):
        well(folder, *arguments)
        return False
    return True
