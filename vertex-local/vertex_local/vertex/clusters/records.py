"""A persistent resource: its declaration, its state of life, and its document in the store."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

from ...store import Store
from ...supply.shape import Shape, shape_of
from ...world import World
from ..names import id_of, location_name, location_of

State = Literal["PROVISIONING", "RUNNING", "STOPPING", "ERROR", "REBOOTING", "UPDATING"]
_KIND = "persistentResource"
Change = Literal["create", "reboot", "delete"]


@dataclass(frozen=True)
class Pool:
    """A resource pool. `target` is the size it is being changed to, until `due`; times are RFC 3339."""

    id: str
    shape: Shape
    replicas: int
    minimum: int | None = None
    maximum: int | None = None
    target: int | None = None
    due: str | None = None
    idle_since: str | None = None

    @property
    def autoscaled(self) -> bool:
        return self.maximum is not None

    @property
    def ceiling(self) -> int:
        """The most replicas it can ever have."""
        return self.replicas if self.maximum is None else self.maximum


@dataclass(frozen=True)
class Cluster:
    """A cluster. `body` is the declared part in canonical JSON.

    `change` is under way until `due`, reported by `operation`, and ends in `fate` where that is an error.
    """

    name: str
    body: Mapping[str, Any]
    pools: tuple[Pool, ...]
    state: State
    create_time: str
    update_time: str
    start_time: str | None = None
    error: Mapping[str, Any] | None = None
    change: Change | None = None
    due: str | None = None
    fate: Mapping[str, Any] | None = None
    operation: str | None = None

    @property
    def id(self) -> str:
        return id_of(self.name)

    @property
    def region(self) -> str:
        return location_of(self.name)

    @property
    def service_account_spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.body.get("resourceRuntimeSpec", {}).get("serviceAccountSpec", {})
        return spec

    @property
    def custom_service_account(self) -> bool:
        return bool(self.service_account_spec.get("enableCustomServiceAccount", False))

    @property
    def holds_machines(self) -> bool:
        return self.state != "ERROR"

    @property
    def takes_jobs(self) -> bool:
        return self.state in ("RUNNING", "UPDATING")

    def machines(self) -> list[tuple[Shape, int]]:
        """Return the machines that the cluster holds or is about to; one that will end in an error gets none."""
        if not self.holds_machines or (self.fate is not None and self.change != "delete"):
            return []
        return [(pool.shape, max(pool.replicas, pool.target or 0)) for pool in self.pools]


def pool_of(spec: Mapping[str, Any]) -> Pool:
    """Return a pool of a declared body that has passed the rules and has its defaults."""
    scaling = spec.get("autoscalingSpec", {})
    minimum, maximum = scaling.get("minReplicaCount"), scaling.get("maxReplicaCount")
    return Pool(
        id=spec["id"],
        shape=shape_of(spec["machineSpec"], spec["diskSpec"]),
        replicas=int(spec["replicaCount"]),
        minimum=None if minimum is None else int(minimum),
        maximum=None if maximum is None else int(maximum),
    )


def answer(cluster: Cluster, used: Mapping[str, int]) -> dict[str, Any]:
    """Return the body of a read. `used` maps pool ids to replicas in use."""
    body = {**cluster.body, "name": cluster.name, "state": cluster.state, "createTime": cluster.create_time}
    body["resourcePools"] = [
        {**spec, "replicaCount": str(pool.replicas)}
        | ({"usedReplicaCount": str(used[pool.id])} if used.get(pool.id) else {})
        for spec, pool in zip(cluster.body["resourcePools"], cluster.pools, strict=True)
    ]
    # The service answers an empty error even for a healthy cluster.
    body["error"] = dict(cluster.error or {})
    body["updateTime"] = cluster.update_time
    if cluster.start_time:
        body["startTime"] = cluster.start_time
    return body


def dump(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as a document for the store."""
    return asdict(cluster)


def load(document: Mapping[str, Any]) -> Cluster:
    """Return a cluster from its document."""
    pools = tuple(Pool(**{**pool, "shape": Shape(**pool["shape"])}) for pool in document["pools"])
    return Cluster(**{**document, "pools": pools})


def get(store: Store, name: str) -> Cluster | None:
    found = store.get(_KIND, name)
    return None if found is None else load(found)


def put(store: Store, cluster: Cluster) -> None:
    store.put(_KIND, cluster.name, dump(cluster))


def remove(store: Store, name: str) -> None:
    store.delete(_KIND, name)


def every(store: Store, place: str = "") -> list[Cluster]:
    """Return all clusters, or those of a location (by its full name), oldest first."""
    prefix = f"{place}/persistentResources/" if place else ""
    return [_read(text) for _, text in store.texts(_KIND, prefix)]


def page(world: World, region: str, after: str, size: int) -> tuple[list[Cluster], str]:
    documents, more = world.store.page(
        _KIND, f"{location_name(world.project, region)}/persistentResources/", after, size
    )
    return [load(document) for _, document in documents], more


@lru_cache(1024)
def _read(text: str) -> Cluster:
    """Return a cluster, cached: the scheduler reads all several times a second, and most have not changed since."""
    return load(json.loads(text))
