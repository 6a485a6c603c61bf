"""The demo: from an empty machine to a finished distributed job, on the local cloud, with the real engine."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from vertex_local import images
from vertex_local.environment import of_role
from vertex_local.identities import PROJECT_ID, folder_of
from vertex_local.server import daemon, named_project
from vertex_local.server.cloud_file import Record, read_record, state_folder

from slipway.base.errors import SlipwayError
from slipway.google.catalog.document import read as read_catalog
from slipway.google.catalog.lookup import address
from slipway.google.connection import connect
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import REQUEST_LABEL

from .. import environment, project_folder
from ..engine.engine import ensure
from ..engine.progress import Printer
from ..errors import as_slipways
from ..plugin import installation
from ..stack_copy import copy
from ..stack_file import LaptopStack, read
from .choice import choose
from .commands import Actor, CommandError
from .leftovers import MARK, drop_dead_locks, end, marked
from .play import Play
from .report import gain, measured, seconds, started_after, table
from .turn import turn

REQUEST_PREFIX = "demo-"


def play(stack: str) -> None:
    """Play the whole journey of a stack. Raises SlipwayError where it can't go on."""
    folder = state_folder()
    played = read(project_folder(), stack)
    with _turn(folder):
        _step(1, "the Pulumi engine")
        engine = _engine()
        _step(2, "the local cloud")
        _end_leftovers(folder)
        record = _cloud(folder, played)
        journey = _journey(folder, engine, record, played)
        _cancel_leftovers(journey)

        _step(3, f"pulumi up on stack {journey.stack.name}, as deployer")
        journey.deploy()
        # As the hourly run does in a real project: without it, usage has a `?` for each pool that grows.
        journey.deployer.run("slipway", "record")

        _step(4, "the first job, as submitter, with the pool's image cache emptied")
        for cluster in _clusters(journey):
            print(f"        {images.clear(folder_of(folder, journey.stack.project), cluster)}")
        choice = choose(_catalog(journey))
        try:
            first = journey.submit("first", choice.template, _request(), choice.parameters)

            _step(5, "the same job again")
            second = journey.submit("second", choice.template, _request(), choice.parameters)
        except CommandError:
            _tell_shell(journey)
            raise

        _step(6, "what it showed")
        where = "a local figure; on Vertex AI the machines' own start is saved as well"
        for line in (*table((first, second)), "", gain(first, second, where)):
            print(f"        {line}".rstrip())
        _tell_shell(journey)
        print(
            f"\ndemo finished: {f'{measured(second)}; ' if measured(second) else ''}create → start "
            f"{seconds(started_after(first))} at first, {seconds(started_after(second))} on the warm pool",
            flush=True,
        )


def down() -> None:
    """Stop and remove everything that the demo started: its processes, the local cloud with its jobs, and the state."""
    folder = state_folder()
    try:
        others = daemon.foreign(folder)
    except FileNotFoundError:
        print("nothing to clean: there is no state of a demo here")
        return
    if others:
        raise SlipwayError(
            f"{folder} is not cleaned",
            why=f"no local cloud was ever started in it, so what is there is somebody else's: {', '.join(others[:3])}",
            fix="set VERTEX_LOCAL_STATE to the demo's folder, or unset it",
        )
    with _turn(folder), as_slipways():
        _end_leftovers(folder)
        ran, jobs = daemon.stop(folder)
        print(f"local cloud {'stopped' if ran else 'was not running'}, {_processes(jobs)} of jobs ended")
        daemon.clear(folder)
        folder.rmdir()
    # Packed code stays as well: a deployment of this checkout, to another cloud, may be uploading it just now.
    print("state removed; the engine and the packages stay in their cache outside the tree, packed code in .slipway")


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    def claim() -> None:
        with as_slipways():
            daemon.claim(folder)

    with turn(folder / "demo.lock", claim):
        yield


def _step(number: int, what: str) -> None:
    print(f"\n[{number}/6] {what}", flush=True)


def _engine() -> Path:
    with as_slipways(), closing(Printer(sys.stderr)) as printer:
        engine = ensure(printer)
    print(f"        pulumi {engine.version} ({engine.source})")
    return engine.bin


def _end_leftovers(folder: Path) -> None:
    """End what a killed demo left, processes first, so that the locks they hold are dead when they are looked at."""
    if count := end(marked(folder), patience=15):
        print(f"        ended {_processes(count)} that a killed demo left")
    if count := drop_dead_locks(folder / "pulumi-state", lambda text: print(f"        {text}")):
        print(f"        removed {count} lock{'' if count == 1 else 's'} of a dead `pulumi up`")


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"


def _cloud(folder: Path, played: LaptopStack) -> Record:
    """Return a running cloud that has the stack's project."""
    with as_slipways():
        started = daemon.start(folder, {})
        if started.note:
            print(f"        {started.note}")
        print(f"        {'started' if started.fresh else 'runs'} at {started.record.url}")
        made = named_project.name(started.record, played.declaration())
    if made.id != PROJECT_ID:
        print(f"        it has the project {made.id} of stacks/Pulumi.{played.stack.name}.yaml, with its people")
    record = read_record(folder)
    assert record, "it runs"
    return record


def _journey(folder: Path, engine: Path, record: Record, played: LaptopStack) -> Play:
    installation.install(folder / "pulumi-home", Path(sys.executable))
    states = folder / "pulumi-state"
    again = any(states.glob(f".pulumi/stacks/*/{played.stack.name}.json"))
    states.mkdir(exist_ok=True)
    root, stack = project_folder(), played.stack
    common = {
        **environment.apart(os.environ),
        **environment.engine_variables(folder, engine, os.environ.get("PATH", "")),
        MARK: str(folder),
        "SLIPWAY_CATALOG": f"gs://{stack.workspace.catalog_bucket}",
    }
    deployer, submitter = (
        Actor(role, root, {**environment.own_things(folder, who), **common, **of_role(record, who, stack.project)})
        for role, who in (("deployer", "deployer"), ("submitter", played.submitter))
    )
    # A stack for the laptop has a file of its own there, with the salt of its state.
    config = copy(root, folder, stack.name) if stack.project != PROJECT_ID else None
    return Play(stack, deployer, submitter, config, again)


def _catalog(journey: Play) -> Catalog:
    location = address(journey.submitter.environment["SLIPWAY_CATALOG"])
    return read_catalog(connect(journey.submitter.environment).storage.read(location), str(location))


def _tell_shell(journey: Play) -> None:
    of = f" STACK={journey.stack.name}" if journey.stack.project != PROJECT_ID else ""
    print(f'        in a shell of your own: eval "$(make shell AS=submitter{of})"')
    print(f"        then: slipway use gs://{journey.stack.workspace.catalog_bucket}; slipway templates; slipway pools")


def _cancel_leftovers(journey: Play) -> None:
    """Cancel jobs that a killed demo submitted: they would hold the pool's machines."""
    deployer, submitter = (  # A submitter has no rights before the first deployment.
        connect(actor.environment).vertex(journey.stack.project, journey.stack.region)
        for actor in (journey.deployer, journey.submitter)
    )
    for job in deployer.jobs(CUSTOM_JOB, f"labels.{REQUEST_LABEL}:*"):
        if not job.ended and job.labels[REQUEST_LABEL].startswith(REQUEST_PREFIX):
            print(f"        cancels {job.display_name} of a killed demo")
            submitter.cancel(job.name)


def _clusters(journey: Play) -> list[str]:
    vertex = connect(journey.deployer.environment).vertex(journey.stack.project, journey.stack.region)
    return [cluster.id for cluster in vertex.persistent_resources()]


def _request() -> str:
    return f"{REQUEST_PREFIX}{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"
