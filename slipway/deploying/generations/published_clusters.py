"""Clusters as the catalog has them: priced, and compared with the stack file's and the living ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from slipway.deploying.generations.dormant import Dormancy
from slipway.model.catalog.clusters import Cluster, DormantCluster, Pool, PricedAlternative
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.cluster_fields import FieldDifference, as_asked, compare, strays
from slipway.model.fingerprint import fingerprint_in
from slipway.model.prices import hourly


def published(current: CurrentCluster, region: str) -> Cluster:
    return Cluster(**_priced(current.spec, region), id=current.id)


def published_dormant(dormant: Dormancy, region: str) -> DormantCluster:
    lacks = tuple(sorted(dormant.lacks)) or None
    priced = _priced(dormant.spec, region)
    return DormantCluster(**priced, id=dormant.id, why=dormant.why, since=dormant.since, lacks=lacks)


def departures(before: Cluster, living: ClusterSpec, stack: str, *, steady: bool = True) -> tuple[FieldDifference, ...]:
    """Return the differences between a published cluster and the living one, or the one that the engine is asked for:
    with its creation labels, and with its number of machines. `steady` is as in `as_asked`."""
    fingerprint = fingerprint_in(before.id, before.name)
    asked = CurrentCluster(before, before.id, fingerprint, import_=True).marked(stack)
    beyond = strays(asked, living) if steady and not asked.adopted else ()
    return (*compare(asked, as_asked(living, asked, steady=steady)), *beyond)


def _priced(spec: ClusterSpec, region: str) -> dict[str, Any]:
    alternatives = (
        PricedAlternative(tuple(_pools(alternative.pools, alternative.region or region)), alternative.region)
        for alternative in spec.alternatives
    )
    pools = tuple(_pools(spec.pools, spec.region or region))
    declared = {declaration.name: getattr(spec, declaration.name) for declaration in fields(ClusterSpec)}
    return {**declared, "pools": pools, "alternatives": tuple(alternatives)}


def _pools(pools: Iterable[PoolSpec], region: str) -> Iterable[Pool]:
    for pool in pools:
        yield Pool(
            name=pool.name,
            machine=pool.machine,
            min=pool.min,
            max=pool.max,
            autoscaled=pool.autoscaled,
            price_per_hour=hourly(pool.machine, region).kept,
        )
