"""The fields of a cluster and of its pools: one table, and the one comparison of two clusters.

Every comparison uses `compare`, which takes each form of a cluster as a `ClusterSpec`: the stack file's declaration,
the catalog's, the living cluster and the engine's request (`slipway.google.clusters.PersistentResource.spec`). Every
field here is part of a cluster's fingerprint: none can change on a living cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from slipway.model.cluster import ClusterSpec, PoolSpec, PscInterface

Of = TypeVar("Of", ClusterSpec, PoolSpec)
GOOGLES = ("goog-", "pulumi-")
"""The prefixes of labels that no person wrote."""
NAMES = ("displayName", "labels.")
"""The prefixes of the keys for a cluster's names, which jobs never see."""


@dataclass(frozen=True)
class Field(Generic[Of]):
    """A field. `key`: as the stack file spells it, below the cluster or the pool. `words`: its value, empty for none;
    `written`: the value as a stack file has it, where that differs."""

    key: str
    words: Callable[[Of], str]
    written: Callable[[Of], str] = lambda _: ""


@dataclass(frozen=True)
class FieldDifference:
    """A change of a cluster's field from one value to another, each as text and empty for none. `key`: below the
    cluster's entry in the stack file; `written`: `after` as that has it."""

    key: str
    before: str
    after: str
    written: str = ""

    @property
    def of_pools(self) -> bool:
        return self.key.startswith("pools.")

    @property
    def of_machines(self) -> bool:
        """Whether machines differ, and not only their number."""
        return self.of_pools and self.key.split(".")[2:3] != ["replicas"]


def size(pool: PoolSpec) -> str:
    """Return a pool's size: `1–4`, if it is autoscaled; `2`."""
    return f"{pool.min}–{pool.max}" if pool.autoscaled else str(pool.replicas)


def machines_in_words(pool: PoolSpec | None) -> str:
    """Return a pool's machines: `1–4 a3-highgpu-8g`; empty for none."""
    return f"{size(pool)} {pool.machine}" if pool else ""


def _size_written(pool: PoolSpec) -> str:
    return f"{{min: {pool.min}, max: {pool.max}}}" if pool.autoscaled else str(pool.replicas)


def _attached(pool: PoolSpec) -> bool:
    """Tell whether its machines have optional accelerators: all other machines' names tell theirs."""
    return bool(pool.machine.accelerator) and pool.machine.type.startswith("n1-")


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _psc(spec: ClusterSpec) -> PscInterface:
    return spec.psc or PscInterface()


CLUSTER: tuple[Field[ClusterSpec], ...] = (
    Field("displayName", lambda spec: spec.display_name),
    Field("network", lambda spec: spec.network),
    Field("encryption.kmsKey", lambda spec: spec.kms_key),
    Field("pscInterface.networkAttachment", lambda spec: _psc(spec).network_attachment),
    Field("generation", lambda spec: str(spec.generation)),
    Field(
        "reservedIpRanges", lambda spec: ", ".join(spec.reserved_ip_ranges), lambda spec: _list(spec.reserved_ip_ranges)
    ),
    Field(
        "pscInterface.dnsPeeringConfigs",
        lambda spec: ", ".join(map(str, _psc(spec).dns_peerings)),
        lambda spec: _list(one.written for one in _psc(spec).dns_peerings),
    ),
    Field("serviceAccount.custom", lambda spec: str(spec.custom_service_account).lower()),
)
POOL: tuple[Field[PoolSpec], ...] = (
    Field("machine", lambda pool: pool.machine.type),
    Field(
        "accelerator",
        lambda pool: f"{pool.machine.accelerator_count} {pool.machine.accelerator}" if _attached(pool) else "",
        lambda pool: f"{{type: {pool.machine.accelerator}, count: {pool.machine.accelerator_count}}}",
    ),
    Field("disk.type", lambda pool: pool.machine.disk.type),
    Field("disk.sizeGb", lambda pool: str(pool.machine.disk.size_gb)),
    Field("replicas", size, _size_written),
    Field("replicas.min", lambda pool: str(pool.min)),
    Field("replicas.max", lambda pool: str(pool.max)),
)


def compare(before: ClusterSpec, after: ClusterSpec) -> tuple[FieldDifference, ...]:
    """Return every field in which two clusters differ, in the order of the table; pools by their names."""
    pools = sorted({*(pool.name for pool in before.pools), *(pool.name for pool in after.pools)})
    return (
        *_differing(CLUSTER, before, after),
        *(
            FieldDifference(f"labels.{key}", was, now)
            for key in sorted({*before.labels, *after.labels})
            if (was := before.labels.get(key, "")) != (now := after.labels.get(key, ""))
        ),
        *(one for name in pools for one in compare_pools(name, before.pool(name), after.pool(name))),
    )


def compare_pools(name: str, before: PoolSpec | None, after: PoolSpec | None) -> tuple[FieldDifference, ...]:
    """Compare two pools as `compare` does clusters, whatever their names; None for a missing one."""
    if before is None or after is None:
        return (FieldDifference(f"pools.{name}", machines_in_words(before), machines_in_words(after), _written(after)),)
    other = ("replicas",) if before.autoscaled and after.autoscaled else ("replicas.min", "replicas.max")
    fields = (field for field in POOL if field.key not in other)
    return tuple(replace(one, key=f"pools.{name}.{one.key}") for one in _differing(fields, before, after))


def same_pools(before: Sequence[PoolSpec], after: Sequence[PoolSpec]) -> bool:
    """Tell whether the pools of both, in the order of their names, are equal."""
    names = [[pool.name for pool in pools] for pools in (before, after)]
    return names[0] == names[1] and not any(
        compare_pools(pool.name, was, pool) for was, pool in zip(before, after, strict=True)
    )


def as_asked(found: ClusterSpec, asked: ClusterSpec, *, steady: bool = True) -> ClusterSpec:
    """Return the living cluster in the declaration's spelling where both mean the same: the order of lists, the short
    name of a network attachment, values without a request field (`generation`), Google's labels.

    `steady`: its number of machines is not changing; otherwise the number in a pool of a fixed size means nothing.
    Display name and labels of an adopted cluster are its owner's.
    """
    there, psc = _psc(found), _psc(asked)
    short = there.network_attachment.rpartition("/")[2]
    attachment = psc.network_attachment if short == psc.network_attachment else there.network_attachment
    labels = {key: one for key, one in found.labels.items() if key in asked.labels or not key.startswith(GOOGLES)}
    return replace(
        found,
        generation=asked.generation,
        reserved_ip_ranges=_in_order(found.reserved_ip_ranges, asked.reserved_ip_ranges),
        psc=PscInterface(attachment, _in_order(there.dns_peerings, psc.dns_peerings)),
        display_name=asked.display_name if asked.adopted else found.display_name,
        labels=asked.labels if asked.adopted else labels,
        pools=tuple(
            pool if steady or (was := asked.pool(pool.name)) is None else replace(pool, replicas=was.replicas)
            for pool in found.pools
        ),
    )


def strays(asked: ClusterSpec, found: ClusterSpec) -> Iterator[FieldDifference]:
    """Yield autoscaled pools beyond their bounds, without a number, as it moves."""
    for pool in found.pools:
        if pool.autoscaled and asked.pool(pool.name) and not pool.min <= pool.replicas <= pool.max:
            beyond = f"fewer than {pool.min}" if pool.replicas < pool.min else f"more than {pool.max}"
            yield FieldDifference(f"pools.{pool.name}.replicas", size(pool), beyond)


def _differing(fields: Iterable[Field[Of]], before: Of, after: Of) -> Iterator[FieldDifference]:
    for field in fields:
        was, now = field.words(before), field.words(after)
        if was != now:
            yield FieldDifference(field.key, was, now, field.written(after) if now else "")


Item = TypeVar("Item")


def _in_order(found: tuple[Item, ...], asked: tuple[Item, ...]) -> tuple[Item, ...]:
    ordered = tuple(sorted(found, key=str))
    return asked if ordered == tuple(sorted(asked, key=str)) else ordered


def _written(pool: PoolSpec | None) -> str:
    """Return a whole pool as the stack file has it."""
    if pool is None:
        return ""
    values = {field.key: field.written(pool) or field.words(pool) for field in POOL if field.words(pool)}
    below: dict[str, list[str]] = {}
    for key, value in values.items():
        top, _, last = key.partition(".")
        below.setdefault(top, []).append(f"{last}: {value}")
    told = (f"{top}: {values.get(top) or '{' + ', '.join(parts) + '}'}" for top, parts in below.items())
    return f"{{{', '.join(told)}}}"
