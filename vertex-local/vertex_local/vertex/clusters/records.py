"""A persistent resource: its declaration, its state of life, and its document in the store."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

from ...repository import Repository
from ...supply.shape import Shape, shape_of
from ..names import id_of, location_of

State = Literal["PROVISIONING", "RUNNING", "STOPPING", "ERROR", "REBOOTING", "UPDATING"]
Change = Literal["create", "reboot", "delete"]


@dataclass(frozen=True)
class Pool:
    """A resource pool. Times are RFC 3339."""

    id: str
    shape: Shape
    replicas: int
    minimum: int | None = None
    maximum: int | None = None
    #: The size it is being changed to, until `due`.
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
    """A cluster."""

    name: str
    #: The declared part in canonical JSON.
    body: Mapping[str, Any]
    pools: tuple[Pool, ...]
    state: State
    create_time: str
    update_time: str
    start_time: str | None = None
    error: Mapping[str, Any] | None = None
    #: Under way until `due`, reported by `operation`.
    change: Change | None = None
    due: str | None = None
    #: The error in which the change ends.
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


CLUSTERS = Repository(kind="persistentResource", record=Cluster, key=attrgetter("name"))


def below(location: str) -> str:
    """Return the beginning of the names of a location's clusters (by its full name)."""
    return f"{location}/persistentResources/"
