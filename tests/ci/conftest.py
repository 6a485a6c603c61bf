"""The workflows as parsed YAML, and actionlint, built once per machine from the Go module proxy."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.engine import cache
from tests.ci.gitlab_project import project, template  # noqa: F401 - fixtures

ROOT = Path(__file__).parents[2]
ACTIONLINT = "v1.7.12"


@dataclass(frozen=True)
class Workflow:
    """One file under .github: its `text`, and `tree`, the parsed text (under `on`, as GitHub reads that word)."""

    path: Path
    text: str
    tree: dict[str, Any]

    def jobs(self) -> dict[str, dict[str, Any]]:
        return dict(self.tree.get("jobs", {}))

    def steps(self) -> Iterator[dict[str, Any]]:
        """Yield every step of every job, and of a composite action."""
        for job in self.jobs().values():
            yield from job.get("steps", ())
        yield from self.tree.get("runs", {}).get("steps", ())

    def step(self, name: str) -> dict[str, Any]:
        (wanted,) = [step for step in self.steps() if step.get("name") == name]
        return wanted

    def using(self, action: str) -> dict[str, Any]:
        """Return what the one step that uses an action gives it."""
        (wanted,) = [step for step in self.steps() if step.get("uses", "").partition("@")[0] == action]
        return dict(wanted["with"])


All = dict[str, Workflow]
"""Workflows and composite actions by name, such as `preview` and `actions/stack`."""


def read(path: Path) -> Workflow:
    text = path.read_text()
    tree = yaml.safe_load(text)
    # YAML 1.1 takes the bare word `on` for true; GitHub reads YAML 1.2.
    return Workflow(path, text, {("on" if key is True else key): value for key, value in tree.items()})


_UP = read(ROOT / ".github" / "workflows" / "up.yaml").tree
LISTED: str = _UP["jobs"]["up"]["with"]["stacks"]
STACKS: list[str] = json.loads(LISTED)
"""Stacks that a merge deploys, in that order: dev, staging and prod, or a team's own instead."""
EACH = {"stack": f"${{{{ fromJSON(inputs.stacks || '{LISTED}') }}}}"}
"""A matrix of a workflow that others call: this repository's stacks where nobody does."""


@pytest.fixture(scope="session")
def workflows() -> All:
    folder = ROOT / ".github"
    files = {path.stem: read(path) for path in sorted((folder / "workflows").glob("*.y*ml"))}
    return files | {f"actions/{path.parent.name}": read(path) for path in sorted(folder.glob("actions/*/action.y*ml"))}


@pytest.fixture(scope="session")
def actionlint() -> Path:
    """Return the linter, from the cache outside the tree; building it takes some ten seconds, once."""
    tools = cache.Cache(cache.root(os.environ) / "tools")
    name = f"actionlint-{ACTIONLINT}"
    ready = tools.ready(name)
    if ready is None:
        with tools.hold(lambda line: print(line, file=sys.stderr)):
            if tools.ready(name) is None:
                with tools.making(name) as folder:
                    _build(folder)
        ready = tools.ready(name)
        assert ready is not None
    return ready / "actionlint"


def _build(folder: Path) -> None:
    go = shutil.which("go")
    assert go is not None, "the workflows can't be linted: there is no `go` on PATH to build actionlint; install Go"
    # Go itself checks the module's content against the public checksum database.
    environ = {**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0", "GOWORK": "off"}
    module = f"github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}"
    done = subprocess.run([go, "install", module], cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, f"actionlint can't be built from the Go module proxy:\n{done.stderr}"
