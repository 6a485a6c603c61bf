"""Small Pulumi programs on the real engine, with the local plugin and the local cloud."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local import environment
from local.backend import file_backend
from tests.checkouts.empty_stack import EmptyStack
from tests.local.conftest import LocalCloud

_PROJECT = "name: {name}\nruntime: python\n"
_CONFIG = {"gcp:region": "us-central1", "gcp:addPulumiAttributionLabel": "false"}


@dataclass
class Program:
    """A project folder with one stack, `dev`."""

    name: str
    folder: Path
    cloud: LocalCloud
    engine: Path
    home: Path
    empty: EmptyStack
    forked: Mapping[str, str]
    variables: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "Pulumi.yaml").write_text(_PROJECT.format(name=self.name))
        self.configure({})
        self.empty.put(self.folder / "state", self.name, "dev")

    def configure(self, more: Mapping[str, str], without: str = "") -> None:
        """Set the stack's configuration: the defaults, more, and without one of its keys."""
        config = {key: value for key, value in {**_CONFIG, **more}.items() if key != without}
        (self.folder / "Pulumi.dev.yaml").write_text(json.dumps({"config": config}))

    def write(self, source: str) -> "Program":
        (self.folder / "__main__.py").write_text(f"import pulumi\nimport pulumi_gcp as gcp\n{source}\n")
        return self

    def try_(self, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run a pulumi command, whatever its end, with extra variables."""
        variables = environment.engine_variables(self.folder, self.engine, os.environ["PATH"])
        variables |= {"PULUMI_HOME": str(self.home), "PULUMI_STACK": "dev", **self.empty.variables, **self.forked}
        variables["PULUMI_BACKEND_URL"] = file_backend(self.folder / "state")
        return subprocess.run(
            ["pulumi", *words, "--non-interactive"],
            cwd=self.folder,
            env={**self.cloud.env("owner"), **variables, **self.variables, **extra},
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *words: str, **extra: str) -> str:
        """Run a pulumi command that must succeed; return its output."""
        done = self.try_(*words, **extra)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def up(self) -> str:
        return self.run("up", "--yes", "--skip-preview")

    def fails(self, *words: str, **extra: str) -> str:
        """Run a pulumi command that must fail; return all its output."""
        done = self.try_(*words, **extra)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def preview(self) -> "Preview":
        events = self.run("preview", "--json", PULUMI_ENABLE_STREAMING_JSON_PREVIEW="1").splitlines()
        steps = [one["resourcePreEvent"]["metadata"] for one in map(json.loads, events) if "resourcePreEvent" in one]
        return Preview([step for step in steps if step["op"] not in ("same", "refresh") and not _of_pulumi(step)])

    def state(self) -> "State":
        """Return the stack's state, as the engine keeps it."""
        file = self.folder / "state" / ".pulumi" / "stacks" / self.name / "dev.json"
        latest = json.loads(file.read_text())["checkpoint"]["latest"] or {}
        return State(latest.get("resources", []))


@dataclass(frozen=True)
class Preview:
    """The steps of a preview that change something, in the order in which they would be taken."""

    events: Sequence[Any]

    def order(self, *names: str) -> list[str]:
        """Return the single steps, `op resource`, of these resources or of all."""
        return [_named(step) for step in self.events if not names or _name(step) in names]

    @property
    def steps(self) -> dict[str, Mapping[str, Any]]:
        """The steps by `op resource`; a replacement is one step."""
        parts = ("create-replacement", "delete-replaced")
        return {_named(step): step for step in self.events if step["op"] not in parts}

    def kinds(self, step: str) -> dict[str, str]:
        """Return the effect of a step on each path of its resource."""
        return {path: change["diffKind"] for path, change in self.steps[step]["detailedDiff"].items()}


@dataclass(frozen=True)
class State:
    resources: Sequence[Any]

    @property
    def names(self) -> set[str]:
        """The names of all resources, without the stack and providers."""
        return {_name(one) for one in self.resources if not _of_pulumi(one)}

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """Return the outputs of a resource."""
        (found,) = (one for one in self.resources if _name(one) == name)
        return dict(found["outputs"])

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The stack's outputs."""
        (stack,) = (one for one in self.resources if one["type"] == "pulumi:pulumi:Stack")
        return dict(stack["outputs"])

    def urn(self, name: str) -> str:
        (found,) = (one for one in self.resources if _name(one) == name)
        return str(found["urn"])


def _name(thing: Mapping[str, Any]) -> str:
    return str(thing["urn"]).rsplit("::", 1)[-1]


def _named(step: Mapping[str, Any]) -> str:
    return f"{step['op']} {_name(step)}"


def _of_pulumi(thing: Mapping[str, Any]) -> bool:
    return "::pulumi:" in thing["urn"]
