"""The workshop of a run: what all its stages share, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import psutil

from bench.faults.nursery import Nursery
from bench.faults.organisation import Organisation
from bench.faults.processes import deaf, end_all
from local import environment
from local.engine.engine import ensure
from local.plugin import installation
from tests.checkouts import empty_stack
from tests.checkouts.empty_stack import EmptyStack

_PREFIX = "slipway-faults-"


@dataclass(frozen=True)
class Workshop:
    """The shared parts of all stages of a run: the engine's programs and home, and the beginning of a stack."""

    folder: Path
    engine: Path
    home: Path
    empty: EmptyStack
    nursery: Nursery
    organisation: Organisation = field(default_factory=Organisation)
    halted: Event = field(default_factory=Event)

    def halt(self) -> None:
        """End all processes on its stages. The point being played ends in some error then, and counts for nothing."""
        self.halted.set()
        end_all(self.folder)


def forget_the_shell() -> None:
    """Forget what the caller's shell says of clouds: each of this process's clouds has a free port and settings of its
    own."""
    kept = {
        name: value for name, value in environment.apart(os.environ).items() if not name.startswith("VERTEX_LOCAL_")
    }
    os.environ.clear()
    os.environ.update({**kept, "VERTEX_LOCAL_PORT": "0"})


@contextmanager
def workshop(organisation: Organisation | None = None) -> Iterator[Workshop]:
    """Yield a workshop in a temporary folder that is removed at the end; leftovers of killed runs are stopped and
    removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            end_all(left)
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")).resolve()
    forget_the_shell()
    try:
        engine = ensure(lambda _: None).bin
        home = folder / "pulumi-home"
        installation.install(home, Path(sys.executable))
        begin = folder / "empty"
        begin.mkdir()
        with closing(Nursery()) as nursery:
            begun = empty_stack.make(begin, engine, home)
            yield Workshop(folder, engine, home, begun, nursery, organisation or Organisation())
    finally:
        # A further Ctrl-C must not leave a half of it.
        with deaf():
            end_all(folder)
            shutil.rmtree(folder, ignore_errors=True)
