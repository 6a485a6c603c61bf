"""The stage of points: a local cloud behind a proxy, and a checkout, restored to the beginning of a journey."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

import psutil
from vertex_local.environment import of_role
from vertex_local.identities import PROJECT_ID
from vertex_local.server import daemon
from vertex_local.server.cloud_file import process_of, read_record

from bench.errors import BenchError
from bench.faults import folders
from bench.faults.nursery import Nursery
from bench.faults.organisation import Organisation, trainer
from bench.faults.processes import kill, part_of, sessions
from bench.faults.proxy import Proxy, standing_before
from bench.faults.workshop import Workshop
from local.demo import leftovers
from tests.checkouts import nap
from tests.checkouts.checkout import Checkout, make_checkout
from tests.local.conftest import FAST, LocalCloud

# A pool takes an hour to grow: a job that needs one more machine waits, and starts no process.
SETTINGS = dict(pair.split("=") for pair in FAST) | {
    "scale_up_seconds": "3600",
    "monitoring_seconds": "0",
    "quota.custom_model_training_preemptible_cpus": "100",
}
# Commands whose calls fail give up soon, as a person would with Ctrl-C.
HASTE = {
    "SLIPWAY_CREATE_PATIENCE": "2s",
    "SLIPWAY_LOOK_FOR": "1s",
    "SLIPWAY_TIMEOUT": "5s",
    "SLIPWAY_NO_CONTACT": "5s",
    "SLIPWAY_GCP_PLUGIN_SPEED": "100",
    "SLIPWAY_GCP_PLUGIN_SILENCE_SECONDS": "3",
    # Compiling programs anew for each run takes longer than the judged part.
    "PYTHONDONTWRITEBYTECODE": "",
}
# Longer than a deployment tries to write a package, while nothing gets through.
_LONGEST_S = 300.0
# The folders of running jobs: a replica is known to live by a lock that it holds on a file there.
_SPARED = "jobs"
SECOND = "other"
"""The name of a stage's other stack."""
_LONG_NAP = ("max=600", "max=86400")


@dataclass
class ProxiedCloud(LocalCloud):
    """A local cloud whose commands go through a proxy; the bench's own calls go straight to it."""

    proxy: Proxy | None = None

    def env(self, role: str = "deployer", project: str = PROJECT_ID) -> dict[str, str]:
        assert self.proxy is not None
        return {**self.base_env(), **of_role(replace(self.record, url=self.proxy.url), role, project)}


@dataclass
class Stage:
    """A cloud and a checkout. `keep` remembers their state, `put_back` restores it."""

    folder: Path
    cloud: ProxiedCloud
    proxy: Proxy
    checkout: Checkout
    # The sessions of their replicas.
    kept_jobs: frozenset[int] = field(default_factory=frozenset)
    killed: bool = False
    # The commands that ran to their ends while the command stood still.
    overtaking: list[Ran] = field(default_factory=list)
    halted: Event = field(default_factory=Event)
    nursery: Nursery | None = None
    organisation: Organisation = field(default_factory=Organisation)
    # Makes the checkout of another stack by its name; and the one that it made, for journeys of two stacks.
    make: Callable[[str], Checkout] | None = None
    other: Checkout | None = None

    @property
    def checkouts(self) -> tuple[Checkout, ...]:
        return (self.checkout, self.other) if self.other else (self.checkout,)

    def add_stack(self) -> Checkout:
        assert self.make is not None
        self.other = self.make(SECOND)
        return self.other

    def write(self, file: Mapping[str, Any], checkout: Checkout | None = None) -> None:
        """Write a stack's file, with what the organisation asks of it; the first stack's unless another is named."""
        checkout = checkout or self.checkout
        checkout.write(**file)
        self.organisation.restrict(checkout)

    def go_on(self) -> None:
        """Raise BenchError once the bench is being stopped."""
        if self.halted.is_set():
            raise BenchError("the bench is being stopped")

    def run(self, command: tuple[str, ...], role: str, extra: Mapping[str, str], patience: float | None = None) -> Ran:
        """Run a command until it ends, or until Ctrl-C after `patience` seconds: its output is that before it. A
        command that does not end at all is killed with all that it started, and `stuck`."""
        self.go_on()
        started = self.checkout.start(*command, role=role, **HASTE, **extra)
        said = None
        try:
            if patience is not None:
                with suppress(subprocess.TimeoutExpired):
                    return Ran(started.process.wait(patience), started.said)
                said = started.said
                started.process.send_signal(signal.SIGINT)
            code = started.process.wait(_LONGEST_S)
        except subprocess.TimeoutExpired:
            started.kill_tree()
            return Ran(-1, started.said, stuck=True)
        return Ran(code, started.said if said is None else said)

    def run_both(self, verb: str, role: str, extra: Mapping[str, str]) -> Ran:
        """Run the engine's command on both stacks at once, until both have ended: the first code that is not 0, and
        both outputs."""
        assert self.other is not None
        beside = self.other.start(*self.other.command(verb), role=role, **HASTE, **extra)
        mine = self.run(self.checkout.command(verb), role, extra)
        try:
            code = beside.process.wait(_LONGEST_S)
        except subprocess.TimeoutExpired:
            beside.kill_tree()
            return Ran(-1, mine.said + beside.said, stuck=True)
        return Ran(mine.code or code, mine.said + beside.said, mine.stuck)

    def restrict(self) -> None:
        """Put the organisation's policies in force; whoever may make accounts has made the trainers before."""
        if self.organisation.named_trainer:
            for stack in (self.checkout.stack, SECOND):
                body = {"accountId": trainer(stack)}
                self.cloud.rest("POST", f"/v1/projects/{PROJECT_ID}/serviceAccounts", body)
        if self.organisation.settings:
            daemon.start(self.cloud.state, self.organisation.settings)

    def start_cloud(self) -> None:
        self.go_on()
        if self.nursery:
            self.nursery.start(self.cloud.state)
        else:
            daemon.start(self.cloud.state, {})

    def kill_cloud(self) -> None:
        """Kill the server with `kill -9`; its jobs live on."""
        record = read_record(self.cloud.state)
        if record and (process := process_of(record)):
            with suppress(psutil.Error):
                process.kill()
                process.wait(10)

    def kill_of_command(self, fault: str) -> Callable[[], None]:
        """Return a function that kills engine, program, plugin or command, whichever the fault names; `killed` tells
        whether there was one."""
        wanted, self.killed = fault.removeprefix("kill-"), False

        def strike() -> None:
            found = [one for one in leftovers.marked(self.checkout.state) if part_of(one) == wanted]
            self.killed = bool(found)
            kill(found)

        return strike

    def overtaken(self, command: tuple[str, ...], role: str, extra: Mapping[str, str]) -> Callable[[], None]:
        """Return a function that stops the command as the lid of a laptop does, and lets the same one run to its end
        elsewhere before it goes on: by the same state, without the engine's lock, or local records."""
        elsewhere = self.folder / "elsewhere"

        def strike() -> None:
            standing = leftovers.marked(self.checkout.state)
            for process in standing:
                with suppress(psutil.Error):
                    process.suspend()
            try:
                shutil.rmtree(elsewhere, ignore_errors=True)
                shutil.copytree(self.checkout.folder, elsewhere, ignore=shutil.ignore_patterns(".slipway"))
                for lock in self.checkout.locks():
                    lock.unlink()
                other = replace(self, checkout=replace(self.checkout, folder=elsewhere))
                self.overtaking.append(other.run(command, role, extra))
            finally:
                for process in standing:
                    with suppress(psutil.Error):
                        process.resume()

        return strike

    def keep(self) -> None:
        """Remember the present state; running jobs live on through every `put_back`."""
        self.kill_cloud()
        self.kept_jobs = frozenset(sessions(daemon.job_processes(self.cloud.state)))
        for name in self._folders:
            shutil.copytree(self.folder / name, self.folder / "kept" / name, symlinks=True)
        self.start_cloud()

    def put_back(self) -> None:
        self.kill_cloud()
        self._kill_commands()
        living = sessions(daemon.job_processes(self.cloud.state))
        kill(process for session, of in living.items() if session not in self.kept_jobs for process in of)
        for name in self._folders:
            folders.replace(self.folder / "kept" / name, self.folder / name, _SPARED)
        self.start_cloud()

    @property
    def _folders(self) -> tuple[str, ...]:
        return ("cloud", "checkout", "engine", *([self.other.stack] if self.other else []))

    def _kill_commands(self) -> None:
        for checkout in self.checkouts:
            kill(leftovers.marked(checkout.state))

    @property
    def jobs_live(self) -> bool:
        """Tell whether every job that ran when the stage was kept still has its processes."""
        return self.kept_jobs <= sessions(daemon.job_processes(self.cloud.state)).keys()

    def clear_after_a_kill(self) -> None:
        """End the processes of a killed command, and remove its lock and truncated files, as in `make demo`."""
        self._kill_commands()
        self.checkout.clear_after_a_kill()

    def end(self) -> None:
        self._kill_commands()
        daemon.stop(self.cloud.state)


@dataclass(frozen=True)
class Ran:
    """A command's exit code and its whole output."""

    code: int
    said: str
    stuck: bool = False


@contextmanager
def stage(shop: Workshop, name: str) -> Iterator[Stage]:
    """Yield a stage with an empty stack and a running cloud."""
    folder = shop.folder / name
    state = folder / "cloud"
    folder.mkdir(parents=True)

    def url() -> str:
        record = read_record(state)
        return record.url if record else "http://127.0.0.1:9"

    with standing_before(url) as proxy:
        cloud = ProxiedCloud(state, proxy=proxy)
        daemon.start(state, SETTINGS)

        def make(stack: str, at: Path) -> Checkout:
            return make_checkout(at, cloud, stack, engine=shop.engine, home=shop.home, empty=shop.empty, files=_files)

        mine = Stage(
            folder,
            cloud,
            proxy,
            make("trial", folder),
            halted=shop.halted,
            nursery=shop.nursery,
            organisation=shop.organisation,
        )
        mine.make = lambda name: make(name, folder / name)
        try:
            mine.restrict()
            yield mine
        finally:
            mine.end()


def _files(folder: Path) -> None:
    nap.lay_out(folder)
    template = folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace(*_LONG_NAP))


def ready(stage_: Stage, command: tuple[str, ...], role: str = "deployer", **extra: str) -> str:
    """Run a command that is not played and must go well; return its output. Raises BenchError."""
    done = stage_.run(command, role, extra)
    if done.code != 0:
        raise BenchError(f"{' '.join(command)} ended with {done.code} while a stage was made ready:\n{done.said}")
    return done.said
