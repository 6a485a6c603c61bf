"""Persistent resources in the store."""

import json
from functools import lru_cache

from local.cloud.store import Store
from local.cloud.vertex import cluster as model
from local.cloud.vertex.cluster import Cluster
from local.cloud.vertex.names import location_name

_KIND = "persistentResource"


def get(store: Store, name: str) -> Cluster | None:
    found = store.get(_KIND, name)
    return None if found is None else model.load(found)


def put(store: Store, cluster: Cluster) -> None:
    store.put(_KIND, cluster.name, model.dump(cluster))


def remove(store: Store, name: str) -> None:
    store.delete(_KIND, name)


def every(store: Store, region: str | None = None) -> list[Cluster]:
    """All clusters, or those of a region, oldest first."""
    prefix = f"{location_name(region)}/persistentResources/" if region else ""
    return [_read(text) for _, text in store.texts(_KIND, prefix)]


def page(store: Store, region: str, after: str, size: int) -> tuple[list[Cluster], str]:
    documents, more = store.page(_KIND, f"{location_name(region)}/persistentResources/", after, size)
    return [model.load(document) for _, document in documents], more


@lru_cache(1024)
def _read(text: str) -> Cluster:
    """The scheduler looks at all clusters several times a second, and most have not changed since."""
    return model.load(json.loads(text))
