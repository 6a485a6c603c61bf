"""A role of a job: equal machines that run the same code, a package in an image of Vertex AI's or a container image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from slipway.authoring.stack.secrets import without_secrets
from slipway.model.kinds.pipeline import Need, TaskGroup
from slipway.model.machines.spec import KEY, Disk, MachineSpec, compared, is_tpu, machine_or_tpu
from slipway.model.machines.table import Machine, MachineError
from slipway.model.rules.code import ENV_NAME, IMAGE, MODULE, SCRIPT, digest_command
from slipway.model.rules.workers import POSITIONS, Position

ANY_RESERVATION = "any"


@dataclass(frozen=True)
class Package:
    """Code as a Python package.

    - `folder`: the import package, from the repository's root; its requirements.txt, if any, is installed with it. With
      the module SCRIPT it holds any files, and the arguments name the command: `--command=python train.py`.
    - `module`: the module that is run.
    - `image`: a prebuilt executor of Vertex AI.
    - `shared`: import packages beside it that are packed with it, such as `jobs/common`, with their requirements.
    """

    folder: str
    module: str
    image: str
    shared: tuple[str, ...] = ()

    def problems(self) -> Iterable[tuple[str, str]]:
        """Yield each problem with its field."""
        if not MODULE.fullmatch(self.module):
            yield "code.module", f"{self.module!r} is not a module name"
        elif self.module != SCRIPT and self.module.split(".")[0] != self.folder.rstrip("/").rsplit("/", 1)[-1]:
            yield "code", f"module {self.module} is not in the import package {self.folder}"
        for folder in self.shared:
            if PurePosixPath(folder).parent != PurePosixPath(self.folder).parent or self.module == SCRIPT:
                yield "code.shared", f"{folder} is not an import package beside {self.folder}"


@dataclass(frozen=True)
class Image:
    """Code as a container image. The launcher starts its command by the image's own `python3`.

    - `uri`: the image, pinned by digest, `…@sha256:…`, so that the reviewed image runs.
    - `command`: in place of its ENTRYPOINT (CMD is ignored then); a worker pool's `args` replace its CMD.
    - `launcher`: False for an image without `sh`, or without `python3` of 3.8 or newer. Such an image, and one without
      a `command`, runs at least once: a submission whose answer is lost may run it twice.
    - `path`: the variable of the search path on which the folder of `--code` comes first; of Python's, behind the
      standard library.
    """

    uri: str
    command: tuple[str, ...] = ()
    launcher: bool = True
    path: str = "PYTHONPATH"

    def problems(self) -> Iterable[tuple[str, str]]:
        name, uri = IMAGE.fullmatch(self.uri), without_secrets(self.uri)
        if name is None and "@" in self.uri:
            yield (
                "code",
                f"image {uri!r} is not a name such as HOST/PATH@sha256:DIGEST, in lowercase, without https://",
            )
        elif name is None or not name["digest"]:
            command = digest_command("IMAGE" if name is None else self.uri)
            yield (
                "code",
                f"image {uri!r} is not pinned; write NAME@sha256:DIGEST, with the digest that `{command}` prints",
            )
        if not ENV_NAME.fullmatch(self.path):
            yield "code.path", f"{self.path!r} is not a variable's name"
        if "" in self.command[:1]:
            yield "code.command", "its first word is the program to run, and empty"

    @property
    def launched(self) -> bool:
        """Tell whether the launcher starts it: it needs the command that it is to start."""
        return self.launcher and bool(self.command)


Code = Package | Image


@dataclass(frozen=True)
class WorkerPool:
    """A role of a job: equal machines that all run the same code.

    - `machine` and `disk`: exactly those of a pool, where the job is to run on one. A `machine` without a hyphen is a
      key under `slipway:machines` of the stack file, which says the type, its accelerators and, if it likes, the disk.
    - `replicas`: the number of machines, or a placeholder of an int parameter.
    - `args`: the arguments of the code.
    - `position`: without it the pool takes the place after the pool before it.
    - `code`: in place of the template's.
    - `reservation`: for the capacity type of that name; a name under `slipway:reservations` of the stack file, a full
      path, or ANY_RESERVATION.
    - `env`: variables of its own, beside the template's and in place of those of the same name.
    """

    role: str
    machine: str
    disk: Disk = field(default_factory=Disk)
    accelerator: str | None = None
    accelerator_count: int | None = None
    replicas: int | str = 1
    args: tuple[str, ...] = ()
    position: Position | None = None
    code: Code | None = None
    reservation: str | None = None
    tpu_topology: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The stack's key that its machine is named by; empty for a machine type."""
        return self.machine if KEY.fullmatch(self.machine) else ""

    @cached_property
    def shape(self) -> Machine:
        """The machine with its accelerators. Raises MachineError."""
        if self.tpu_topology and not is_tpu(self.machine):
            raise MachineError("topology", f"{self.machine} has no topology, as it is no TPU", "leave the topology out")
        return machine_or_tpu(self.machine, self.accelerator, self.accelerator_count, self.tpu_topology)

    def beside(self, pool: MachineSpec) -> Iterable[tuple[str, str, str, bool]]:
        """Yield every field of its machine with its value, a resource pool's, and whether the job may run there."""
        return ((name, ours, theirs, ours == theirs) for name, ours, theirs in compared(self.spec, pool))

    @cached_property
    def spec(self) -> MachineSpec:
        """The spec of one of its machines, everything resolved. Raises MachineError."""
        shape = self.shape
        return MachineSpec(shape.type, shape.accelerator, shape.accelerator_count, self.disk)


@dataclass(frozen=True)
class TaskPool(WorkerPool):
    """The tasks of a pipeline that need the same. On a cluster any machine that suffices takes them."""

    need: Need = field(default_factory=Need)

    @classmethod
    def of(cls, group: TaskGroup) -> TaskPool:
        """Return a group's pool, on the machines that it has without a cluster."""
        role, shape = group.tasks[0] if len(group.tasks) == 1 else "task", group.machine
        count = shape.accelerator_count or None
        own = cls(role, shape.type, accelerator=shape.accelerator, accelerator_count=count)
        return replace(own, replicas=group.at_once, need=group.need)

    def beside(self, pool: MachineSpec) -> Iterable[tuple[str, str, str, bool]]:
        return self.need.compared(pool.shape)


def places(pools: tuple[WorkerPool, ...]) -> tuple[int, ...]:
    """Return the index in the request of each pool. Raises ValueError with a pool that has no place."""
    indices: list[int] = []
    for pool in pools:
        place = POSITIONS.index(pool.position) if pool.position else (indices[-1] + 1 if indices else 0)
        if (place >= len(POSITIONS) and not isinstance(pool, TaskPool)) or (indices and place <= indices[-1]):
            raise ValueError(pool.role)
        indices.append(place)
    return tuple(indices)
