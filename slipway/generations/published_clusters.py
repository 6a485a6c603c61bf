"""Clusters as the catalog has them, and their entries in the stack file, as far as the catalog tells."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.catalog import clusters
from slipway.cluster import Adoption, Alternative, ClusterSpec, CurrentCluster, DnsPeering, PoolSpec, PscInterface
from slipway.cluster_fields import FieldDifference, as_asked, compare, strays
from slipway.fingerprint import fingerprint_in
from slipway.generations.dormant import Dormancy
from slipway.prices import hourly

_SAME = (
    *("name", "display_name", "reserved_ip_ranges", "custom_service_account", "labels"),
    *("replacement", "generation", "season"),
)
"""The fields that a catalog has as a stack file does."""


def published(current: CurrentCluster, region: str) -> clusters.Cluster:
    return clusters.Cluster(**_fields(current.spec, current.id, region))


def published_dormant(dormant: Dormancy, region: str) -> clusters.DormantCluster:
    lacks = tuple(sorted(dormant.lacks)) or None
    fields = _fields(dormant.spec, dormant.id, region)
    return clusters.DormantCluster(**fields, why=dormant.why, since=dormant.since, lacks=lacks)


def declared(cluster: clusters.Cluster) -> ClusterSpec:
    """Return the spec that the cluster was made of, from which its id follows: so a plan needs the catalog alone."""
    peerings = tuple(DnsPeering(*one.split(" ", 2)) for one in cluster.dns_peerings)
    psc = PscInterface(cluster.network_attachment or None, peerings)
    return ClusterSpec(
        **{key: getattr(cluster, key) for key in _SAME},
        pools=tuple(cluster.pools.values()),
        network=cluster.network or None,
        kms_key=cluster.kms_key or None,
        psc=psc if psc != PscInterface() else None,
        retire_within=None if cluster.retire_within is None else timedelta(seconds=cluster.retire_within),
        alternatives=tuple(Alternative(tuple(pools.values()), where) for pools, where in cluster.instead),
        region=cluster.region or "",
        alternative=cluster.alternative or 0,
        adopted=Adoption(cluster.id) if cluster.adopted else None,
        create_within=None if cluster.create_within is None else timedelta(seconds=cluster.create_within),
    )


def differences(before: clusters.Cluster, after: ClusterSpec) -> tuple[FieldDifference, ...]:
    """Return every field in which two published clusters differ. A catalog without display names is an earlier
    version's, which has pools alone."""
    found = compare(declared(before), after)
    return found if before.display_name else tuple(one for one in found if one.of_pools)


def departures(
    before: clusters.Cluster, found: ClusterSpec, stack: str, *, steady: bool = True
) -> tuple[FieldDifference, ...]:
    """Return the differences between a published cluster and the living one, or the one that the engine is asked for:
    with its creation labels, and with its number of machines. `steady` is as in `as_asked`."""
    fingerprint = fingerprint_in(before.id, before.name)
    labels = CurrentCluster(declared(before), before.id, fingerprint, import_=True).labels(stack)
    asked = declared(replace(before, labels=labels))
    beyond = strays(asked, found) if steady and not asked.adopted else ()
    return (*differences(replace(before, labels=labels), as_asked(found, asked, steady=steady)), *beyond)


def _fields(spec: ClusterSpec, id: str, region: str) -> dict[str, Any]:
    psc = spec.psc or PscInterface()
    return {
        **{key: getattr(spec, key) for key in _SAME},
        "id": id,
        "pools": {pool.name: _pool(pool, spec.region or region) for pool in spec.pools},
        "network": spec.network or "",
        "kms_key": spec.kms_key or "",
        "network_attachment": psc.network_attachment or "",
        "dns_peerings": tuple(map(str, psc.dns_peerings)),
        "retire_within": spec.retire_within.total_seconds() if spec.retire_within else None,
        "alternatives": tuple(
            {pool.name: _pool(pool, one.region or region) for pool in one.pools} for one in spec.alternatives
        )
        or None,
        "alternative": spec.alternative or None,
        "adopted": True if spec.adopted else None,
        "region": spec.region or None,
        "alternative_regions": tuple(one.region for one in spec.alternatives)
        if any(one.region for one in spec.alternatives)
        else None,
        "create_within": spec.create_within.total_seconds() if spec.create_within else None,
    }


def _pool(pool: PoolSpec, region: str) -> clusters.Pool:
    return clusters.Pool(
        name=pool.name,
        machine=pool.machine,
        min=pool.min,
        max=pool.max,
        autoscaled=pool.autoscaled,
        price_per_hour=hourly(pool.machine, region),
    )
