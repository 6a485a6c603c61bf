"""Clusters as the catalog has them: those on offer, with their pools, and the dormant ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Self

from slipway.catalog.forms import PLAIN_NAME, Hourly, MachineOfPool, Moment, SeasonOfCluster
from slipway.cluster import PoolSpec
from slipway.codec import KEY_OF_ENTRY, NOT_WRITTEN
from slipway.season import ALWAYS, WhyDormant, why_dormant


@dataclass(frozen=True)
class Pool(PoolSpec):
    """A resource pool as deployed. `price_per_hour` is one machine's. `replicas` is their minimum."""

    name: Annotated[str, KEY_OF_ENTRY]
    machine: MachineOfPool
    replicas: Annotated[int, NOT_WRITTEN] = field(init=False)
    price_per_hour: Hourly

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicas", self.min)


@dataclass(frozen=True)
class Cluster:
    """A cluster on offer. `name` is its key in the stack file, `id` the persistent resource of the current generation.
    The other fields are the stack file's (`slipway.cluster.ClusterSpec`): `dns_peerings` as DOMAIN PROJECT NETWORK,
    times in seconds. `season`: `from`, `until`, `idleLimit`. In its first configuration, `alternatives` are the pools
    that may come in place of these, in order, and `alternative_regions` their regions (empty: the stack's own), if any
    is elsewhere; otherwise `alternative` is its number, and `region` its region. `adopted`: somebody else made it."""

    name: Annotated[str, KEY_OF_ENTRY, PLAIN_NAME]
    id: Annotated[str, PLAIN_NAME]
    pools: Mapping[str, Pool]
    display_name: str = ""
    network: str = ""
    reserved_ip_ranges: tuple[str, ...] = ()
    kms_key: str = ""
    network_attachment: str = ""
    dns_peerings: tuple[str, ...] = ()
    custom_service_account: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    replacement: str = "rollover"
    generation: int = 1
    retire_within: float | None = None
    season: SeasonOfCluster = ALWAYS
    alternatives: tuple[Mapping[str, Pool], ...] | None = None
    alternative: int | None = None
    adopted: bool | None = None
    create_within: float | None = None
    region: Annotated[str, PLAIN_NAME] | None = None
    alternative_regions: tuple[str, ...] | None = None

    @property
    def instead(self) -> tuple[tuple[Mapping[str, Pool], str], ...]:
        """The pools of each alternative and its region, which is empty for the stack's own."""
        pools = self.alternatives or ()
        return tuple(zip(pools, (*(self.alternative_regions or ()), *("" for _ in pools)), strict=False))

    def as_alternative(self, number: int | None) -> Self:
        """Return the cluster in that alternative; itself where it has no such alternative."""
        if not number or number > len(self.instead):
            return self
        pools, region = self.instead[number - 1]
        there = replace(self, pools=pools, region=region or None, alternative=number)
        return replace(there, alternatives=None, alternative_regions=None)


@dataclass(frozen=True)
class DormantCluster(Cluster):
    """A cluster that the stack file names and that does not exist: out of its season, given up, or not made yet. `id`
    is its id once it exists. `why`: a `slipway.season.Reason`, or a newer version's. `since`: None before its season.
    `lacks`: the missing quota metrics, or MACHINES, of a cluster whose season has begun."""

    why: Annotated[str, PLAIN_NAME] = "season"
    since: Moment = None
    lacks: tuple[str, ...] | None = None

    @property
    def comes(self) -> bool:
        """Tell whether the cluster comes without an edit; one that was given up, or whose season is over, needs one."""
        return self.why == "season" and self.since is None

    @property
    def awaited(self) -> bool:
        """Tell whether the cluster comes once a deployment can make it, without a date."""
        return self.comes and self.season.begins is None

    @property
    def edit(self) -> str:
        """The edit of its entry that brings it back; empty where it comes by itself, or with the deployment under
        way."""
        if self.why == "season":
            return "" if self.comes else "a later `until`"
        return "a higher `generation`" if self.why == "idle" else ""

    def reason(self, now: datetime | None = None) -> WhyDormant:
        return why_dormant(self.season, self.why, self.since, self.lacks or (), now)

    @property
    def words(self) -> str:
        return self.reason().of(f"cluster {self.name}")

    def words_at(self, now: datetime) -> str:
        """Return the description for a reader at a later time than the catalog's publication."""
        return self.reason(now).of(f"cluster {self.name}")
