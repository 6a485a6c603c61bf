"""The catalog: what a stack publishes for everybody who submits. These types are its definition, for writer and reader.

Readers pass over keys that they do not know, so adding a field keeps the schema; renaming or removing one raises it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal

from slipway.catalog.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, At, Else, Form, malformed, one_of, read, write
from slipway.catalog.placeholders import whole
from slipway.kinds import CUSTOM_JOB, KINDS
from slipway.labels import Revision
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import UNKNOWN, Price, price_text

SCHEMA = 2
NAME = "catalog.json"
"""The object's, in the catalog bucket."""

Scalar = int | float | str | bool
ParameterType = Literal["int", "float", "str", "bool"]


def _form(pattern: str, expected: str) -> Form:
    """These become parts of host names, paths and files, so nothing else is allowed there."""
    return Form(lambda text: re.fullmatch(pattern, text) is not None, expected)


def _read_price(body: Mapping[str, Any]) -> Price:
    """What `pricePerHour` and `priceComplete` say together; a catalog without the flag tells whole prices alone."""
    value, complete = body.get("pricePerHour"), body.get("priceComplete", True)
    if value is None:
        return UNKNOWN
    try:
        known = Decimal(str(value))
    except InvalidOperation:
        known = Decimal("NaN")
    if not known.is_finite():
        raise malformed(value, "a price or null", "pricePerHour")
    if not isinstance(complete, bool):
        raise malformed(complete, "true or false", "priceComplete")
    return Price(known, complete)


def _write_price(price: Price) -> Mapping[str, Any]:
    return {"pricePerHour": price_text(price), "priceComplete": price.complete}


@dataclass(frozen=True)
class _Machine:
    """What the keys of a pool say of its machines."""

    machine: str
    accelerator: Annotated[str | None, Else(None)]
    accelerator_count: Annotated[int, Else(0)]
    disk_type: Annotated[str, At("disk.type")]
    disk_gb: Annotated[int, At("disk.sizeGb")]


def _read_machine(body: Mapping[str, Any]) -> MachineSpec:
    found = read(_Machine, body)
    return MachineSpec(found.machine, found.accelerator, found.accelerator_count, Disk(found.disk_type, found.disk_gb))


def _write_machine(spec: MachineSpec) -> Mapping[str, Any]:
    return write(_Machine(spec.type, spec.accelerator, spec.accelerator_count, spec.disk.type, spec.disk.size_gb))


def _read_metrics(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    value = body.get("metrics", [])
    ok = isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("goal"), str) for one in value
    )
    if not ok:
        raise malformed(value, "a list of metrics with id and goal", "metrics")
    return tuple((one["id"], one["goal"]) for one in value)


def _write_metrics(metrics: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    return {"metrics": [{"id": name, "goal": goal} for name, goal in metrics]}


_name = _form(r"[a-z]([a-z0-9-]*[a-z0-9])?", "a name")
_project = _form(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]*[a-z0-9]", "a project's id")
_bucket = _form(r"[a-z0-9][a-z0-9_.-]*", "a bucket's name")
_Text = Annotated[str, Else("")]
_Texts = Annotated[tuple[str, ...], Else(())]
_Count = Annotated[
    int | str, Form(lambda count: isinstance(count, int) or bool(whole(count)), "a whole number or a parameter")
]
_Values = Annotated[tuple[Scalar, ...], Form(bool, "a list of values")]
_Hourly = Annotated[Price, Across(_read_price, _write_price)]


@dataclass(frozen=True)
class Pool:
    """A resource pool as deployed. `price_per_hour` is one machine's."""

    name: Annotated[str, KEY_OF_ENTRY]
    machine: Annotated[MachineSpec, Across(_read_machine, _write_machine)]
    min: int
    max: int
    autoscaled: bool
    price_per_hour: _Hourly


@dataclass(frozen=True)
class Cluster:
    """`name` is what people say, `id` the persistent resource of the current generation."""

    name: Annotated[str, KEY_OF_ENTRY]
    id: Annotated[str, _name]
    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class Parameter:
    """A template's parameter, `required` when it has no default; bounds are inclusive."""

    name: str
    type: ParameterType
    default: Scalar | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""

    @property
    def required(self) -> bool:
        return self.default is None


@dataclass(frozen=True)
class Offer:
    """A template compiled for one capacity type and one case of its parameters.

    `cluster` and `pools` are set for the capacity type `pool`. `pools` and `roles` have one value for each of the
    request's workerPoolSpecs, empty where a worker pool is skipped.

    `request` is the body to post for a job of `kind`, with placeholders (`slipway.catalog.placeholders`). `why` says
    why it is not available, and for one that `lacks_quota` that was so at the last deployment.

    It applies where each parameter of `when` has one of its values; for any values, the offers of a kind that apply are
    those of one variant. `wait`: the seconds after which a submission falls back to the next offer, None for never.
    `note`: where an older page says something else about the type. The price is that of all machines at the usual
    replicas.
    """

    capacity_type: str
    available: bool
    why: _Text
    cluster: _Text
    pools: _Texts
    price_per_hour: _Hourly
    request: Mapping[str, Any]
    kind: Annotated[str, Form(KINDS.__contains__, one_of(KINDS))] = CUSTOM_JOB.name
    when: Mapping[str, _Values] = field(default_factory=dict)
    wait: float | None = None
    roles: tuple[str, ...] = ()
    note: str = ""
    lacks_quota: bool = False

    def label(self, usual_kind: str, *, with_cluster: bool = False) -> str:
        """The capacity type, told from the template's other offers: `spot (model=2b or 9b) as training-pipeline`."""
        when = ", ".join(f"{name}={' or '.join(map(str, values))}" for name, values in self.when.items())
        kind = f"as {self.kind}" if self.kind != usual_kind else ""
        words = [self.capacity_type, self.cluster if with_cluster else "", f"({when})" if when else "", kind]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Study:
    """What a tuning job searches. The numbers of trials may be placeholders; metrics are (id, goal)."""

    max_trials: _Count
    parallel_trials: _Count
    algorithm: str
    metrics: Annotated[tuple[tuple[str, str], ...], Across(_read_metrics, _write_metrics)]
    parameters: _Texts


@dataclass(frozen=True)
class Template:
    """`kinds`: as what it may be submitted, the usual one first; `code_flag`: also with code of one's own.

    `package` is the gs:// URI of its code, empty for an `image`. `code_why`: who forbids code of one's own. `offers`
    are in order of preference.
    """

    name: Annotated[str, KEY_OF_ENTRY]
    summary: _Text
    kind: str
    roles: _Texts
    parameters: Annotated[tuple[Parameter, ...], Else(())]
    offers: Annotated[tuple[Offer, ...], Else(())]
    kinds: tuple[str, ...] = ()
    package: str = ""
    code_flag: bool = False
    code_why: str = ""
    study: Study | None = None
    image: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", self.kinds or (self.kind,))


@dataclass(frozen=True)
class Catalog:
    """What one stack offers. `retiring` are the ids of clusters that finish their jobs and go; `trainer` is the address
    of the account that jobs run as."""

    stack: Annotated[str, _name]
    project: Annotated[str, _project]
    region: Annotated[str, _name]
    commit: _Text
    dirty: Annotated[bool, Else(False)]
    work_bucket: Annotated[str, At("storage.work"), _bucket]
    trainer: _Text
    clusters: Mapping[str, Cluster]
    retiring: _Texts
    templates: Mapping[str, Template]
    catalog_bucket: Annotated[str, At("storage.catalog")] = ""
    source: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)

    @property
    def revision(self) -> Revision:
        """What it was deployed from; of no commit for a catalog that does not tell."""
        return Revision(self.commit, self.dirty)

    def cluster_named(self, cluster_id: str) -> Cluster | None:
        return next((cluster for cluster in self.clusters.values() if cluster.id == cluster_id), None)
