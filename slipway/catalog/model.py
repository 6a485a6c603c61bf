"""The catalog as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slipway.money import Price
from slipway.revision import Revision

Scalar = int | float | str | bool
ParameterType = Literal["int", "float", "str", "bool"]

SCHEMA = 2
"""Of the document that is published: what it holds may be added to without a change, and changed only with one."""


@dataclass(frozen=True)
class Pool:
    """A resource pool as deployed. `price_per_hour` is one machine's."""

    name: str
    machine: str
    accelerator: str | None
    accelerator_count: int
    disk_type: str
    disk_gb: int
    min: int
    max: int
    autoscaled: bool
    price_per_hour: Price


@dataclass(frozen=True)
class Cluster:
    """`name` is what people say, `id` the persistent resource of the current generation."""

    name: str
    id: str
    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class Parameter:
    """A template's parameter. `required` when it has no default; bounds are inclusive."""

    name: str
    type: ParameterType
    required: bool
    default: Scalar | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""


@dataclass(frozen=True)
class Offer:
    """A template compiled for one capacity type and one case of its parameters.

    `cluster` and `pools` (of each worker pool, in order) are set for the capacity type `pool`.

    `request` is the service's own JSON of a job of `kind`, with `${…}` placeholders; `why` says why it is not
    available, and for one that `lacks_quota` that was so at the last deployment. It applies where each parameter of
    `when` has one of its values. `wait`: the seconds after which a submission falls back to the next offer, None
    for never. `roles` of the worker pools in order. `note`: where an older page says something else about the type.
    """

    capacity_type: str
    available: bool
    why: str
    cluster: str
    pools: tuple[str, ...]
    price_per_hour: Price
    request: Mapping[str, Any]
    kind: str = "custom-job"
    when: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    wait: float | None = None
    roles: tuple[str, ...] = ()
    note: str = ""
    lacks_quota: bool = False

    def label(self, usual_kind: str) -> str:
        """The capacity type, told from the template's other offers: `spot (model=2b or 9b) as training-pipeline`."""
        when = ", ".join(f"{name}={' or '.join(map(str, values))}" for name, values in self.when.items())
        words = [self.capacity_type, f"({when})" if when else "", f"as {self.kind}" if self.kind != usual_kind else ""]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Study:
    """What a tuning job searches. The numbers of trials may be `${…}` placeholders; metrics are (id, goal)."""

    max_trials: int | str
    parallel_trials: int | str
    algorithm: str
    metrics: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """`kinds`: as what it may be submitted, the usual one first; `code_flag`: also with code of one's own.

    `package` is the gs:// URI of its code, empty for an image. `code_why`: who forbids code of one's own.
    """

    name: str
    summary: str
    kind: str
    roles: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    offers: tuple[Offer, ...]
    kinds: tuple[str, ...] = ()
    package: str = ""
    code_flag: bool = False
    code_why: str = ""
    study: Study | None = None


@dataclass(frozen=True)
class Catalog:
    """What one stack offers. `retiring` are the ids of clusters that finish their jobs and go."""

    stack: str
    project: str
    region: str
    commit: str
    dirty: bool
    work_bucket: str
    trainer: str
    clusters: Mapping[str, Cluster]
    retiring: tuple[str, ...]
    templates: Mapping[str, Template]
    source: str = field(default="", compare=False)

    @property
    def revision(self) -> Revision:
        """What it was deployed from; of no commit for a catalog that does not tell."""
        return Revision(self.commit, self.dirty)

    def cluster_named(self, cluster_id: str) -> Cluster | None:
        return next((cluster for cluster in self.clusters.values() if cluster.id == cluster_id), None)
