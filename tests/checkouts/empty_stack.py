"""A stack that was never deployed, as `pulumi stack init` leaves it: made by the engine once, then written."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from local import environment

PROJECT, STACK = "empty-project", "empty-stack"


@dataclass(frozen=True)
class EmptyStack:
    """The text of its state, its stack file's form of the key of its secrets, and the variables that read it."""

    state: str
    secrets: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)

    def put(self, backend: Path, project: str, stack: str) -> None:
        """Make such a stack of another name in a folder of the engine's states."""
        stacks = backend / ".pulumi" / "stacks" / project
        stacks.mkdir(parents=True, exist_ok=True)
        (backend / ".pulumi" / "meta.yaml").write_text("version: 1\n")
        (stacks / f"{stack}.json").write_text(self.state.replace(f"/{PROJECT}/{STACK}", f"/{project}/{stack}"))


def make(folder: Path, engine: Path, home: Path, key: str = "passphrase", **of_key: str) -> EmptyStack:
    """Make it by the engine, in an empty folder. `key` is the place of the key of the stack's secrets, `of_key` the way
    to it."""
    (folder / "pulumi-state").mkdir()
    (folder / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\n")
    variables = environment.engine_variables(folder, engine, os.environ["PATH"])
    subprocess.run(
        ["pulumi", "stack", "init", STACK, "--non-interactive", "--secrets-provider", key],
        cwd=folder,
        env={**os.environ, **variables, "PULUMI_HOME": str(home), **of_key},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    state = folder / "pulumi-state" / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
    secrets = yaml.safe_load((folder / f"Pulumi.{STACK}.yaml").read_text())
    return EmptyStack(state.read_text(), secrets, of_key)
