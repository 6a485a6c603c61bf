"""Clusters as the catalog has them: those on offer, with their pools, and the dormant ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, MaybeNumber, MaybeText, read
from slipway.model.catalog.forms import (
    PLAIN_NAME,
    Hourly,
    MachineOfPool,
    Moment,
    SeasonOfCluster,
    Seconds,
    flat,
)
from slipway.model.cluster import Adoption, Alternative, ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.model.season import ALWAYS, WhyDormant, why_dormant


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
class PricedAlternative(Alternative):
    pools: tuple[Pool, ...]


@dataclass(frozen=True)
class _Pools:
    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class _Psc:
    """The keys of a cluster's Private Service Connect interface; a peering is DOMAIN PROJECT NETWORK."""

    network_attachment: str = ""
    dns_peerings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Instead:
    """The keys of the alternatives: their pools, in order, and their regions (empty: the stack's own), if any is
    elsewhere."""

    alternatives: tuple[Mapping[str, Pool], ...] | None = None
    alternative_regions: tuple[str, ...] | None = None


@dataclass(frozen=True)
class _Adopted:
    id: str
    adopted: bool | None = None


def _by_name(pools: Iterable[Pool]) -> Mapping[str, Pool]:
    return {pool.name: pool for pool in pools}


def _psc(keys: _Psc) -> PscInterface | None:
    peerings = tuple(DnsPeering(*one.split(" ", 2)) for one in keys.dns_peerings)
    return PscInterface(keys.network_attachment, peerings) if keys != _Psc() else None


def _psc_keys(psc: PscInterface | None) -> _Psc:
    return _Psc(psc.network_attachment, tuple(map(str, psc.dns_peerings))) if psc else _Psc()


def _instead(keys: _Instead) -> tuple[PricedAlternative, ...]:
    pools = keys.alternatives or ()
    regions = (*(keys.alternative_regions or ()), *("" for _ in pools))
    return tuple(PricedAlternative(tuple(some.values()), region) for some, region in zip(pools, regions, strict=False))


def _instead_keys(some: tuple[PricedAlternative, ...]) -> _Instead:
    regions = tuple(one.region for one in some)
    return _Instead(tuple(_by_name(one.pools) for one in some) or None, regions if any(regions) else None)


def _adopted(body: Mapping[str, Any]) -> Adoption | None:
    keys = read(_Adopted, body)
    return Adoption(keys.id) if keys.adopted else None


_PoolsByName = Annotated[
    tuple[Pool, ...], flat(_Pools, lambda keys: tuple(keys.pools.values()), lambda some: _Pools(_by_name(some)))
]
_OfAnother = Annotated[Adoption | None, Across(_adopted, lambda one: {"adopted": True} if one else {})]


@dataclass(frozen=True)
class Cluster(ClusterSpec):
    """A cluster on offer, as it was declared, with the prices of its machines. `id`: the persistent resource of the
    current generation, which follows from the other fields."""

    name: Annotated[str, KEY_OF_ENTRY, PLAIN_NAME]
    pools: _PoolsByName
    psc: Annotated[PscInterface | None, flat(_Psc, _psc, _psc_keys)] = None
    retire_within: Seconds = None
    deletion_policy: Annotated[str, NOT_WRITTEN] = field(default="DELETE", compare=False)
    season: SeasonOfCluster = ALWAYS
    create_within: Seconds = None
    alternatives: Annotated[tuple[PricedAlternative, ...], flat(_Instead, _instead, _instead_keys)] = ()
    alternative: MaybeNumber = 0
    region: Annotated[MaybeText, PLAIN_NAME] = ""
    adopted: _OfAnother = None
    id: Annotated[str, PLAIN_NAME] = field(kw_only=True)

    def pool(self, name: str) -> Pool | None:
        return next((pool for pool in self.pools if pool.name == name), None)


@dataclass(frozen=True)
class DormantCluster(Cluster):
    """A cluster that the stack file names and that does not exist: out of its season, given up, or not made yet. `id`
    is its id once it exists. `why`: a `slipway.model.season.Reason`, or a newer version's. `since`: None before its
    season. `lacks`: the missing quota metrics, or MACHINES, of a cluster whose season has begun."""

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
