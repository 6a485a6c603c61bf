"""The types a template file is written with. They check themselves: a template that exists is well-formed.

Errors are `ConfigError`s that name the template and the field. Whether it fits a pool is `slipway.template.proof`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from slipway.cluster import Disk
from slipway.errors import ConfigError
from slipway.machines import Machine, MachineError, machine
from slipway.template.placeholders import BUILT_IN, names, whole

Value = int | float | str | bool

KINDS = ("custom-job",)
WAYS = ("pool", "spot")
LATER = {
    "hyperparameter-tuning-job": "tuning jobs",
    "training-pipeline": "training pipelines",
    "flex-start": "Dynamic Workload Scheduler",
    "on-demand": "jobs beside the pools at the list price",
    "reservation": "reservations",
}
MAX_TIMEOUT_S = 7 * 24 * 3600
MAX_WORKER_POOLS = 4
NAME = re.compile(r"[a-z]([a-z0-9-]{0,48}[a-z0-9])?")
"""What a template is called: it begins display names and object names, and is a label's value."""
_PARAMETER_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Parameter:
    """One value that a submission may set. Without `default` it is required.

    `type`: int, float, str or bool. `min` and `max` are inclusive and for numbers. `choices`, if any, are all it may
    be.
    """

    name: str
    type: type[int] | type[float] | type[str] | type[bool]
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Value, ...] = ()
    help: str = ""

    def problems(self) -> Iterable[str]:
        if not _PARAMETER_NAME.fullmatch(self.name):
            yield "the name must be lowercase letters, digits and _, beginning with a letter"
        if self.type not in (int, float, str, bool):
            yield f"type must be int, float, str or bool, not {self.type!r}"
            return
        if self.type in (str, bool) and (self.min is not None or self.max is not None):
            yield f"min and max are for numbers, not for {self.type.__name__}"
        if self.min is not None and self.max is not None and self.min > self.max:
            yield f"min {self.min:g} is above max {self.max:g}"
        values = [("default", self.default)] if self.default is not None else []
        for where, value in [*values, *(("choice", choice) for choice in self.choices)]:
            wrong = self.refusal(value)
            if wrong:
                yield f"{where} {value!r} {wrong}"

    def refusal(self, value: object) -> str:
        """Why `value` is not allowed, or an empty string."""
        if not (type(value) is self.type or (self.type is float and type(value) is int)):
            return f"is not of type {self.type.__name__}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.min is not None and value < self.min:
                return f"is below min {self.min:g}"
            if self.max is not None and value > self.max:
                return f"is above max {self.max:g}"
        if self.choices and value not in self.choices:
            return "is none of the choices " + ", ".join(map(str, self.choices))
        return ""


@dataclass(frozen=True)
class Package:
    """Code as a Python package: the folder is the import package, `module` what is run, `image` a prebuilt executor.

    `folder` is relative to the repository's root; its requirements.txt, if any, is installed with it.
    """

    folder: str
    module: str
    image: str


@dataclass(frozen=True)
class WorkerPool:
    """One role of a job: `replicas` equal machines, all running the template's code with `args`.

    `machine` and `disk` must equal a pool's exactly. `replicas` is a number or a placeholder of an int parameter.
    """

    role: str
    machine: str
    disk: Disk = field(default_factory=Disk)
    accelerator: str | None = None
    accelerator_count: int | None = None
    replicas: int | str = 1
    args: tuple[str, ...] = ()

    @property
    def shape(self) -> Machine:
        """The machine with its accelerators. Raises MachineError."""
        return machine(self.machine, self.accelerator, self.accelerator_count)


@dataclass(frozen=True)
class JobTemplate:
    """A reviewed job that people submit by name.

    `${name}` in args, env and replicas stands for a parameter. `ways` are in order of preference. `timeout_s`, in
    seconds, ends the job; `max_replicas` bounds the machines of one job; `outputs` are paths under its output
    directory.
    """

    name: str
    summary: str
    code: Package
    worker_pools: tuple[WorkerPool, ...]
    kind: str = "custom-job"
    parameters: tuple[Parameter, ...] = ()
    ways: tuple[str, ...] = ("pool",)
    timeout_s: int = 24 * 3600
    max_replicas: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = tuple(_problems(self))
        if problems:
            raise ConfigError(
                f"template {self.name!r} is not well-formed",
                why="\n".join(problems),
                fix="mend templates/" + self.name.replace("-", "_") + ".py",
            )

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def replicas(self, pool: WorkerPool) -> tuple[int, int, int]:
        """The replicas of a worker pool: least, usual (the default, else the least), and most."""
        if isinstance(pool.replicas, int):
            return pool.replicas, pool.replicas, pool.replicas
        parameter = self.parameter(whole(pool.replicas) or "")
        assert parameter is not None, "checked in __post_init__"
        counts = sorted(int(choice) for choice in parameter.choices)
        least = counts[0] if counts else int(parameter.min or 1)
        most = counts[-1] if counts else int(parameter.max or least)
        return least, int(parameter.default) if parameter.default is not None else least, most


def _problems(template: JobTemplate) -> Iterable[str]:
    if not NAME.fullmatch(template.name):
        yield "name: at most 50 lowercase letters, digits and hyphens, beginning with a letter"
    yield from _choice("kind", template.kind, KINDS)
    for way in template.ways:
        yield from _choice("ways", way, WAYS)
    if not template.ways or len(set(template.ways)) < len(template.ways):
        yield f"ways: name each of {', '.join(WAYS)} at most once, and at least one"
    if not 0 < template.timeout_s <= MAX_TIMEOUT_S:
        yield f"timeout_s: {template.timeout_s} is not between 1 and {MAX_TIMEOUT_S} (7 days)"
    if not _MODULE.fullmatch(template.code.module):
        yield f"code.module: {template.code.module!r} is no module name"
    elif template.code.module.split(".")[0] != template.code.folder.rstrip("/").rsplit("/", 1)[-1]:
        yield f"code: module {template.code.module} is not in the import package {template.code.folder}"
    seen: set[str] = set()
    for parameter in template.parameters:
        if parameter.name in seen:
            yield f"parameter {parameter.name}: declared twice"
        seen.add(parameter.name)
        yield from (f"parameter {parameter.name}: {problem}" for problem in parameter.problems())
    yield from _worker_pool_problems(template)
    yield from _placeholder_problems(template, seen)


def _choice(where: str, value: str, known: tuple[str, ...]) -> Iterable[str]:
    if value in LATER:
        yield f"{where}: {value!r} ({LATER[value]}) is not supported yet; known: {', '.join(known)}"
    elif value not in known:
        yield f"{where}: unknown {value!r}; known: {', '.join(known)}"


def _worker_pool_problems(template: JobTemplate) -> Iterable[str]:
    pools = template.worker_pools
    if not 1 <= len(pools) <= MAX_WORKER_POOLS:
        yield f"worker_pools: {len(pools)}; Vertex AI takes 1 to {MAX_WORKER_POOLS}"
    if pools and pools[0].replicas != 1:
        yield f"worker pool {pools[0].role!r}: the first one is the chief and has exactly 1 replica"
    if len({pool.role for pool in pools}) < len(pools):
        yield "worker_pools: each needs a role of its own"
    for pool in pools:
        try:
            shape = pool.shape
        except MachineError as error:
            yield f"worker pool {pool.role!r}: {error.what} ({error.fix})"
            continue
        if pool.disk.type not in shape.disks:
            fitting = ", ".join(shape.disks)
            yield f"worker pool {pool.role!r}: disk {pool.disk.type!r} does not fit {shape.type}; fitting: {fitting}"
        yield from (f"worker pool {pool.role!r}: {problem}" for problem in _replica_problems(template, pool.replicas))


def _replica_problems(template: JobTemplate, replicas: int | str) -> Iterable[str]:
    if isinstance(replicas, int):
        if replicas < 1:
            yield f"replicas {replicas} is below 1"
        return
    parameter = template.parameter(whole(replicas) or "")
    if parameter is None or parameter.type is not int:
        yield f"replicas {replicas!r} is neither a number nor '${{name}}' of an int parameter"
        return
    least = min(map(int, parameter.choices), default=parameter.min)
    if least is None or least < 1 or not (parameter.choices or parameter.max is not None):
        yield f"replicas {replicas!r}: {parameter.name} counts machines: it needs min (1 or more) and max, or choices"


def _placeholder_problems(template: JobTemplate, declared: set[str]) -> Iterable[str]:
    for name in template.env:
        if not _ENV_NAME.fullmatch(name):
            yield f"env {name!r}: no C identifier"
    texts = [text for pool in template.worker_pools for text in pool.args] + list(template.env.values())
    used = {name for text in texts for name in names(text)}
    for unknown in sorted(used - declared - set(BUILT_IN)):
        yield f"${{{unknown}}} is no parameter; declared: {', '.join(sorted(declared)) or 'none'}"
    counted = {whole(pool.replicas) for pool in template.worker_pools if isinstance(pool.replicas, str)}
    for unused in sorted(declared - used - counted):
        yield f"parameter {unused} is used nowhere"
