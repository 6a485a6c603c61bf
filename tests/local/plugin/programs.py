"""Small Pulumi programs on the real engine, with the local plugin and the local cloud."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journey.backend import file_backend
from local import environment, plugin
from tests.local.conftest import LocalCloud

_PROJECT = "name: {name}\nruntime: python\n"
_STACK = 'config:\n  gcp:region: us-central1\n  gcp:addPulumiAttributionLabel: "false"\n'


@dataclass
class Program:
    """A project folder with one stack, `dev`."""

    name: str
    folder: Path
    cloud: LocalCloud
    engine: Path
    variables: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "Pulumi.yaml").write_text(_PROJECT.format(name=self.name))
        (self.folder / "Pulumi.dev.yaml").write_text(_STACK)
        plugin.install(self.folder / "pulumi-home", Path(sys.executable))
        self.run("stack", "init", "dev")

    def write(self, source: str) -> "Program":
        (self.folder / "__main__.py").write_text(f"import pulumi\nimport pulumi_gcp as gcp\n{source}\n")
        return self

    def try_(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A pulumi command, however it ends."""
        variables = environment.engine_variables(self.folder, self.engine, os.environ["PATH"])
        variables["PULUMI_BACKEND_URL"] = file_backend(self.folder / "state")
        return subprocess.run(
            ["pulumi", *words, "--non-interactive"],
            cwd=self.folder,
            env={**self.cloud.env("owner"), **variables, **self.variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def run(self, *words: str) -> str:
        """A pulumi command that must succeed; returns what it prints."""
        done = self.try_(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def up(self) -> str:
        return self.run("up", "--yes", "--skip-preview")

    def fails(self, *words: str) -> str:
        """A pulumi command that must fail; returns all it prints."""
        done = self.try_(*words)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def steps(self) -> dict[str, Mapping[str, Any]]:
        """The steps of a preview by `op resource-name`; a replacement is one step."""
        return _named(json.loads(self.run("preview", "--json"))["steps"])

    def order(self) -> list[str]:
        """The single steps of a preview in the order in which they would be taken."""
        self.variables["PULUMI_ENABLE_STREAMING_JSON_PREVIEW"] = "1"
        events = [json.loads(line) for line in self.run("preview", "--json").splitlines()]
        del self.variables["PULUMI_ENABLE_STREAMING_JSON_PREVIEW"]
        return list(_named([one["resourcePreEvent"]["metadata"] for one in events if "resourcePreEvent" in one]))

    def state(self, name: str) -> Mapping[str, Any] | None:
        """A resource of the stack's state."""
        deployment = json.loads(self.run("stack", "export"))["deployment"]
        found = [one for one in deployment.get("resources", ()) if one["urn"].endswith(f"::{name}")]
        return found[-1] if found else None


def _named(steps: list[Any]) -> dict[str, Mapping[str, Any]]:
    """Steps by `op resource-name`, without the unchanged, the stack itself and the providers."""
    return {
        f"{step['op']} {step['urn'].rsplit('::', 1)[-1]}": step
        for step in steps
        if step["op"] not in ("same", "refresh") and "::pulumi:" not in step["urn"]
    }
