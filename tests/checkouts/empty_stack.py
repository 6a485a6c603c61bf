"""A stack that was never deployed, as `pulumi stack init` leaves it: made by the engine once, then written."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from local import environment

PROJECT, STACK = "empty-project", "empty-stack"


@dataclass(frozen=True)
class EmptyStack:
    """The text of its state, and the salt that the engine keeps in its stack file."""

    state: str
    salt: str

    def put(self, backend: Path, project: str, stack: str) -> None:
        """Make such a stack of another name in a folder that the engine keeps its state in."""
        stacks = backend / ".pulumi" / "stacks" / project
        stacks.mkdir(parents=True, exist_ok=True)
        (backend / ".pulumi" / "meta.yaml").write_text("version: 1\n")
        (stacks / f"{stack}.json").write_text(self.state.replace(f"/{PROJECT}/{STACK}", f"/{project}/{stack}"))


def make(folder: Path, engine: Path, home: Path) -> EmptyStack:
    """By the engine, in an empty folder."""
    (folder / "pulumi-state").mkdir()
    (folder / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\n")
    variables = environment.engine_variables(folder, engine, os.environ["PATH"])
    subprocess.run(
        ["pulumi", "stack", "init", STACK, "--non-interactive"],
        cwd=folder,
        env={**os.environ, **variables, "PULUMI_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    state = folder / "pulumi-state" / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
    file = yaml.safe_load((folder / f"Pulumi.{STACK}.yaml").read_text())
    return EmptyStack(state.read_text(), file["encryptionsalt"])
