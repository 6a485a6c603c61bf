"""Clusters as the catalog has them, and what the stack file said of them, as far as the catalog tells."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from slipway.catalog import clusters
from slipway.cluster import Adoption, Alternative, ClusterSpec, CurrentCluster, DnsPeering, PoolSpec, PscInterface
from slipway.generations.dormant import DormantCluster
from slipway.prices import hourly


def published(current: CurrentCluster, region: str) -> clusters.Cluster:
    return clusters.Cluster(**_fields(current.spec, current.id, region))


def published_dormant(dormant: DormantCluster, region: str) -> clusters.DormantCluster:
    lacks = tuple(sorted(dormant.lacks)) or None
    fields = _fields(dormant.spec, dormant.id, region)
    return clusters.DormantCluster(**fields, why=dormant.why, since=dormant.since, lacks=lacks)


def declared(cluster: clusters.Cluster) -> ClusterSpec:
    """What it was made of: its id follows from this, so that whoever has the catalog alone can plan by it."""
    peerings = tuple(DnsPeering(*one.split(" ", 2)) for one in cluster.dns_peerings)
    psc = PscInterface(cluster.network_attachment or None, peerings)
    return ClusterSpec(
        name=cluster.name,
        pools=tuple(cluster.pools.values()),
        display_name=cluster.display_name,
        network=cluster.network or None,
        reserved_ip_ranges=cluster.reserved_ip_ranges,
        kms_key=cluster.kms_key or None,
        psc=psc if psc != PscInterface() else None,
        custom_service_account=cluster.custom_service_account,
        labels=cluster.labels,
        replacement=cluster.replacement,
        generation=cluster.generation,
        retire_within=None if cluster.retire_within is None else timedelta(seconds=cluster.retire_within),
        season=cluster.season,
        alternatives=tuple(Alternative(tuple(pools.values()), where) for pools, where in cluster.instead),
        region=cluster.region or "",
        alternative=cluster.alternative or 0,
        adopted=Adoption(cluster.id) if cluster.adopted else None,
        create_within=None if cluster.create_within is None else timedelta(seconds=cluster.create_within),
    )


def _fields(spec: ClusterSpec, id: str, region: str) -> dict[str, Any]:
    psc = spec.psc or PscInterface()
    return {
        "name": spec.name,
        "id": id,
        "pools": {pool.name: _pool(pool, spec.region or region) for pool in spec.pools},
        "display_name": spec.display_name,
        "network": spec.network or "",
        "reserved_ip_ranges": spec.reserved_ip_ranges,
        "kms_key": spec.kms_key or "",
        "network_attachment": psc.network_attachment or "",
        "dns_peerings": tuple(f"{one.domain} {one.target_project} {one.target_network}" for one in psc.dns_peerings),
        "custom_service_account": spec.custom_service_account,
        "labels": spec.labels,
        "replacement": spec.replacement,
        "generation": spec.generation,
        "retire_within": spec.retire_within.total_seconds() if spec.retire_within else None,
        "season": spec.season,
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
