"""Arguments of the components, as a program writes them. Each may be an Output, and is held to a stack file's rules.

A mapping may stand wherever a class of this module may, with the class's fields in camel case, as a stack file has them
(docs/stack-file.md). None stands for the default.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from textwrap import fill
from typing import Any, TypeVar

import pulumi

from slipway.base.codec import camel

T = TypeVar("T")
_KEY = "key"
COMPONENTS = ("workspace", "clusters", "templates", "quota", "template")
"""The arguments of components that are components themselves, or a file."""


class _Doc:
    """Docstring of a class of arguments with a sentence on each, which is read from its source when somebody asks."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, _: object, kind: type) -> str:
        from .schema import docs_of  # no deployment needs it

        try:
            sentences = docs_of(kind)
        except OSError:  # An installation without sources.
            return self.text
        told = (
            fill(f"    {each.name}: {sentences[each.name]}", 100, subsequent_indent=" " * 8) for each in fields(kind)
        )
        return "\n".join((self.text, "", "Args:", *told))


def told(kind: type[T]) -> type[T]:
    """Let `help()` of a class of arguments show the sentence on each."""
    setattr(kind, "__doc__", _Doc(inspect.cleandoc(kind.__doc__ or "")))  # noqa: B010 - a docstring is text for mypy
    return kind


def at_key(key: str) -> Any:
    """Return a field whose key in the component's entry is `key`, where dots lead into mappings. A key with a colon is
    one of the whole configuration."""
    return field(default=None, metadata={_KEY: key})


class DiskType(StrEnum):
    """Type of a machine's boot disk."""

    PD_SSD = "pd-ssd"
    """SSD persistent disk."""
    PD_STANDARD = "pd-standard"
    """Standard persistent disk."""
    HYPERDISK_BALANCED = "hyperdisk-balanced"
    """Hyperdisk Balanced."""


class QuotaMode(StrEnum):
    """Consequence of quota that does not suffice."""

    ENFORCE = "enforce"
    """An error before anything is created."""
    WARN = "warn"
    """A warning."""
    REQUEST = "request"
    """A request to Google for more quota."""


class Replacement(StrEnum):
    """Way to carry out an edit of a cluster."""

    ROLLOVER = "rollover"
    """The new generation is created first. The old one is deleted after its last job."""
    IN_PLACE = "in-place"
    """The old generation is deleted first, once it is idle."""
    PROTECT = "protect"
    """The edit is rejected."""


@told
@dataclass(kw_only=True)
class AcceleratorArgs:
    """GPUs attached to each machine, for N1 machines alone: other types have theirs built in."""

    type: pulumi.Input[str]
    """Name in the API: NVIDIA_TESLA_T4."""
    count: pulumi.Input[int]
    """Number on each machine."""


@told
@dataclass(kw_only=True)
class DiskArgs:
    """Boot disk of each machine."""

    type: pulumi.Input[str | DiskType] | None = None
    """Disk type; the machine's usual one by default."""
    size_gb: pulumi.Input[int] | None = None
    """Size in GB; 100 by default."""


@told
@dataclass(kw_only=True)
class ReplicasArgs:
    """Number of machines of an autoscaled pool."""

    min: pulumi.Input[int]
    """Machines that are kept when idle, at least 1. A change makes a new generation of the cluster."""
    max: pulumi.Input[int]
    """Most machines, more than `min`. A change makes a new generation."""
    initial: pulumi.Input[int] | None = None
    """Machines to begin with; `min` by default. A change does nothing to a living cluster."""


@told
@dataclass(kw_only=True)
class MachineArgs:
    """A machine; templates may name it by its key."""

    machine: pulumi.Input[str]
    """Machine type: n1-standard-8."""
    accelerator: pulumi.Input[AcceleratorArgs | Mapping[str, Any]] | None = None
    """GPUs of N1 machines; none by default."""
    disk: pulumi.Input[DiskArgs | Mapping[str, Any]] | None = None
    """Boot disk; 100 GB of the usual type by default."""


@told
@dataclass(kw_only=True)
class PoolArgs(MachineArgs):
    """A pool of equal machines. A change of any field makes a new generation of the cluster."""

    replicas: pulumi.Input[int] | pulumi.Input[ReplicasArgs | Mapping[str, Any]]
    """Number of machines, or the bounds of a pool that grows with its jobs and shrinks back."""


@told
@dataclass(kw_only=True)
class DnsPeeringArgs:
    """A DNS zone that jobs resolve."""

    domain: pulumi.Input[str]
    """DNS suffix, which ends with a dot: corp.example."""
    target_project: pulumi.Input[str]
    """Project that hosts the zone."""
    target_network: pulumi.Input[str]
    """VPC network in that project."""


@told
@dataclass(kw_only=True)
class PscInterfaceArgs:
    """Private Service Connect interface of a cluster."""

    network_attachment: pulumi.Input[str]
    """Name or full path of a network attachment."""
    dns_peering_configs: pulumi.Input[Sequence[pulumi.Input[DnsPeeringArgs | Mapping[str, Any]]]] | None = None
    """DNS zones; none by default."""


@told
@dataclass(kw_only=True)
class AlternativeArgs:
    """A substitute for a cluster whose machines can't be had."""

    region: pulumi.Input[str] | None = None
    """Region to make it in; the cluster's own by default."""
    pools: pulumi.Input[Mapping[str, pulumi.Input[PoolArgs | Mapping[str, Any]]]] | None = None
    """Pools that differ, each whole; the cluster's own by default."""


@told
@dataclass(kw_only=True)
class TrainerArgs:
    """Another account for the jobs of templates that name it."""

    account: pulumi.Input[str] | None = None
    """Account id; slipway-STACK-NAME by default. A new one comes beside the old one, which goes after its last job."""
    submitters: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """IAM members that may submit its templates, and so may run any code as it; nobody by default."""


@told
@dataclass(kw_only=True)
class TeamArgs:
    """A team of a workspace."""

    submitters: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """IAM members of the team; each may submit."""
    clusters: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """Names of clusters for this team's jobs alone; those that no team lists are for everybody."""
    budget: pulumi.Input[float] | None = None
    """USD a month."""
    machines: pulumi.Input[Mapping[str, pulumi.Input[str] | pulumi.Input[MachineArgs | Mapping[str, Any]]]] | None = (
        None
    )
    """Machines of its jobs, by keys of the workspace's `machines`."""


@told
@dataclass(kw_only=True)
class ReservationArgs:
    """Machines that a project has reserved in Compute Engine."""

    path: pulumi.Input[str]
    """Full path: projects/P/zones/Z/reservations/R."""
    machine: pulumi.Input[str] | None = None
    """Machine type, so that a template that needs another one is refused."""
    accelerator: pulumi.Input[AcceleratorArgs | Mapping[str, Any]] | None = None
    """GPUs of N1 machines."""
    machines: pulumi.Input[int] | None = None
    """Number of machines."""
    begins: pulumi.Input[str] | None = at_key("from")
    """When it begins, of a reservation in calendar mode: 2026-12-01. No submission takes its machines before."""
    ends: pulumi.Input[str] | None = at_key("until")
    """When it ends. No submission takes its machines from then on, and Compute Engine deletes them."""


@told
@dataclass(kw_only=True)
class BudgetArgs:
    """The limits of a workspace's cost a month. A change holds for the next submission."""

    stack: pulumi.Input[float] | None = None
    """USD a month in all, idle machines included."""
    teams: pulumi.Input[Mapping[str, pulumi.Input[float]]] | None = None
    """USD a month by team."""
    users: pulumi.Input[Mapping[str, pulumi.Input[float]]] | None = None
    """USD a month by user; it only warns."""
    enforce: pulumi.Input[bool] | None = None
    """Refuse a job beyond the budget; False by default."""


@told
@dataclass(kw_only=True)
class SessionsArgs:
    """The limits of a workspace's sessions. A change holds for the next one."""

    max: pulumi.Input[str] | None = None
    """The longest, as 8h; as long as a job may by default."""
    pools: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """The only pools that they may run on, as CLUSTER/POOL; wherever a job may by default."""


@told
@dataclass(kw_only=True)
class AgentsArgs:
    """Allowance of AI agents, spent without a person. A change holds for the next submission."""

    per_day: pulumi.Input[float]
    """USD that jobs of all agents may cost in 24 hours beside the pools."""
    machines: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """Machines that these jobs may take; any by default."""


def key_of(declared: Field[Any]) -> str:
    """Return a field's key in its entry of a stack file."""
    return declared.metadata.get(_KEY) or camel(declared.name)


def paths(args: Any, root: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return where a stack's configuration has the arguments of a component, by their names. `root`: its entry."""
    keys = {declared.name: key_of(declared) for declared in fields(args) if declared.name not in COMPONENTS}
    return {name: (key,) if ":" in key else (*root, *key.split(".")) for name, key in keys.items()}


def write(config: dict[str, Any], args: Any, values: Mapping[str, Any], root: Iterable[str]) -> None:
    """Write a component's arguments into a stack's configuration. `values`: the known ones, by their names."""
    for name, (*path, last) in paths(args, root).items():
        if name in values:
            below = config
            for part in path:
                below = below.setdefault(part, {})
            below[last] = values[name]


def read(kind: type[T], config: Mapping[str, Any], *root: str) -> T:
    """Return the arguments that a stack's configuration has; what is below them keeps the file's own keys."""
    given: dict[str, Any] = {}
    for name, path in paths(kind, root).items():
        value: Any = config
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            given[name] = value
    return kind(**given)
