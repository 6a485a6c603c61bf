"""Clusters: declared, published and in the cloud.

A published cluster's id follows from its fields, as a real one's does: two that differ in more than `replacement` and
`retire_within` are two generations.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.catalog.clusters import Cluster, Pool
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.fingerprint import fingerprint_in
from slipway.generations.published_clusters import declared
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL

from .place import NOW, PROJECT, REGION, STACK
from .pools import pool, pool_spec, resource_pool


def cluster_spec(name: str = "cpu", *pools: PoolSpec, **fields: Any) -> ClusterSpec:
    """Return a declared cluster, of one autoscaled pool where none is named."""
    return ClusterSpec(name, pools or (pool_spec(),), **fields)


def cluster(name: str = "cpu", *pools: Pool, id: str = "", **fields: Any) -> Cluster:
    """Return a published cluster; `fields` are the catalog's."""
    by_name = {one.name: one for one in pools or (pool(),)}
    made = Cluster(name=name, id="none", pools=by_name, display_name=fields.pop("display_name", name), **fields)
    of_generation = repr(replace(made, replacement="", retire_within=None, create_within=None))
    # The guides show these ids: a later field counts where it is set.
    of_generation = of_generation.replace(", create_within=None", "").replace(
        ", region=None, alternative_regions=None", ""
    )
    of_generation = of_generation.replace(", alternatives=None, alternative=None, adopted=None", "")
    of_generation = of_generation.replace(", at_most=False", "")
    return replace(made, id=id or f"{name}-{hashlib.sha256(of_generation.encode()).hexdigest()[:7]}")


def persistent_resource(
    id: str = "cpu-1a2b3c4",
    *pools: ResourcePool,
    state: str = "RUNNING",
    name: str = "",
    stack: str = STACK,
    digest: str = "",
    **fields: Any,
) -> PersistentResource:
    """Return a cluster of the cloud, with a stack's labels. By default its id is its name and its digest."""
    first, _, last = id.rpartition("-")
    labels = {STACK_LABEL: stack, NAME_LABEL: name or first, HASH_LABEL: digest or last}
    usual: dict[str, Any] = {"labels": labels, "pools": pools or (resource_pool(high=4),)}
    return PersistentResource(id, state, **{**usual, **fields})


def asked_for(of: Cluster, **inputs: Any) -> dict[str, Any]:
    """Return the engine's request for a published cluster; `inputs` differ from the program's."""
    made = CurrentCluster(declared(of), of.id, fingerprint_in(of.id, of.name), import_=False).request(STACK)
    return {"name": of.id, "project": PROJECT, "location": of.region or REGION, **made, **inputs}


def living(of: Cluster, *, used: int = 0, state: str = "RUNNING", replicas: int | None = None) -> PersistentResource:
    """Return a published cluster in the cloud, with `used` machines busy in each pool, and as many up as its pools keep
    at least."""
    made = PersistentResource.read(asked_for(of))
    pools = (
        replace(pool, replicas=max(pool.floor, used) if replicas is None else replicas, used=used)
        for pool in made.pools
    )
    return replace(made, state=state, pools=tuple(pools), create_time=NOW - timedelta(days=9))
