"""A person's checkout with a stack of its own, the real engine and a local cloud; its commands and its living
resources."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from vertex_local.clock import timestamp
from vertex_local.store import Store
from vertex_local.vertex.clusters.records import CLUSTERS

from local import environment
from local.demo import leftovers
from slipway.model.identity import Identity
from tests.local.conftest import LocalCloud

from .empty_stack import EmptyStack
from .nap import lay_out
from .shell import Done, Started, slipway, wait_for

PROJECT, REGION, STACK = "local-project", "us-central1", "trial"
PULUMI_PROJECT = "slipway"
VERTEX = f"/v1/projects/{PROJECT}/locations/{REGION}"
MACHINE = {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}}
_STATE_AT_THE_END = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}
"""Variables by which the engine writes its state once for a run, in place of twice for each of its steps: that was half
of all that the tests wrote, and a fifth of a run's CPU. A run that a test kills goes without them."""


@dataclass(frozen=True)
class Checkout:
    """A person's checkout: the program, a stack file and templates of their own. Nothing in it is tracked by anybody.

    `state` has the engine's backend; two checkouts may share it, as two people do.
    """

    folder: Path
    cloud: LocalCloud
    engine: Path
    state: Path
    stack: str = STACK
    variables: Mapping[str, str] = field(default_factory=dict)
    forked: Mapping[str, str] = field(default_factory=dict)
    pulumi_project: str = PULUMI_PROJECT

    @property
    def identity(self) -> Identity:
        return Identity(self.pulumi_project, self.stack)

    @property
    def file(self) -> Path:
        return self.folder / "stacks" / f"Pulumi.{self.stack}.yaml"

    @property
    def catalog(self) -> str:
        return f"gs://{self.identity.buckets(PROJECT)[0]}"

    @property
    def work(self) -> str:
        return self.identity.buckets(PROJECT)[1]

    @property
    def trainer(self) -> str:
        return f"{self.identity.account('trainer')}@{PROJECT}.iam.gserviceaccount.com"

    def write(self, **changed: Any) -> None:
        """Write the stack file, with some `slipway:` or `gcp:` keys changed; None leaves one out."""
        slipway = {
            "persistentResources": {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}},
            "quota": {"mode": "enforce"},
            "templates": ["nap"],
            "workspace": {"submitters": ["group:ml-engineers@company.example"], "code": True},
        }
        config = {
            "gcp:project": PROJECT,
            "gcp:region": changed.pop("region", REGION),
            "gcp:addPulumiAttributionLabel": "false",
            **{f"slipway:{key}": value for key, value in {**slipway, **changed}.items() if value is not None},
        }
        before = yaml.safe_load(self.file.read_text()) if self.file.exists() else {}
        kept = {key: value for key, value in before.items() if key != "config"}
        self.file.write_text(yaml.safe_dump({"config": config, **kept}, sort_keys=False))

    def environ(self, role: str, **extra: str) -> dict[str, str]:
        base = self.cloud.env(role)
        engine = environment.engine_variables(self.state, self.engine, base.get("PATH", ""))
        mine = {"SLIPWAY_CATALOG": self.catalog, "SLIPWAY_GCP_PLUGIN_POLL_SECONDS": "0.1", "SLIPWAY_USER": role}
        mine["SLIPWAY_CONFIG"] = str(self.state / "config")
        return {**base, **engine, **mine, "NO_COLOR": "1", **self.variables, **extra}

    def run(self, *command: str, role: str, **extra: str) -> Done:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ(role, **extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *command: str, role: str, **extra: str) -> Started:
        output = self.state / f"{time.monotonic_ns()}.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environ(role, **extra),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Started(process, output)

    def pulumi(self, verb: str, *arguments: str, role: str = "deployer", **extra: str) -> Done:
        """Run a command of the engine, with a program and a provider that `fork_server` makes. Those of `start` are
        not."""
        variables = {**_STATE_AT_THE_END, **self.forked, **extra}
        return self.run(*self.command(verb), *arguments, role=role, **variables)

    def begin(self, verb: str, **extra: str) -> Started:
        """Start such a command in the background, for a test that kills all of it or nothing."""
        return self.start(*self.command(verb), role="deployer", **{**self.forked, **extra})

    def command(self, verb: str) -> tuple[str, ...]:
        yes = {"up": ("--yes", "--skip-preview"), "destroy": ("--yes", "--skip-preview", "--run-program")}
        return ("pulumi", verb, "--stack", self.stack, "--non-interactive", *yes.get(verb, ()))

    def up(self) -> str:
        """Deploy successfully; return the output."""
        done = self.pulumi("up")
        assert done.code == 0, done.said
        return done.said

    def destroy(self) -> Done:
        return self.pulumi("destroy", SLIPWAY_PURPOSE="destroy")

    def slipway(self, *arguments: str, role: str = "submitter", **extra: str) -> Done:
        """Run `slipway …`, in the test's own process. For a process of its own: `start`."""
        return slipway(arguments, self.environ(role, **extra), self.folder)

    def submit(self, *arguments: str, **extra: str) -> Any:
        """Submit an accepted job; return the output of `slipway submit --output json`."""
        done = self.slipway("submit", "nap", "-p", "say=hello", *arguments, "--output", "json", **extra)
        assert done.code == 0, done.said
        return done.json["job"]

    def running_job(self) -> Any:
        """Submit a job that runs until somebody cancels it, and wait until it runs."""
        job = self.submit("-p", "seconds=600")
        wait_for(lambda: self.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
        return job

    def end(self, job: Any) -> None:
        """Cancel a job, and wait until it has ended."""
        self.cloud.cancel(job["name"])
        wait_for(lambda: self.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")

    def at_rest(self) -> None:
        """Fail if a preview has anything to do."""
        done = self.pulumi("preview", "--expect-no-changes")
        assert done.code == 0, done.said

    def clusters(self, region: str = REGION) -> dict[str, str]:
        """Return the clusters of this stack in a region: id to state."""
        at = f"/v1/projects/{PROJECT}/locations/{region}/persistentResources"
        listed = self.cloud.every(at, "persistentResources")
        mine = [bucket for bucket in listed if bucket.get("labels", {}).get("slipway-stack") == self.identity.label]
        return {entry["name"].rsplit("/", 1)[-1]: entry["state"] for entry in mine}

    def make_clusters_now(self) -> None:
        """End the remaining time of clusters that are being made."""
        self._due_now("create")

    def delete_clusters_now(self) -> None:
        """End the remaining time of clusters that are being deleted."""
        self._due_now("delete")

    def _due_now(self, change: str) -> None:
        store = Store(self.cloud.state / "cloud.sqlite")
        with store.transaction():
            for cluster in CLUSTERS.every(store):
                if cluster.change == change:
                    CLUSTERS.put(store, replace(cluster, due=timestamp(datetime.fromtimestamp(0, UTC))))
        store.close()

    def jobs(self, request: str = "*", region: str = REGION) -> list[Any]:
        """Return the custom jobs of this stack, or those of one request, as the service lists them in a region."""
        filter_ = (
            f'labels.slipway-request="{request}"' if request != "*" else f'labels.slipway-stack="{self.identity.label}"'
        )
        at = f"/v1/projects/{PROJECT}/locations/{region}/customJobs"
        return self.cloud.every(f"{at}?filter={filter_}", "customJobs")

    def journal(self, pattern: str = "*.json") -> list[Path]:
        """Return the records of `slipway submit` in this checkout."""
        return sorted((self.folder / ".slipway" / "requests").rglob(pattern))

    def job_state(self, name: str) -> str:
        return str(self.cloud.rest("GET", f"/v1/{name}")["state"])

    def buckets(self) -> list[str]:
        listed = self.cloud.every(f"/storage/v1/b?project={PROJECT}", "items")
        return [entry["name"] for entry in listed if entry["name"].startswith(f"{PROJECT}-{self.identity.label}-")]

    @property
    def state_file(self) -> Path:
        return self.state / "pulumi-state" / ".pulumi" / "stacks" / self.pulumi_project / f"{self.stack}.json"

    def resources(self) -> list[Any]:
        """Return the engine's state, as `pulumi stack export` prints it. Reading that starts no engine."""
        return list(json.loads(self.state_file.read_text())["checkpoint"]["latest"].get("resources", []))

    def keep_resources(self, resources: Sequence[Any]) -> None:
        """Make the state have these, as `pulumi stack import --force` does."""
        document = json.loads(self.state_file.read_text())
        document["checkpoint"]["latest"]["resources"] = list(resources)
        self.state_file.write_text(json.dumps(document))

    def outputs(self) -> Any:
        """Return the stack's outputs."""
        (stack,) = (resource for resource in self.resources() if resource["type"] == "pulumi:pulumi:Stack")
        return stack["outputs"]

    def clear_after_a_kill(self) -> None:
        """End the processes of a killed `pulumi up`, and drop its lock, as `make demo` does."""
        leftovers.end(leftovers.marked(self.state), patience=15)
        leftovers.drop_dead_locks(self.state / "pulumi-state", print)

    def locks(self) -> list[Path]:
        """Return the engine's locks on stacks of this backend."""
        return list((self.state / "pulumi-state" / ".pulumi" / "locks").rglob("*.json"))

    def nothing_made(self) -> bool:
        return not self.clusters() and not self.buckets()


def make_checkout(
    folder: Path,
    cloud: LocalCloud,
    stack: str = STACK,
    *,
    engine: Path,
    home: Path,
    empty: EmptyStack,
    forked: Mapping[str, str] = MappingProxyType({}),
    files: Callable[[Path], None] = lay_out,
    pulumi_project: str = PULUMI_PROJECT,
) -> Checkout:
    """Return a checkout with an empty stack in a folder, and the engine's backend beside it. `files` lays it out."""
    files(folder / "checkout")
    program = folder / "checkout" / "Pulumi.yaml"
    program.write_text(program.read_text().replace(f"name: {PULUMI_PROJECT}\n", f"name: {pulumi_project}\n", 1))
    state = folder / "engine"
    empty.put(state / "pulumi-state", pulumi_project, stack)
    variables = {"PULUMI_HOME": str(home), leftovers.MARK: str(state), **empty.variables}
    made = Checkout(folder / "checkout", cloud, engine, state, stack, variables, forked, pulumi_project)
    made.file.write_text(yaml.safe_dump(dict(empty.secrets)))
    made.write()
    return made
