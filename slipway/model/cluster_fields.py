"""The fields of a cluster and of its pools: one table, and the one comparison of two clusters.

Every comparison uses `compare`, which takes each form of a cluster as a `ClusterSpec`: the stack file's declaration,
the catalog's, the living cluster and the engine's request (`slipway.google.clusters.PersistentResource.spec`). Every
field here is part of a cluster's fingerprint: none can change on a living cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from slipway.model.cluster import ClusterSpec, PoolSpec, PscInterface

Of = TypeVar("Of", ClusterSpec, PoolSpec)
AUTOMATIC_LABELS = ("goog-", "pulumi-")
"""The prefixes of labels that Google and the engine add by themselves."""
NAMES = ("displayName", "labels.")
"""The prefixes of the keys for a cluster's names, which jobs never see."""


@dataclass(frozen=True)
class Field(Generic[Of]):
    """A field of a cluster or of a pool."""

    #: As the stack file spells it, below the cluster or the pool.
    key: str
    #: Returns its value as text; empty for none.
    words: Callable[[Of], str]
    #: Returns its value as a stack file has it, where that differs from the text.
    written: Callable[[Of], str] = lambda _: ""


@dataclass(frozen=True)
class FieldDifference:
    """A change of a cluster's field from one value to another, each as text and empty for none."""

    #: Below the cluster's entry in the stack file.
    key: str
    before: str
    after: str
    #: `after` as the stack file has it.
    written: str = ""

    @property
    def of_machines(self) -> bool:
        """True where machines differ, and not only their number."""
        return self.key.startswith("pools.") and self.key.split(".")[2:3] != ["replicas"]


def size(pool: PoolSpec) -> str:
    """Return a pool's size: `1–4`, if it is autoscaled; `2`."""
    return f"{pool.min}–{pool.max}" if pool.autoscaled else str(pool.replicas)


def machines_in_words(pool: PoolSpec | None) -> str:
    """Return a pool's machines: `1–4 a3-highgpu-8g`; empty for none."""
    return f"{size(pool)} {pool.machine}" if pool else ""


def _size_written(pool: PoolSpec) -> str:
    return f"{{min: {pool.min}, max: {pool.max}}}" if pool.autoscaled else str(pool.replicas)


def attached(pool: PoolSpec) -> bool:
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
        lambda spec: _list(peering.written for peering in _psc(spec).dns_peerings),
    ),
    Field("serviceAccount.custom", lambda spec: str(spec.custom_service_account).lower()),
)
POOL: tuple[Field[PoolSpec], ...] = (
    Field("machine", lambda pool: pool.machine.type),
    Field(
        "accelerator",
        lambda pool: f"{pool.machine.accelerator_count} {pool.machine.accelerator}" if attached(pool) else "",
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
            FieldDifference(key=f"labels.{key}", before=was, after=now)
            for key in sorted({*before.labels, *after.labels})
            if (was := before.labels.get(key, "")) != (now := after.labels.get(key, ""))
        ),
        *(difference for name in pools for difference in compare_pools(name, before.pool(name), after.pool(name))),
    )


def compare_pools(name: str, before: PoolSpec | None, after: PoolSpec | None) -> tuple[FieldDifference, ...]:
    """Compare two pools as `compare` does clusters, whatever their names; None for a missing one."""
    if before is None or after is None:
        difference = FieldDifference(
            key=f"pools.{name}",
            before=machines_in_words(before),
            after=machines_in_words(after),
            written=_written(after),
        )
        return (difference,)
    # Two autoscaled pools differ in their bounds, all others in their size.
    left_out = ("replicas",) if before.autoscaled and after.autoscaled else ("replicas.min", "replicas.max")
    fields = (field for field in POOL if field.key not in left_out)
    return tuple(
        replace(difference, key=f"pools.{name}.{difference.key}") for difference in _differing(fields, before, after)
    )


def as_asked(living: ClusterSpec, asked: ClusterSpec, *, steady: bool = True) -> ClusterSpec:
    """Return the living cluster in the declaration's spelling where both mean the same: the order of lists, the short
    name of a network attachment, values without a request field (`generation`), Google's labels.

    `steady`: its number of machines is not changing; while it does, each pool counts as having the asked number.
    Display name and labels of an adopted cluster are its owner's.
    """
    living_psc, asked_psc = _psc(living), _psc(asked)
    attachment = living_psc.network_attachment
    if attachment.rpartition("/")[2] == asked_psc.network_attachment:
        attachment = asked_psc.network_attachment
    labels = {
        key: value
        for key, value in living.labels.items()
        if key in asked.labels or not key.startswith(AUTOMATIC_LABELS)
    }
    return replace(
        living,
        generation=asked.generation,
        reserved_ip_ranges=_in_order(living.reserved_ip_ranges, asked.reserved_ip_ranges),
        psc=PscInterface(attachment, _in_order(living_psc.dns_peerings, asked_psc.dns_peerings)),
        display_name=asked.display_name if asked.adopted else living.display_name,
        labels=asked.labels if asked.adopted else labels,
        pools=tuple(
            pool if steady or (was := asked.pool(pool.name)) is None else replace(pool, replicas=was.replicas)
            for pool in living.pools
        ),
    )


def strays(asked: ClusterSpec, living: ClusterSpec) -> Iterator[FieldDifference]:
    """Yield the autoscaled pools that have machines beyond their bounds. How many is not said, as it changes."""
    for pool in living.pools:
        if pool.autoscaled and asked.pool(pool.name) and not pool.min <= pool.replicas <= pool.max:
            beyond = f"fewer than {pool.min}" if pool.replicas < pool.min else f"more than {pool.max}"
            yield FieldDifference(key=f"pools.{pool.name}.replicas", before=size(pool), after=beyond)


def _differing(fields: Iterable[Field[Of]], before: Of, after: Of) -> Iterator[FieldDifference]:
    for field in fields:
        was, now = field.words(before), field.words(after)
        if was != now:
            yield FieldDifference(key=field.key, before=was, after=now, written=field.written(after) if now else "")


Item = TypeVar("Item")


def _in_order(items: tuple[Item, ...], declared: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the items in the declared order where they are the same ones, else sorted."""
    ordered = tuple(sorted(items, key=str))
    return declared if ordered == tuple(sorted(declared, key=str)) else ordered


def _written(pool: PoolSpec | None) -> str:
    if pool is None:
        return ""
    values = {field.key: field.written(pool) or field.words(pool) for field in POOL if field.words(pool)}
    below: dict[str, list[str]] = {}
    for key, value in values.items():
        top, _, last = key.partition(".")
        below.setdefault(top, []).append(f"{last}: {value}")
    entries = (f"{top}: {values.get(top) or '{' + ', '.join(parts) + '}'}" for top, parts in below.items())
    return f"{{{', '.join(entries)}}}"
