"""The preview of a deployed stack, against a plain pulumi-gcp program with the same resources."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from bench import bare, measure
from bench.ground import CHECKOUT, STACK, Cloud, Ground, Tell, pulumi
from bench.result import Result

# Slipway's project refreshes on every preview; the others do too, or they would do less.
_OPTIONS = {"refresh": "always"}
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
_PLACE = {"gcp:project": "local-project", "gcp:region": "us-central1"}


def preview(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    written = yaml.safe_load((CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml").read_text())
    settings = {key: value for key, value in written["config"].items() if key.startswith("gcp:")}
    return _versus_bare("preview-vs-bare", ground, ground.deployed, CHECKOUT, settings, runs, tell)


def of_components(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Measure somebody's own program: docs/your-program.md's, with the template of docs/write-a-template.md."""
    folder = ground.folder / "components"
    program, *_ = _BLOCK.findall((CHECKOUT / "docs" / "your-program.md").read_text())
    template, task, *_ = _BLOCK.findall((CHECKOUT / "docs" / "write-a-template.md").read_text())
    code = folder / "jobs" / "count_words"
    code.mkdir(parents=True)
    (code / "__init__.py").touch()
    (code / "task.py").write_text(task)
    (folder / "templates").mkdir()
    (folder / "templates" / "count_words.py").write_text(template)
    # In this repository the package has its short name.
    begins = f"import sys\n\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
    source = program.replace("import slipway.components as", "import components as")
    ours = _deployed(ground, folder, begins + source, _PLACE, tell)
    return _versus_bare("preview-of-components", ground, ours, folder, _PLACE, runs, tell)


def _versus_bare(
    name: str, ground: Ground, ours: Cloud, program: Path, settings: dict[str, str], runs: int, tell: Tell
) -> list[Result]:
    exported = json.loads(pulumi(ours, program, "stack", "export", "--show-secrets", "--stack", STACK))
    folder = ground.folder / f"{name}-program"
    theirs = _deployed(ground, folder, bare.program(exported, program), settings, tell)
    medians = measure.medians(runs, lambda: _seconds(ours, program), lambda: _seconds(theirs, folder), tell)
    return [Result(name, *medians, 1.2)]


def _deployed(ground: Ground, folder: Path, program: str, settings: dict[str, str], tell: Tell) -> Cloud:
    """Deploy a program in a folder, and return its cloud."""
    cloud = ground.cloud(f"{folder.name}-cloud", {})
    cloud.start()
    folder.mkdir(exist_ok=True)
    (folder / "__main__.py").write_text(program)
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "bench", "runtime": "python", "options": _OPTIONS}))
    (folder / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump({"config": settings}))
    tell(f"pulumi up of {folder.name} …")
    pulumi(cloud, folder, "stack", "select", STACK, "--create")
    pulumi(cloud, folder, "up", "--yes", "--skip-preview", "--stack", STACK)
    return cloud


def _seconds(cloud: Cloud, folder: Path) -> float:
    command = ["pulumi", "preview", "--stack", STACK, "--non-interactive"]
    return measure.run(command, cloud.role("deployer"), folder).seconds
