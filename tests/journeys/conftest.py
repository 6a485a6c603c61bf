"""People at their shells: a checkout with a stack, the real engine, a real local cloud, commands as they are typed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from journey import leftovers
from local import environment, plugin
from local.engine import ensure
from tests.local.conftest import FAST, ROOT, LocalCloud

PROJECT, REGION, STACK = "slipway-local", "us-central1", "trial"
VERTEX = f"/v1/projects/{PROJECT}/locations/{REGION}"
_TIMEOUT_S = 180
MACHINE = {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}}
NAP = '''
"""nap: a job of one machine that says a word and sleeps."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="nap",
    summary="says a word and sleeps",
    code=Package(
        folder="jobs/nap",
        module="nap.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="sleeper",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=("--seconds=${seconds}", "--say=${say}", "--end=${end}", "--output=${slipway.output}"),
        ),
    ),
    parameters=(
        Parameter("say", str, help="the word"),
        Parameter("seconds", float, default=0.0, min=0, max=600, help="how long it sleeps"),
        Parameter("end", str, default="well", choices=("well", "badly"), help="how it ends"),
    ),
    ways=("pool", "spot"),
)
'''
NAP_TASK = """
import argparse, sys, time

parser = argparse.ArgumentParser()
for flag in ("--seconds", "--say", "--end", "--output"):
    parser.add_argument(flag)
flags = parser.parse_args()
print(f"the word is {flags.say}", flush=True)
time.sleep(float(flags.seconds))
print("slept well", flush=True)
sys.exit(flags.end == "badly")
"""


@dataclass(frozen=True)
class Done:
    """What a command did: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Started:
    """A command in the background, in a session of its own, with what it prints in a file."""

    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def tree(self) -> list[psutil.Process]:
        """Its living processes. They are found by session, which outlives parents."""
        session = self.process.pid
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def kill(self) -> None:
        """`kill -9` of it alone; what it started lives on."""
        self.process.kill()
        self.process.wait()

    def kill_tree(self) -> None:
        """`kill -9` of everything it started, as a machine that loses power would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()

    def until(self, true: Callable[[], object], what: str, seconds: float = 60) -> None:
        """Wait for something while it runs; fails with what it printed when it ends before."""
        wait_for(lambda: true() or self.process.poll() is not None, what, seconds)
        assert self.process.poll() is None, f"it ended before {what}:\n{self.said}"


@dataclass(frozen=True)
class Checkout:
    """A person's checkout: the program, a stack file and templates of their own. Nothing in it is tracked by anybody.

    `state` has the engine's backend; two checkouts may share it, as two people do. `images` has the run's images.
    """

    folder: Path
    cloud: LocalCloud
    engine: Path
    state: Path
    images: Path
    stack: str = STACK
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "stacks" / f"Pulumi.{self.stack}.yaml"

    @property
    def catalog(self) -> str:
        return f"gs://{PROJECT}-{self.stack}-catalog"

    def write(self, **changed: Any) -> None:
        """The stack file, with some `slipway:` or `gcp:` keys other than usual; None leaves one out."""
        slipway = {
            "persistentResources": {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}},
            "quota": {"mode": "enforce"},
            "templates": ["nap"],
            "workspace": {"submitters": ["group:ml-engineers@slipway.example"]},
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
        return {**base, **engine, **mine, "NO_COLOR": "1", **self.variables, **extra}

    def run(self, *command: str, role: str, **extra: str) -> Done:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ(role, **extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
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
        return self.run(*self.command(verb), *arguments, role=role, **extra)

    def command(self, verb: str) -> tuple[str, ...]:
        yes = {"up": ("--yes", "--skip-preview"), "destroy": ("--yes", "--skip-preview", "--run-program")}
        return ("pulumi", verb, "--stack", self.stack, "--non-interactive", *yes.get(verb, ()))

    def up(self) -> None:
        done = self.pulumi("up")
        assert done.code == 0, done.said

    def destroy(self) -> Done:
        return self.pulumi("destroy", SLIPWAY_PURPOSE="destroy")

    def slipway(self, *arguments: str, role: str = "submitter", **extra: str) -> Done:
        return self.run("slipway", *arguments, role=role, **extra)

    def submit(self, *arguments: str, **extra: str) -> Any:
        """A job that is accepted: what `slipway submit --output json` says of it."""
        self.warm()
        done = self.slipway("submit", "nap", "-p", "say=hello", *arguments, "--output", "json", **extra)
        assert done.code == 0, done.said
        return done.json["job"]

    def warm(self) -> None:
        """Give the clusters a cache that has the image of an earlier test, so that jobs start at once."""
        for cluster in self.clusters():
            pool = self.cloud.state / "pools" / cluster
            pool.mkdir(parents=True, exist_ok=True)
            if not (pool / "images").exists():
                (pool / "images").symlink_to(self.images)

    def clusters(self) -> dict[str, str]:
        """The clusters of this stack: id to state."""
        found = self.cloud.rest("GET", f"{VERTEX}/persistentResources").get("persistentResources", [])
        mine = [one for one in found if one.get("labels", {}).get("slipway-stack") == self.stack]
        return {one["name"].rsplit("/", 1)[-1]: one["state"] for one in mine}

    def jobs(self, request: str = "*") -> list[Any]:
        """The custom jobs of this stack, or those of one request, as the service lists them."""
        filter_ = f'labels.slipway-request="{request}"' if request != "*" else f'labels.slipway-stack="{self.stack}"'
        found = self.cloud.rest("GET", f"{VERTEX}/customJobs?filter={filter_}")
        return list(found.get("customJobs", []))

    def journal(self, pattern: str = "*.json") -> list[Path]:
        """What `slipway submit` wrote down in this checkout."""
        return sorted((self.folder / ".slipway" / "requests").rglob(pattern))

    def job_state(self, name: str) -> str:
        return str(self.cloud.rest("GET", f"/v1/{name}")["state"])

    def buckets(self) -> list[str]:
        found = self.cloud.rest("GET", f"/storage/v1/b?project={PROJECT}").get("items", [])
        return [one["name"] for one in found if one["name"].startswith(f"{PROJECT}-{self.stack}-")]

    def up_with_a_dead_lock(self) -> Done:
        """`pulumi up` after a killed one, as `make demo` does it: end what is left of it, drop its lock, run again."""
        leftovers.end(leftovers.marked(self.state), patience=15)
        backend = self.state / "pulumi-state"
        leftovers.drop_dead_locks(backend, print)
        leftovers.mend_backend(backend)
        return self.pulumi("up")

    def locks(self) -> list[Path]:
        """The engine's locks on stacks of this backend."""
        return list((self.state / "pulumi-state" / ".pulumi" / "locks").rglob("*.json"))

    def nothing_made(self) -> bool:
        return not self.clusters() and not self.buckets()


def wait_for(true: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait until something is true, looking often; fails in words when it never is."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, f"in {seconds:.0f} s never: {what}"
        time.sleep(0.05)


NewCheckout = Callable[..., Checkout]


def lay_out(folder: Path) -> None:
    """The files of a small checkout: the program as it is, and the template `nap`."""
    (folder / "stacks").mkdir(parents=True)
    (folder / "templates").mkdir()
    (folder / "jobs" / "nap").mkdir(parents=True)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "templates" / "nap.py").write_text(NAP)
    (folder / "jobs" / "nap" / "__init__.py").touch()
    (folder / "jobs" / "nap" / "task.py").write_text(NAP_TASK)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the whole checkout, as a fresh clone: what a command keeps beside its code stays in the copy."""
    ignored = shutil.ignore_patterns(".venv", ".slipway", ".git", "__pycache__", ".*_cache", "*.egg-info")
    return Path(shutil.copytree(ROOT, tmp_path / "clone", ignore=ignored))


@pytest.fixture(scope="session")
def engine() -> Path:
    """The folder of the real engine's programs."""
    return ensure(print).bin


@pytest.fixture(scope="session")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Pulumi home with the local plugin, for all checkouts of the run."""
    home = tmp_path_factory.mktemp("engine") / "pulumi-home"
    plugin.install(home, Path(sys.executable))
    return home


@pytest.fixture(scope="session")
def new_checkout(tmp_path_factory: pytest.TempPathFactory, engine: Path, engine_home: Path) -> NewCheckout:
    """Makes a checkout with an empty stack: takes a folder, a cloud and the stack's name."""
    base = tmp_path_factory.getbasetemp()
    images = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "images"
    images.mkdir(exist_ok=True)
    return partial(make_checkout, engine=engine, home=engine_home, images=images)


def make_checkout(
    folder: Path, cloud: LocalCloud, stack: str = STACK, *, engine: Path, home: Path, images: Path
) -> Checkout:
    """A checkout with an empty stack in a folder, and the engine's backend beside it."""
    lay_out(folder / "checkout")
    state = folder / "engine"
    (state / "pulumi-state").mkdir(parents=True)
    variables = {"PULUMI_HOME": str(home), leftovers.MARK: str(state)}
    made = Checkout(folder / "checkout", cloud, engine, state, images, stack, variables)
    made.write()
    done = made.run("pulumi", "stack", "init", stack, "--non-interactive", role="deployer")
    assert done.code == 0, done.said
    return made


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """One cloud for the tests that leave it whole. They keep apart by stacks of their own."""
    running = LocalCloud(tmp_path_factory.mktemp("cloud") / "state")
    running.up(*[word for setting in FAST for word in ("--set", setting)])
    yield running
    running.local("down")


@pytest.fixture
def own_cloud(tmp_path: Path) -> Iterator[LocalCloud]:
    """A running cloud of the test's own, for tests that kill it, change its settings or switch faults on."""
    mine = LocalCloud(tmp_path / "cloud")
    mine.up(*[word for setting in FAST for word in ("--set", setting)])
    yield mine
    mine.local("down")


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory, cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """A deployed stack that tests share: they submit to it and read, and leave it as it is."""
    made = new_checkout(tmp_path_factory.mktemp("deployed"), cloud, "shared")
    made.up()
    return made


@pytest.fixture
def checkout(tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """A checkout on the shared cloud with a stack of its own that was never deployed."""
    return new_checkout(tmp_path, cloud, f"t{time.monotonic_ns() // 1000 % 10**9}")


@pytest.fixture
def own(tmp_path: Path, own_cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """A checkout on a cloud of the test's own."""
    return new_checkout(tmp_path, own_cloud)


@pytest.fixture
def faults(cloud: LocalCloud) -> Iterator[Callable[..., None]]:
    """Switches faults of the shared cloud on, for the test's time."""
    yield lambda *faults: cloud.rest("POST", "/slipway/faults", {"faults": list(faults)})
    cloud.rest("DELETE", "/slipway/faults")
