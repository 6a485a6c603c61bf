"""The keys of a stack file and their types. The JSON Schema that editors use is generated from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.alias_generators import to_camel

from slipway.authoring.stack import bounds
from slipway.model.machines.table import accelerators, machine_types
from slipway.model.rules.workers import SMALLEST_DISK

FIXED, RANGE = "<fixed>", "<range>"


class Entry(BaseModel):
    """A mapping in the file: its keys in camelCase, no others, and no value taken for another type's. Programs write
    the fields' own names."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
    )


class AcceleratorEntry(Entry):
    """GPUs attached to each machine. Only for n1 machines: the others have theirs built in."""

    type: str = Field(
        description="The accelerator's name in the API.",
        examples=["NVIDIA_TESLA_T4"],
        json_schema_extra={"enum": list(accelerators())},
    )
    count: int = Field(description="How many on each machine.", examples=[1])


class DiskEntry(Entry):
    """Boot disk of each machine. A job fits the pool only if it names the same disk, which templates do for you."""

    type: Annotated[str, bounds.DISK_TYPE] | None = Field(
        default=None, description="Disk type; the machine's usual one when left out.", examples=["pd-ssd"]
    )
    size_gb: Annotated[int, bounds.DISK_SIZE] = Field(default=SMALLEST_DISK, description="Size in GB.", examples=[200])


class ReplicaRange(Entry):
    """An autoscaled pool: it grows with the jobs' needs and shrinks back."""

    min: Annotated[int, bounds.POOL_MIN] = Field(description="Machines kept even when idle.", examples=[1])
    max: Annotated[int, bounds.POOL_MAX] = Field(
        description="Most machines; more than min.", examples=[4], json_schema_extra={"minimum": 2}
    )
    initial: int | None = Field(
        default=None,
        description="Machines to begin with; min when left out. A later edit changes nothing.",
        examples=[2],
    )


Replicas = Annotated[
    Annotated[int, bounds.AT_LEAST_ONE, bounds.POOL_MAX, Tag(FIXED)] | Annotated[ReplicaRange, Tag(RANGE)],
    Discriminator(lambda value: RANGE if isinstance(value, dict | ReplicaRange) else FIXED),
]


class MachineEntry(Entry):
    """A machine that templates name by its key: machine="small"."""

    machine: str = Field(
        description="Machine type.", examples=["n1-standard-8"], json_schema_extra={"enum": list(machine_types())}
    )
    accelerator: AcceleratorEntry | None = None
    disk: DiskEntry | None = Field(default=None, description="The template's own when left out.")


class PoolEntry(MachineEntry):
    """A group of equal machines of the cluster."""

    disk: DiskEntry = DiskEntry()
    replicas: Replicas = Field(
        description="A number of machines, or {min, max} for a pool that grows and shrinks.",
        examples=["{min: 1, max: 4}"],
    )


KeyedMachine = Annotated[
    Annotated[str, Field(json_schema_extra={"enum": list(machine_types())}), Tag(FIXED)]
    | Annotated[MachineEntry, Tag(RANGE)],
    Discriminator(lambda value: RANGE if isinstance(value, dict | MachineEntry) else FIXED),
]
"""A machine type, or the machine with what it has."""


class EncryptionEntry(Entry):
    kms_key: str = Field(
        description="Customer-managed key, in the stack's region.",
        examples=["projects/P/locations/us-central1/keyRings/R/cryptoKeys/K"],
    )


class DnsPeeringEntry(Entry):
    domain: Annotated[str, bounds.DNS_SUFFIX] = Field(description="DNS suffix.", examples=["corp.example."])
    target_project: Annotated[str, bounds.TARGET] = Field(
        description="Project that hosts the zone.", examples=["acme-network"]
    )
    target_network: Annotated[str, bounds.TARGET] = Field(
        description="VPC network in that project.", examples=["shared"]
    )


class PscInterfaceEntry(Entry):
    """Private Service Connect interface."""

    network_attachment: str = Field(description="Name or full path of a network attachment.", examples=["training"])
    dns_peering_configs: list[DnsPeeringEntry] = Field(default=[], description="DNS zones that jobs resolve.")


class ServiceAccountEntry(Entry):
    custom: bool = Field(
        default=True,
        description="true: each job names its account, as templates do. false: all jobs run as Google's service agent.",
        examples=["true"],
    )


class AlternativeEntry(Entry):
    """A substitute for a cluster whose machines can't be had: other pools, or another region."""

    region: Annotated[str, bounds.REGION] | None = Field(
        default=None,
        description="Region to make it in; its jobs are sent there, and their results go to a bucket there.",
        examples=["us-east4"],
    )
    pools: dict[Annotated[str, bounds.POOL_NAME], PoolEntry] = Field(
        default={},
        description="Pools that differ, each with all its keys; the other pools are as the cluster has them.",
        examples=["{workers: {machine: a2-highgpu-8g, replicas: {min: 1, max: 4}}}"],
    )


class ClusterEntry(Entry):
    """A persistent resource, to which people submit by this name. Slipway derives its id, unless it is adopted."""

    id: Annotated[str, bounds.CLUSTER_ID] | None = Field(
        default=None,
        description="Adopts a cluster that exists already, which no deployment changes or deletes. The other keys "
        "describe it.",
        examples=["research-h100"],
    )
    pools: dict[Annotated[str, bounds.POOL_NAME], PoolEntry] = Field(
        description="Resource pools by name.",
        examples=["{workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}}"],
    )
    display_name: Annotated[str, bounds.DISPLAY_NAME] | None = Field(
        default=None,
        description="Name that the console shows; the cluster's name when left out.",
        examples=["Training, EU"],
    )
    network: Annotated[str, bounds.NETWORK] | None = Field(
        default=None,
        description="VPC network to peer with, by project number.",
        examples=["projects/123456789012/global/networks/training"],
    )
    reserved_ip_ranges: list[str] = Field(
        default=[], description="Names of allocated IP ranges in that network.", examples=["[vertex]"]
    )
    encryption: EncryptionEntry | None = None
    psc_interface: PscInterfaceEntry | None = None
    service_account: ServiceAccountEntry = ServiceAccountEntry()
    labels: dict[str, str] = Field(
        default={},
        description="Labels of the cluster.",
        examples=["{cost-center: research}"],
    )
    replacement: Literal["rollover", "in-place", "protect"] = Field(
        default="rollover",
        description="What an edit does. rollover: a new cluster is made beside the old one, which goes when idle. "
        "in-place: the old one is deleted first, once it is idle. protect: the edit is refused.",
        examples=["rollover"],
    )
    generation: Annotated[int, bounds.GENERATION] = Field(
        default=1, description="Raise it to get a new cluster with the same settings.", examples=[2]
    )
    retire_within: Annotated[str, bounds.RETIRE_WITHIN] | None = Field(
        default=None,
        description="Warn when a replaced cluster is still busy after so long: hours, days or weeks. Ends no job.",
        examples=["7d"],
    )
    create_within: Annotated[str, bounds.CREATE_WITHIN] | None = Field(
        default=None,
        description="How long `up` keeps trying to make it while there are no machines; 15m when left out.",
        examples=["2h"],
    )
    alternatives: list[AlternativeEntry] = Field(
        default=[],
        description="What to make instead when its machines can't be had, in this order. One that runs is kept.",
        examples=["[{pools: {workers: {machine: a2-highgpu-8g, replicas: 2}}}]"],
    )
    from_: Annotated[str, bounds.MOMENT] | None = Field(
        default=None,
        alias="from",
        description="Make it at this moment and not before: a date (midnight UTC), or a date and a time with its zone.",
        examples=["2027-01-10"],
    )
    until: Annotated[str, bounds.MOMENT] | None = Field(
        default=None,
        description="Give it up at this moment, as if its entry were gone: it is deleted when idle. Ends no job.",
        examples=["2027-03-01"],
    )
    idle_limit: Annotated[str, bounds.IDLE_LIMIT] | None = Field(
        default=None,
        description="Give it up after so long without a job. An edit of its generation, dates or limit brings it back.",
        examples=["3d"],
    )


_ASKS: dict[str, Any] = {"properties": {"mode": {"const": "request"}}, "required": ["mode"]}
_HAS_CONTACT: dict[str, Any] = {"properties": {"contactEmail": {"minLength": 1}}, "required": ["contactEmail"]}


class QuotaEntry(Entry):
    """The check, before anything is created, whether quota suffices."""

    model_config = ConfigDict(json_schema_extra={"if": _ASKS, "then": _HAS_CONTACT})

    mode: Literal["enforce", "warn", "request"] = Field(
        default="enforce",
        description="When quota does not suffice for what is created now. enforce: refuse. warn: warn, and go on. "
        "request: ask Google for more, and make the cluster once it is granted.",
        examples=["enforce"],
    )
    contact_email: Annotated[str, bounds.EMAIL] = Field(
        default="",
        description="Whom Google asks about an increase; needed for `request`. They must be able to change quotas.",
        examples=["ml@acme.example"],
    )
    justification: str = Field(
        default="",
        description="Why you need more quota, for Google to read.",
        examples=["fine-tuning for the search team"],
    )
    strict: bool = Field(
        default=False,
        description="Also refuse when pools at their maximum, or one of a template's several capacity types, "
        "would not fit.",
        examples=["true"],
    )


class ReservationEntry(Entry):
    """Machines that a project has reserved in Compute Engine, shared with every service (ALLOW_ALL)."""

    path: Annotated[str, bounds.RESERVATION_PATH] = Field(
        description="Its full path, in a zone of the stack's region.",
        examples=["projects/acme-ml-prod/zones/us-central1-a/reservations/h100"],
    )
    machine: str | None = Field(
        default=None,
        description="Its machines' type, so that a template that needs another is refused in preview.",
        examples=["a3-highgpu-8g"],
        json_schema_extra={"enum": list(machine_types())},
    )
    accelerator: AcceleratorEntry | None = None
    machines: Annotated[int, bounds.RESERVED] | None = Field(
        default=None, description="How many it holds.", examples=[2]
    )
    from_: Annotated[str, bounds.MOMENT] | None = Field(
        default=None,
        alias="from",
        description="When it begins, of a reservation in calendar mode: no submission takes its machines before.",
        examples=["2026-12-01"],
    )
    until: Annotated[str, bounds.MOMENT] | None = Field(
        default=None,
        description="When it ends: no submission takes its machines from then on. Compute Engine deletes them.",
        examples=["2026-12-08"],
    )
