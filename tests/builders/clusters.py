"""Clusters: declared, published and in the cloud.

A published cluster's id follows from its fields, as a real one's does: two that differ in more than `replacement` and
`retire_within` are two generations.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec, PscInterface
from slipway.model.fingerprint import fingerprint_in
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL

from .place import NOW, PROJECT, REGION, STACK
from .pools import pool, pool_spec, resource_pool


def cluster_spec(name: str = "cpu", *pools: PoolSpec, **fields: Any) -> ClusterSpec:
    """Return a declared cluster, of one autoscaled pool where none is named."""
    return ClusterSpec(name, pools or (pool_spec(),), **fields)


def cluster(name: str = "cpu", *pools: Pool, id: str = "", **fields: Any) -> Cluster:
    """Return a published cluster; `fields` are the catalog's."""
    made = Cluster(name=name, id="none", pools=pools or (pool(),), **fields)
    return replace(
        made, id=id or f"{name}-{hashlib.sha256(_generation(made, pools or made.pools).encode()).hexdigest()[:7]}"
    )


def _generation(of: Cluster, pools: Iterable[Pool]) -> str:
    """Return the text that gives the id. The guides show these ids: a later field counts where it is set."""
    psc = of.psc or PscInterface()
    told = {
        "name": of.name,
        "id": "none",
        "pools": {pool.name: pool for pool in pools},
        **{key: getattr(of, key) for key in ("display_name", "network", "reserved_ip_ranges", "kms_key")},
        "network_attachment": psc.network_attachment,
        "dns_peerings": tuple(map(str, psc.dns_peerings)),
        **{key: getattr(of, key) for key in ("custom_service_account", "labels")},
        "replacement": "",
        "generation": of.generation,
        "retire_within": None,
        "season": of.season,
        **{key: value for key in ("alternatives", "alternative", "region", "adopted") if (value := getattr(of, key))},
    }
    return f"Cluster({', '.join(f'{key}={value!r}' for key, value in told.items())})".replace(", at_most=False", "")


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


def having(of: PersistentResource, **changes: Any) -> PersistentResource:
    """Return a living cluster with other settings, or other pools."""
    pools = changes.pop("pools", of.pools)
    return replace(of, pools=pools, settings=replace(of.settings, **changes))


def asked_for(of: Cluster, **inputs: Any) -> dict[str, Any]:
    """Return the engine's request for a published cluster; `inputs` differ from the program's."""
    made = CurrentCluster(of, of.id, fingerprint_in(of.id, of.name), import_=False).request(STACK)
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
