"""Clusters (persistent resources) with their pools, and reservations, as a stack declares them.

Field meanings: Vertex AI `persistentResources` (v1) and `gcp.vertex.AiPersistentResource`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Self, TypeVar

from slipway.base import codec
from slipway.base.codec import At
from slipway.base.formatting import last_part, span
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.model.season import ALWAYS, Moment, Season, moment_in_words

Place = TypeVar("Place")

ACCOUNTS_FLAG = "gcloud ai persistent-resources create --enable-custom-service-account"
ROLLOVER, IN_PLACE, PROTECT = "rollover", "in-place", "protect"
"""The ways to carry out an edit of a cluster: a new one beside the old one, after it, or not at all."""

CREATE_WITHIN_S = 15 * 60.0
"""The default time for which a creation is tried again."""

SERVICE_ACCOUNT = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+gserviceaccount\.com"
"""The form of a service account's address. Here because templates use it too, and need no YAML."""
PROJECT = "([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]"
"""The form of a project's id."""


@dataclass(frozen=True)
class PoolSpec:
    """A resource pool: equal machines, a fixed number of them or as many as jobs need within bounds."""

    name: str
    machine: MachineSpec
    #: A fixed pool has min == max == replicas.
    min: int
    max: int
    autoscaled: bool
    #: The number of machines at the pool's creation.
    replicas: int

    def request(self) -> dict[str, Any]:
        """Return a `resourcePools` entry."""
        bounds = {"minReplicaCount": str(self.min), "maxReplicaCount": str(self.max)}
        return {
            "id": self.name,
            **self.machine.request(),
            "replicaCount": str(self.replicas),
            **({"autoscalingSpec": bounds} if self.autoscaled else {}),
        }


def assigned(asked: Sequence[tuple[Sequence[Place], int]], room: Mapping[Place, int]) -> tuple[Place, ...] | None:
    """Return a place for each part of a job, the roomiest first, with none asked for more than its room; None where
    there are none. `asked`: the places that fit a part, all alike, and its machines."""
    if not asked:
        return ()
    (fitting, machines), *rest = asked
    # Among places of equal room any will do, and the first one is taken.
    by_room = {room[place]: place for place in reversed(fitting)}
    for free in sorted((free for free in by_room if free >= machines), reverse=True):
        others = assigned(rest, {**room, by_room[free]: free - machines})
        if others is not None:
            return (by_room[free], *others)
    return None


def taken(pools: Sequence[PoolSpec], asked: Sequence[int]) -> Iterator[int]:
    """Yield how many machines each part of a job takes of its pool: together no more than there are, and one of each
    pool, as a task of a pipeline that comes after others takes one of a pool where these took none."""
    room = {pool.name: pool.max for pool in pools}
    for pool, count in zip(pools, asked, strict=True):
        count = min(count or int(room[pool.name] == pool.max), room[pool.name])
        room[pool.name] -= count
        yield count


@dataclass(frozen=True)
class DnsPeering:
    """A DNS zone to resolve."""

    #: Ends with a dot.
    domain: str = ""
    target_project: str = ""
    target_network: str = ""

    def __str__(self) -> str:
        return f"{self.domain} {self.target_project} {self.target_network}"

    @property
    def written(self) -> str:
        """The text of a stack file."""
        return f"{{{', '.join(f'{key}: {value}' for key, value in codec.write(self).items())}}}"


@dataclass(frozen=True)
class PscInterface:
    """A Private Service Connect interface."""

    #: The name or the full path.
    network_attachment: str = ""
    dns_peerings: Annotated[tuple[DnsPeering, ...], At("dnsPeeringConfigs")] = ()

    def request(self) -> dict[str, Any]:
        """Return a `pscInterfaceConfig`, for a cluster or a job."""
        return codec.given(**codec.write(self))


@dataclass(frozen=True)
class Adoption:
    """A cluster that somebody else made: people submit to it, and no deployment ever changes or deletes it."""

    id: str
    #: The places of its entry's keys in the stack file, as FILE:LINE, by their dotted paths below the entry.
    lines: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def line(self, key: str) -> str:
        """Return the line of the key, or of its parent if it is missing; empty without a file."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return self.lines.get(key, "")


@dataclass(frozen=True)
class Alternative:
    """A cluster that may be made in another's place: its whole set of pools."""

    pools: tuple[PoolSpec, ...]
    #: Empty for the region of the cluster in whose place it is made.
    region: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", tuple(sorted(self.pools, key=lambda pool: pool.name)))


@dataclass(frozen=True)
class ClusterSpec:
    """A persistent resource as declared, every field resolved. Its id is derived (`slipway.model.fingerprint`)."""

    #: The entry's key in the stack file; people submit by it.
    name: str
    #: In the order of their names, as the provider compares by position: a file's order must never replace a cluster.
    pools: tuple[PoolSpec, ...]
    #: The entry's key where the file has no other.
    display_name: str = ""
    network: str = ""
    reserved_ip_ranges: tuple[str, ...] = ()
    kms_key: str = ""
    psc: PscInterface | None = None
    custom_service_account: bool = True
    #: The stack's own, without those that Slipway adds.
    labels: Mapping[str, str] = field(default_factory=dict)
    replacement: str = ROLLOVER
    #: Raised by hand to get a fresh cluster.
    generation: int = 1
    retire_within: timedelta | None = None
    deletion_policy: str = "DELETE"
    season: Season = ALWAYS
    #: The time for which its creation is tried again; None for the default.
    create_within: timedelta | None = None
    #: Clusters that may be made in its place where its machines can't be had, in this order.
    alternatives: tuple[Alternative, ...] = ()
    #: Its own number among the alternatives; 0 for the first configuration.
    alternative: int = 0
    #: Set for an alternative outside the stack's region alone.
    region: str = ""
    #: Set for a cluster that exists already, which its declaration must match.
    adopted: Adoption | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", tuple(sorted(self.pools, key=lambda pool: pool.name)))
        object.__setattr__(self, "display_name", self.display_name or self.name)

    @property
    def options(self) -> tuple[Self, ...]:
        """The cluster in its first configuration, then in each of its alternatives: each is a generation of its own."""
        return (
            self,
            *(
                replace(self, pools=option.pools, region=option.region, alternatives=(), alternative=number)
                for number, option in enumerate(self.alternatives, 1)
            ),
        )

    @property
    def minimum_machines(self) -> tuple[MachineGroup, ...]:
        return tuple(MachineGroup(pool.machine, pool.min) for pool in self.pools if pool.min)

    @property
    def called(self) -> str:
        return f"as its {self.place_in_order}" if self.alternative else "as asked for first"

    @property
    def place_in_order(self) -> str:
        """The number and region of an alternative: `alternative 1 in us-east4`."""
        return f"alternative {self.alternative}{f' in {self.region}' if self.region else ''}"

    @property
    def other_regions(self) -> tuple[str, ...]:
        """The regions where the cluster is or may come to be, besides the stack's own."""
        places = (self.region, *(alternative.region for alternative in self.alternatives))
        return tuple(dict.fromkeys(place for place in places if place))

    def request(self) -> dict[str, Any]:
        """Return the request that creates it, as the provider, which takes it over, sends it for this declaration."""
        # Never false: the API leaves that out, and the provider would plan a replacement for it.
        account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
        return {
            "displayName": self.display_name,
            "labels": {**self.labels},
            "resourcePools": [pool.request() for pool in self.pools],
            **codec.given(network=self.network, reservedIpRanges=list(self.reserved_ip_ranges)),
            **({"pscInterfaceConfig": self.psc.request()} if self.psc else {}),
            **({"encryptionSpec": {"kmsKeyName": self.kms_key}} if self.kms_key else {}),
            **({"resourceRuntimeSpec": account} if self.custom_service_account else {}),
        }

    def pool(self, name: str) -> PoolSpec | None:
        return next((pool for pool in self.pools if pool.name == name), None)

    @property
    def closed(self) -> tuple[str, str] | None:
        """The reason why no template can run on it, and what to do; None for a cluster that takes jobs."""
        if self.custom_service_account:
            return None
        if self.adopted:
            fix = f"adopt one in its place that was made with {ACCOUNTS_FLAG}, or leave it out"
        else:
            fix = (
                "take `serviceAccount: {custom: false}` out of its declaration (in a program: "
                "`custom_service_account=False`): a cluster made with it is replaced"
            )
        why = (
            f"no template can run on cluster {self.name}: it was made without custom service accounts, "
            "so that its jobs run as Google's own agent, and each job of a template runs as a trainer"
        )
        return why, fix


SomeCluster = TypeVar("SomeCluster", bound=ClusterSpec)


def at_once(
    there: Iterable[SomeCluster], coming: Iterable[SomeCluster]
) -> Iterator[tuple[datetime | None, list[SomeCluster]]]:
    """Yield the clusters that exist at once: those that are `there` (None), and from each coming season's beginning on
    those whose season includes it. Ends of seasons are left out: they only make fewer."""
    now, later = list(there), list(coming)
    yield None, now
    for begins in sorted({cluster.season.begins for cluster in later if cluster.season.begins}):
        yield begins, [cluster for cluster in (*now, *later) if cluster.season.includes(begins)]


@dataclass(frozen=True)
class Reservation:
    """A reservation of machines, which equal a job's exactly."""

    #: projects/PROJECT/zones/ZONE/reservations/NAME
    path: str
    #: The machine type, empty if unknown.
    machine: str = ""
    #: For N1 machines; None if unknown.
    accelerator: str | None = None
    accelerator_count: int = 0
    #: The number of machines in it, 0 if unknown.
    machines: int = 0
    #: Of a calendar reservation: Compute Engine makes it at its beginning, and deletes it with what runs on it at its
    #: end. None is no bound.
    begins: Annotated[Moment, At("from")] = None
    ends: Annotated[Moment, At("until")] = None

    @property
    def dates(self) -> str:
        """Return `from 2026-12-01 until 2026-12-08`, or `at any time`."""
        ends = ((word, date) for word, date in (("from", self.begins), ("until", self.ends)) if date)
        return " ".join(f"{word} {moment_in_words(date)}" for word, date in ends) or "at any time"

    def closed(self, now: datetime) -> str:
        """Return why no job can start on it now: `h100 begins on 2026-12-01, in 3 d`; empty between its dates."""
        name = last_part(self.path)
        if self.begins and now < self.begins:
            return f"{name} begins on {moment_in_words(self.begins)}, in {span((self.begins - now).total_seconds())}"
        return f"{name} ended on {moment_in_words(self.ends)}" if self.ends and self.over(now) else ""

    def over(self, now: datetime) -> bool:
        return self.ends is not None and self.ends <= now

    def ends_within(self, seconds: float, now: datetime) -> str:
        """Return that it ends before a job that starts now and runs so long; empty where it does not, or has ended."""
        left = (self.ends - now).total_seconds() if self.ends else seconds
        if not self.ends or not 0 < left < seconds:
            return ""
        return f"{last_part(self.path)} ends on {moment_in_words(self.ends)}, in {span(left)}"


@dataclass(frozen=True)
class CurrentCluster:
    """The cluster of a name from now on. The engine never hears of an adopted one."""

    spec: ClusterSpec
    id: str
    #: Empty for an adopted cluster.
    fingerprint: str
    #: The cluster exists, and the engine takes it over.
    import_: bool
    #: The living cluster's, empty when it is to be created.
    state: str = ""
    #: Clusters that may be created in its place, in order; none for an existing cluster.
    alternatives: tuple[CurrentCluster, ...] = ()

    def marked(self, stack: str) -> ClusterSpec:
        """Return the declaration with the three labels that mark a cluster as Slipway's."""
        labels = {STACK_LABEL: stack, NAME_LABEL: self.spec.name, HASH_LABEL: self.fingerprint}
        return replace(self.spec, labels={**self.spec.labels, **labels})

    def request(self, stack: str) -> dict[str, Any]:
        """Return the request that creates it."""
        return self.marked(stack).request()
