"""The preview of a deployed stack, against a plain pulumi-gcp program with the same resources."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml

from bench import bare, measure
from bench.ground import CHECKOUT, STACK, Cloud, Ground, Tell, pulumi
from bench.result import Result

# Slipway's project refreshes on every preview; the plain one does too, or it would do less.
_PROJECT = {"name": "bare", "runtime": "python", "options": {"refresh": "always"}}


def preview(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    ours = ground.deployed
    exported = json.loads(pulumi(ours, CHECKOUT, "stack", "export", "--show-secrets", "--stack", STACK))
    theirs = ground.cloud("bare", {})
    theirs.start()
    folder = ground.folder / "bare-program"
    folder.mkdir()
    (folder / "__main__.py").write_text(bare.program(exported, CHECKOUT))
    (folder / "Pulumi.yaml").write_text(json.dumps(_PROJECT))
    shutil.copy(CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml", folder)
    _keep_provider_settings(folder / f"Pulumi.{STACK}.yaml")
    tell("the plain program's pulumi up …")
    pulumi(theirs, folder, "stack", "select", STACK, "--create")
    pulumi(theirs, folder, "up", "--yes", "--skip-preview", "--stack", STACK)

    medians = measure.medians(runs, lambda: _seconds(ours, CHECKOUT), lambda: _seconds(theirs, folder), tell)
    return [Result("preview-vs-bare", *medians, 1.2)]


def _keep_provider_settings(file: Path) -> None:
    document = yaml.safe_load(file.read_text())
    document["config"] = {key: value for key, value in document["config"].items() if key.startswith("gcp:")}
    file.write_text(yaml.safe_dump(document))


def _seconds(cloud: Cloud, folder: Path) -> float:
    command = ["pulumi", "preview", "--stack", STACK, "--non-interactive"]
    return measure.run(command, cloud.role("deployer"), folder).seconds
