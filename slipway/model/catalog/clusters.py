"""Clusters as the catalog has them: those on offer, with their pools, and the dormant ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, MaybeNumber, MaybeText, malformed
from slipway.model.catalog.forms import PLAIN_NAME, Hourly, MachineOfPool, SeasonOfCluster, Seconds, flat
from slipway.model.cluster import Adoption, Alternative, ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.model.season import ALWAYS, Moment, WhyDormant, why_dormant


@dataclass(frozen=True)
class Pool(PoolSpec):
    """A resource pool as deployed."""

    name: Annotated[str, KEY_OF_ENTRY]
    machine: MachineOfPool
    #: The minimum: a catalog does not tell the present number.
    replicas: Annotated[int, NOT_WRITTEN] = field(init=False)
    #: Of one machine.
    price_per_hour: Hourly

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicas", self.min)


@dataclass(frozen=True)
class PricedAlternative(Alternative):
    pools: tuple[Pool, ...]


@dataclass(frozen=True)
class _Pools:
    """The key of a cluster's pools: a mapping by name, where `ClusterSpec` has a tuple."""

    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class _Psc:
    """The keys of a cluster's Private Service Connect interface; a peering is DOMAIN PROJECT NETWORK."""

    network_attachment: str = ""
    dns_peerings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Instead:
    #: Their pools, in order.
    alternatives: tuple[Mapping[str, Pool], ...] | None = None
    #: Their regions, empty for the stack's own; left out where no alternative is elsewhere.
    alternative_regions: tuple[str, ...] | None = None


def _by_name(pools: Iterable[Pool]) -> Mapping[str, Pool]:
    return {pool.name: pool for pool in pools}


def _psc(keys: _Psc) -> PscInterface | None:
    peerings = tuple(DnsPeering(*peering.split(" ", 2)) for peering in keys.dns_peerings)
    return PscInterface(keys.network_attachment, peerings) if keys != _Psc() else None


def _psc_keys(psc: PscInterface | None) -> _Psc:
    return _Psc(psc.network_attachment, tuple(map(str, psc.dns_peerings))) if psc else _Psc()


def _instead(keys: _Instead) -> tuple[PricedAlternative, ...]:
    alternatives = keys.alternatives or ()
    regions = (*(keys.alternative_regions or ()), *("" for _ in alternatives))
    return tuple(
        PricedAlternative(tuple(pools_by_name.values()), region)
        for pools_by_name, region in zip(alternatives, regions, strict=False)
    )


def _instead_keys(alternatives: tuple[PricedAlternative, ...]) -> _Instead:
    regions = tuple(alternative.region for alternative in alternatives)
    return _Instead(
        tuple(_by_name(alternative.pools) for alternative in alternatives) or None, regions if any(regions) else None
    )


def _adopted(body: Mapping[str, Any]) -> Adoption | None:
    adopted = body.get("adopted")
    if adopted not in (None, False, True):
        raise malformed(adopted, "true or false", "adopted")
    return Adoption(str(body.get("id"))) if adopted else None


_PoolsByName = Annotated[
    tuple[Pool, ...], flat(_Pools, lambda keys: tuple(keys.pools.values()), lambda pools: _Pools(_by_name(pools)))
]
_OfAnother = Annotated[Adoption | None, Across(_adopted, lambda adoption: {"adopted": True} if adoption else {})]


@dataclass(frozen=True)
class Cluster(ClusterSpec):
    """A cluster on offer, as it was declared, with the prices of its machines."""

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
    #: The persistent resource of the current generation; it follows from the other fields.
    id: Annotated[str, PLAIN_NAME] = field(kw_only=True)

    def pool(self, name: str) -> Pool | None:
        return next((pool for pool in self.pools if pool.name == name), None)


@dataclass(frozen=True)
class DormantCluster(Cluster):
    """A cluster that the stack file names and that does not exist: out of its season, given up, or not made yet.

    `id` is its id once it exists.
    """

    #: A `slipway.model.season.Reason`, or a newer version's.
    why: Annotated[str, PLAIN_NAME] = "season"
    #: None before its season.
    since: Moment = None
    #: The missing quota metrics, or MACHINES, where its season has begun.
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
        """The edit of its entry that brings it back; empty where none is needed."""
        if self.why == "season":
            return "" if self.comes else "a later `until`"
        # A cluster that is being replaced in place comes back with the deployment under way.
        return "a higher `generation`" if self.why == "idle" else ""

    def reason(self, now: datetime | None = None) -> WhyDormant:
        return why_dormant(self.season, self.why, self.since, self.lacks or (), now)

    @property
    def words(self) -> str:
        return self.reason().of(f"cluster {self.name}")

    def words_at(self, now: datetime) -> str:
        """Return the description for a reader at a later time than the catalog's publication."""
        return self.reason(now).of(f"cluster {self.name}")
