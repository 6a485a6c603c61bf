"""Stack files that the last commit has and the checkout does not: `pulumi stack rm` deletes the file of its stack, and
`pulumi stack rename` renames it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path


def deleted_stacks(folder: Path) -> list[str]:
    """Return the stacks whose files are deleted from a project's folder; none if it is in no checkout."""
    files = _files(folder, "ls-tree", "--name-only", "HEAD", "stacks/")
    return [_stack_of(file) for file in files if not (folder / file).exists()]


def fix_of_deleted(folder: Path, stack: str) -> str:
    """Return how to restore the file of a stack; empty if the last commit has none."""
    if stack not in deleted_stacks(folder):
        return ""
    file = shlex.quote(f"stacks/Pulumi.{stack}.yaml")
    lines = [
        f"git checkout HEAD -- {file}",
        "restores the file: `pulumi stack rm` deletes it, and `pulumi stack rename` gives it another name",
    ]
    for new in _new_stacks(folder):
        lines.append(f"or, if the stack is called {new} now:")
        lines.append(f"pulumi stack rename {shlex.quote(stack)} --stack {shlex.quote(new)}")
    return "\n".join(lines)


def _new_stacks(folder: Path) -> list[str]:
    """Return the stacks whose files git does not track."""
    return [_stack_of(file) for file in _files(folder, "ls-files", "--others", "stacks/")]


def _files(folder: Path, *arguments: str) -> list[Path]:
    """Return the stack files that a command of git lists."""
    try:
        done = subprocess.run(("git", *arguments), cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [Path(name) for name in done.stdout.splitlines() if Path(name).match("Pulumi.*.yaml")]


def _stack_of(file: Path) -> str:
    return file.stem.removeprefix("Pulumi.")
