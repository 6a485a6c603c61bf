"""The declaration of a job in a template file, before it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from slipway.authoring.template.worker_pool import Code, Package, WorkerPool
from slipway.base.formatting import join, plain, unfit
from slipway.model.capacity import POOL
from slipway.model.catalog import template as offered
from slipway.model.catalog.forms import PARAMETER_NAME
from slipway.model.catalog.parameter_types import BY_NAME, BY_PYTHON, Scalar, Value
from slipway.model.catalog.placeholders import whole
from slipway.model.kinds import CUSTOM_JOB, KINDS
from slipway.model.kinds.settings import ModelUpload, Study

LEAST_IDLE_S = 60
"""The shortest time of idle GPUs that ends a job: code that loads data must not be taken for idle."""


def file_of(name: str) -> str:
    """Return the name of the file in `templates/` that defines a template."""
    return f"{name.replace('-', '_')}.py"


@dataclass(frozen=True)
class Parameter:
    """A value that a submission may set.

    - `type`: int, float, str or bool, or a list: list[int], list[float] or list[str].
    - `default`: the value that a submission need not give; without it the parameter is required.
    - `min` and `max`: inclusive bounds of a number, in a list of each.
    - `choices`: all its possible values, if any are named; of a list those of each item.
    - `command`: its value is a command that no shell reads, and `{lr}` in it stands for a parameter that needs no
      declaration: `-p lr=0.1`.
    """

    name: str
    type: type[int] | type[float] | type[str] | type[bool] | type[list[int]] | type[list[float]] | type[list[str]]
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""
    command: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.default, list):
            object.__setattr__(self, "default", tuple(self.default))

    def problems(self) -> Iterable[str]:
        if not PARAMETER_NAME.fits(self.name):
            yield "the name must be lowercase letters, digits and _, beginning with a letter"
        if self.type not in BY_PYTHON:
            yield f"type must be {join(BY_NAME, 'or')}, not {self.type!r}"
            return
        if not BY_PYTHON[self.type].number and (self.min is not None or self.max is not None):
            yield f"min and max are for numbers, not for {BY_PYTHON[self.type].name}"
        if self.command and self.type is not str:
            yield f"command is for str, not for {BY_PYTHON[self.type].name}"
        bounds = {name: bound for name, bound in (("min", self.min), ("max", self.max)) if bound is not None}
        endless = [f"{name} {wrong}; leave it out" for name, bound in bounds.items() if (wrong := unfit(bound))]
        if endless:
            yield from endless
            return
        if self.min is not None and self.max is not None and self.min > self.max:
            yield f"min {plain(self.min)} is above max {plain(self.max)}"
        values = [("default", self.default)] if self.default is not None else []
        for where, value in [*values, *(("choice", choice) for choice in self.choices)]:
            if type(value) is int and unfit(value):  # Python does not write numbers of thousands of digits.
                yield f"{where} {unfit(value)}"
            elif wrong := (self.published.each if where == "choice" else self.published).refusal(value):
                yield f"{where} {value!r} {wrong}"

    @property
    def published(self) -> offered.Parameter:
        """The parameter as the catalog has it."""
        return offered.Parameter(**{**vars(self), "type": BY_PYTHON[self.type].name})

    @property
    def finite(self) -> tuple[Scalar, ...]:
        """All its possible values, when they can be listed."""
        kind = BY_PYTHON[self.type]
        return () if kind.item else kind.values or self.choices

    @property
    def usual(self) -> Value:
        """The default, else an allowed value."""
        if self.default is not None:
            return self.default
        kind = BY_PYTHON[self.type]
        single = kind.item or kind
        bounds = [bound for bound in (self.min, self.max, 1) if bound is not None] if single.number else []
        value: Scalar = self.choices[0] if self.choices else single.python(*bounds[:1])
        return (value,) if kind.item else value


@dataclass(frozen=True)
class Scheduling:
    """The scheduling of a job.

    - `max_wait_s`: the time for which a flex-start job waits for its machines; 0 is forever, None the service's own.
    - `restart_job_on_worker_restart`: all replicas are restarted with one.
    - `disable_retries`: nothing is restarted, whatever the field above says.
    """

    max_wait_s: int | None = None
    restart_job_on_worker_restart: bool = False
    disable_retries: bool = False


@dataclass(frozen=True)
class Idle:
    """When a job is ended because nobody uses its GPUs. Its log tells that after half of the time; then its code gets a
    notice, as before a lost machine, and what it wrote is kept.

    - `after_s`: seconds for which all GPUs of a machine were idle.
    - `below`: the use below which a GPU is idle, a share from 0 to 1.
    """

    after_s: int
    below: float = 0.05

    def problems(self) -> Iterable[str]:
        if self.after_s < LEAST_IDLE_S:
            yield f"after_s: {self.after_s} is below {LEAST_IDLE_S}"
        if not 0 < self.below <= 1:
            yield f"below: {self.below} is not a share above 0 and up to 1"


@dataclass(frozen=True)
class NfsMount:
    """A mount of `server:path` at `mount_point`, under /mnt/nfs/. Needs a network that reaches the server."""

    server: str
    path: str
    mount_point: str


@dataclass(frozen=True)
class Shape:
    """Other machines of the same job, for a submission that finds no capacity for those before them.

    - `worker_pools`: all of the job's.
    - `capacity_types`: the template's, or the variant's, where it is empty.
    """

    worker_pools: tuple[WorkerPool, ...]
    capacity_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """Machines and capacity types for some values of parameters. Of several variants that fit, the first one applies.

    - `when`: the condition: each of these parameters has its value, or one of its values. The parameters have choices,
      or are bool.
    - `worker_pools` and `capacity_types`: the template's own where they are empty.
    - `shapes`: after its own worker pools; the template's, where it has the template's worker pools.
    - `refusal`: why these values do not go together. Then nothing can run, and a submission fails before anything is
      sent.
    """

    when: Mapping[str, Value]
    worker_pools: tuple[WorkerPool, ...] = ()
    capacity_types: tuple[str, ...] = ()
    refusal: str = ""
    shapes: tuple[Shape, ...] = ()

    @property
    def values(self) -> Mapping[str, tuple[Scalar, ...]]:
        return {name: value if isinstance(value, tuple) else (value,) for name, value in self.when.items()}


@dataclass(frozen=True)
class Declaration:
    """The whole declaration of a template file's job, as written. `JobTemplate` explains and checks the fields."""

    name: str
    summary: str
    code: Code | None = None
    worker_pools: tuple[WorkerPool, ...] = ()
    kinds: tuple[str, ...] = (CUSTOM_JOB.name,)
    parameters: tuple[Parameter, ...] = ()
    capacity_types: tuple[str, ...] = (POOL,)
    timeout_s: int = 24 * 3600
    env: Mapping[str, str] = field(default_factory=dict)
    study: Study | None = None
    model: ModelUpload | None = None
    pipeline: str | None = None
    scheduling: Scheduling = field(default_factory=Scheduling)
    idle: Idle | None = None
    waits: Mapping[str, int] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    shapes: tuple[Shape, ...] = ()
    regions: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    nfs_mounts: tuple[NfsMount, ...] = ()
    network: str | None = None
    trainer: str | None = None
    service_account: str | None = None
    enable_web_access: bool = False
    enable_dashboard_access: bool = False
    tensorboard: str | None = None
    experiment: str | None = None
    code_flag: bool = False
    checkpoints: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The default kind of its submissions."""
        return self.kinds[0]

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def all_shapes(self) -> tuple[Shape, ...]:
        """The shapes of the template, and those of its variants."""
        return (*self.shapes, *(shape for variant in self.variants for shape in variant.shapes))

    @property
    def all_pools(self) -> tuple[WorkerPool, ...]:
        """The worker pools of the template, and those of its variants and of all shapes."""
        machines = (self.worker_pools, *(variant.worker_pools for variant in self.variants))
        return tuple(chain.from_iterable((*machines, *(shape.worker_pools for shape in self.all_shapes))))

    @property
    def codes(self) -> tuple[Code, ...]:
        """The code of all worker pools, each once."""
        return tuple(dict.fromkeys(filter(None, (self.code, *(pool.code for pool in self.all_pools)))))

    @property
    def packages(self) -> tuple[Package, ...]:
        return tuple(code for code in self.codes if isinstance(code, Package))

    @property
    def uploaded(self) -> tuple[Code, ...]:
        """The codes that have an object in the catalog's bucket: packages, and images for their launcher."""
        return tuple(code for code in self.codes if isinstance(code, Package) or code.launched)

    @property
    def at_home(self) -> str:
        """The names that it uses in the stack's own region, where its jobs must run then; empty for none."""
        if self.tensorboard:
            return "TensorBoard"
        return "parent model" if self.model and self.model.parent_model else ""

    def trials_at_once(self, kind: str) -> int:
        """Return the number of the job's concurrent trials at the usual numbers; 1 for kinds without trials."""
        return self._usual(self.study.parallel_trials) if KINDS[kind].has_trials and self.study else 1

    def usual_replicas(self, pool: WorkerPool) -> int:
        """Return the replicas of a worker pool with the defaults of its parameters."""
        return self._usual(pool.replicas)

    def _usual(self, number: int | str) -> int:
        """Return a number, or of the int parameter that a placeholder names the default, else the least value."""
        if isinstance(number, int):
            return number
        parameter = self.parameter(whole(number) or "")
        assert parameter is not None, "checked when the template was made"
        if parameter.default is not None:
            return int(str(parameter.default))
        return min(map(int, parameter.choices), default=int(parameter.min or 1))
