"""A Pulumi project folder of its own for a journey: stack file and state lie there and the program stays in its place,
so that no journey touches a tracked file."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from slipway.base.files import write_atomically

PROGRAM = "Pulumi.yaml"


def lay_out(folder: Path, root: Path, stack: str, values: dict[str, object]) -> Path:
    """Write `Pulumi.yaml` and `Pulumi.<stack>.yaml` into `folder` and return the stack file.

    `root` is the checkout; its `Pulumi.yaml` gives name, runtime and options. A secrets salt that the engine wrote into
    the stack file on an earlier run is kept, because the state is encrypted with it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    project = yaml.safe_load((root / PROGRAM).read_text())
    project.pop("stackConfigDir", None)
    project["main"] = os.path.relpath(root, folder)
    write_atomically(folder / PROGRAM, yaml.safe_dump(project, sort_keys=False))
    file = folder / f"Pulumi.{stack}.yaml"
    before = yaml.safe_load(file.read_text()) if file.exists() else {}
    kept = {key: value for key, value in (before or {}).items() if key != "config"}
    write_atomically(file, yaml.safe_dump({"config": values, **kept}, sort_keys=False))
    return file
