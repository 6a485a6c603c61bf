"""Clusters, reservations and sessions by a stack file's keys: one declaration reads entries, and writes edited ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any

from slipway.authoring.stack.cluster_checks import OF_THE_MAKING
from slipway.base import codec
from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, As, At, MaybeNumber, MaybeText
from slipway.model.catalog.forms import spelled
from slipway.model.catalog.model import SessionLimits
from slipway.model.cluster import Adoption, Alternative, ClusterSpec, PoolSpec, PscInterface, Reservation
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import machine
from slipway.model.season import ALWAYS, Moment, Season

Entry = Mapping[str, Any]
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def cluster(name: str, entry: Entry) -> ClusterSpec:
    return ClusterSpec(**vars(codec.read(_Cluster, entry, key=name)))


def cluster_entry(spec: ClusterSpec) -> Entry:
    entry = codec.write(_Cluster(**vars(spec)))
    return {key: value for key, value in entry.items() if not (spec.adopted and key in OF_THE_MAKING)}


def reservation(entry: Entry) -> Reservation:
    return Reservation(**vars(codec.read(_Reservation, entry)))


def reservation_entry(reservation: Reservation) -> Entry:
    return codec.write(_Reservation(**vars(reservation)))


def sessions_entry(limits: SessionLimits) -> Entry:
    return codec.write(_Sessions(**vars(limits)))


def _time_text(time: timedelta) -> str:
    """Return `7d`, `90m`: the time in its largest whole unit."""
    seconds = time.total_seconds()
    for unit, length in (("d", 86400), ("h", 3600)):
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds / 60:g}m"


_Time = Annotated[
    timedelta | None, As(lambda text: timedelta(**{_UNITS[text[-1]]: int(text[:-1])}), _time_text, "a time")
]


@dataclass(frozen=True)
class _Sessions(SessionLimits):
    """The keys of `slipway:sessions`."""

    max: _Time = None


@dataclass(frozen=True)
class _Machine(MachineSpec):
    """The keys of a pool's machine; any other key of it is a field by the same name."""

    type: Annotated[str, At("machine")]
    accelerator: Annotated[str | None, At("accelerator.type")] = None
    accelerator_count: Annotated[MaybeNumber, At("accelerator.count")] = 0


def _pool(name: str, entry: Entry) -> PoolSpec:
    asked, replicas = codec.read(_Machine, entry), entry["replicas"]
    shape = machine(asked.type, asked.accelerator, asked.accelerator_count or None)
    spec = replace(asked, accelerator=shape.accelerator, accelerator_count=shape.accelerator_count)
    autoscaled = isinstance(replicas, Mapping)
    sizes = replicas if autoscaled else {"min": replicas, "max": replicas}
    return PoolSpec(
        name=name,
        machine=MachineSpec(**vars(spec)),
        min=sizes["min"],
        max=sizes["max"],
        autoscaled=autoscaled,
        replicas=sizes.get("initial") or sizes["min"],
    )


def _pools(entries: Mapping[str, Entry]) -> tuple[PoolSpec, ...]:
    return tuple(_pool(name, entry) for name, entry in entries.items())


def _pool_entries(pools: Iterable[PoolSpec]) -> Entry:
    entries = {}
    for pool in pools:
        initial = {"initial": pool.replicas} if pool.replicas != pool.min else {}
        sizes = {"min": pool.min, "max": pool.max, **initial} if pool.autoscaled else pool.replicas
        entries[pool.name] = {**codec.write(_Machine(**vars(pool.machine))), "replicas": sizes}
    return entries


def _alternatives(entry: Entry) -> tuple[Alternative, ...]:
    """Read alternatives. Pools that one does not name are the cluster's own."""
    return tuple(
        Alternative(_pools({**entry["pools"], **alternative["pools"]}), alternative.get("region", ""))
        for alternative in entry.get("alternatives", ())
    )


def _alternative_entries(alternatives: Iterable[Alternative]) -> Entry:
    entries = [{**codec.given(region=each.region), "pools": _pool_entries(each.pools)} for each in alternatives]
    return {"alternatives": entries}


@dataclass(frozen=True)
class _Dates:
    begins: Annotated[Moment, At("from")] = None
    ends: Annotated[Moment, At("until")] = None
    idle_limit: _Time = None


_Season = Annotated[Season, spelled(_Dates, Season)]
_Adopted = Annotated[
    Adoption | None,
    Across(
        lambda entry: Adoption(entry["id"]) if "id" in entry else None,
        lambda adoption: {"id": adoption.id} if adoption else {},
    ),
]


@dataclass(frozen=True)
class _Cluster(ClusterSpec):
    name: Annotated[str, KEY_OF_ENTRY]
    pools: Annotated[tuple[PoolSpec, ...], As(_pools, _pool_entries, "pools by name")]
    network: MaybeText = ""
    kms_key: Annotated[MaybeText, At("encryption.kmsKey")] = ""
    psc: Annotated[PscInterface | None, At("pscInterface")] = None
    custom_service_account: Annotated[bool, At("serviceAccount.custom")] = True
    retire_within: _Time = None
    deletion_policy: Annotated[str, NOT_WRITTEN] = "DELETE"
    season: _Season = ALWAYS
    create_within: _Time = None
    alternatives: Annotated[tuple[Alternative, ...], Across(_alternatives, _alternative_entries)] = ()
    alternative: Annotated[int, NOT_WRITTEN] = 0
    region: Annotated[str, NOT_WRITTEN] = ""
    adopted: _Adopted = None


@dataclass(frozen=True)
class _Reservation(Reservation):
    machine: MaybeText = ""
    accelerator: Annotated[str | None, At("accelerator.type")] = None
    accelerator_count: Annotated[MaybeNumber, At("accelerator.count")] = 0
    machines: MaybeNumber = 0
