"""Stack files that the last commit has and the checkout does not: `pulumi stack rm` deletes the file of its stack."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path


def deleted_stacks(folder: Path) -> list[str]:
    """Return the stacks whose files are deleted from a project's folder; none if it is in no checkout."""
    command = ("git", "ls-tree", "--name-only", "HEAD", "stacks/")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return []
    missing = [Path(name) for name in done.stdout.splitlines() if not (folder / name).exists()]
    return [file.stem.removeprefix("Pulumi.") for file in missing if file.match("Pulumi.*.yaml")]


def fix_of_deleted(folder: Path, stack: str) -> str:
    """Return how to restore the file of a stack; empty if the last commit has none."""
    if stack not in deleted_stacks(folder):
        return ""
    file = shlex.quote(f"stacks/Pulumi.{stack}.yaml")
    causes = "`pulumi stack rm` deletes it, `pulumi stack rename` moves it"
    return f"git checkout HEAD -- {file}, which restores the file: {causes}"
