"""The types a template file is written with. A template checks itself: one that exists is well-formed.

Errors are `ConfigError`s that name the template and the field. Whether it fits a pool is `slipway.template.proof`'s,
what Vertex AI allows `slipway.rules`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.capacity import POOL
from slipway.catalog.placeholders import whole
from slipway.errors import ConfigError
from slipway.kinds import CUSTOM_JOB, KINDS
from slipway.kinds.model_upload import ModelUpload
from slipway.kinds.study import Study
from slipway.template.code import Code, Package
from slipway.template.parameter import Parameter
from slipway.template.variant import Variant
from slipway.template.worker_pool import WorkerPool


@dataclass(frozen=True)
class Scheduling:
    """`max_wait_s`: how long a flex-start job waits for its machines, 0 forever, None for the wait of flex-start.

    `restart_job_on_worker_restart` starts all replicas again with one; `disable_retries` overrides it.
    """

    max_wait_s: int | None = None
    restart_job_on_worker_restart: bool = False
    disable_retries: bool = False


@dataclass(frozen=True)
class NfsMount:
    """`server:path` is mounted at `mount_point`, under /mnt/nfs/. Needs a network that reaches the server."""

    server: str
    path: str
    mount_point: str


@dataclass(frozen=True)
class JobTemplate:
    """A reviewed job that people submit by name.

    `${name}` in args, env, replicas, the study's counts and the model's names stands for a parameter.

    - `kinds`: as what it may be submitted; the first one unless `--as` says another. "hyperparameter-tuning-job" needs
      a `study`; "training-pipeline" uploads `model`, if there is one. Arguments `--NAME=…` that the study searches are
      left to the service in a tuning job.
    - `capacity_types`: in order of preference. `waits`: by capacity type, the seconds after which a submission falls
      back to the next one.
    - `variants`: other machines and capacity types for some values of parameters.
    - `timeout_s`, in seconds, ends the job.
    - `secrets`: by environment variable, a secret of Secret Manager: its name, or projects/…/secrets/…/versions/…. The
      job gets the reference as `NAME__SECRET` and reads the value with its own identity; the launcher of a package does
      that for it and sets NAME.
    - `network` projects/NUMBER/global/networks/NAME; `service_account` the trainer's when None; `tensorboard` an id or
      its full name, not together with `experiment`, the name of a Vertex AI experiment.
    - `code_flag`: it may be submitted with `--code`, on stacks that allow it.
    """

    name: str
    summary: str
    code: Code
    worker_pools: tuple[WorkerPool, ...]
    kinds: tuple[str, ...] = (CUSTOM_JOB.name,)
    parameters: tuple[Parameter, ...] = ()
    capacity_types: tuple[str, ...] = (POOL,)
    timeout_s: int = 24 * 3600
    env: Mapping[str, str] = field(default_factory=dict)
    study: Study | None = None
    model: ModelUpload | None = None
    scheduling: Scheduling = field(default_factory=Scheduling)
    waits: Mapping[str, int] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    nfs_mounts: tuple[NfsMount, ...] = ()
    network: str | None = None
    service_account: str | None = None
    enable_web_access: bool = False
    enable_dashboard_access: bool = False
    tensorboard: str | None = None
    experiment: str | None = None
    code_flag: bool = False

    def __post_init__(self) -> None:
        from slipway.template.validation import problems

        found = tuple(problems(self))
        if found:
            raise ConfigError(
                f"template {self.name!r} is not well-formed",
                why="\n".join(found),
                fix="correct templates/" + self.name.replace("-", "_") + ".py",
            )

    @property
    def kind(self) -> str:
        """What it is submitted as when nobody says otherwise."""
        return self.kinds[0]

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def packages(self) -> tuple[Package, ...]:
        """Every package that some worker pool runs, once."""
        pools = (*self.worker_pools, *(pool for variant in self.variants for pool in variant.worker_pools))
        codes = dict.fromkeys((self.code, *(pool.code for pool in pools)))
        return tuple(code for code in codes if isinstance(code, Package))

    def trials_at_once(self, kind: str) -> int:
        """How many of the job's trials run at the same time at the usual numbers; 1 for kinds without trials."""
        return self.count(self.study.parallel_trials)[1] if KINDS[kind].has_trials and self.study else 1

    def replicas(self, pool: WorkerPool) -> tuple[int, int, int]:
        """The replicas of a worker pool: least, usual (the default, else the least), and most."""
        return self.count(pool.replicas)

    def count(self, text: int | str) -> tuple[int, int, int]:
        """Least, usual and most of a number, or of the int parameter that a placeholder names."""
        if isinstance(text, int):
            return text, text, text
        parameter = self.parameter(whole(text) or "")
        assert parameter is not None, "checked in __post_init__"
        counts = sorted(int(choice) for choice in parameter.choices)
        least = counts[0] if counts else int(parameter.min or 1)
        most = counts[-1] if counts else int(parameter.max or least)
        return least, int(parameter.default) if parameter.default is not None else least, most
