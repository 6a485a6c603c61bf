"""Live clusters in Vertex AI (persistent resources), and the operations that make them. Counts are machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.base import codec
from slipway.google.answers import Json, Regional, displayable, parse_timestamp, plain
from slipway.model.cluster import ClusterSpec, PoolSpec, PscInterface
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.machines.spec import MachineGroup, MachineSpec

RUNNING_STATES = frozenset({"RUNNING", "UPDATING"})
"""The states of clusters that take jobs."""
STEADY = "RUNNING"
"""The state of a cluster whose number of machines is not changing."""


@dataclass(frozen=True)
class ResourcePool:
    id: str
    machine: MachineSpec
    #: The machines that are up now.
    replicas: int
    #: The busy ones among them.
    used: int
    #: None for a pool of fixed size.
    min: int | None
    max: int | None

    @property
    def floor(self) -> int:
        return self.replicas if self.min is None else self.min

    @property
    def ceiling(self) -> int:
        return max(self.max or 0, self.replicas)

    @property
    def spec(self) -> PoolSpec:
        return PoolSpec(
            name=self.id,
            machine=self.machine,
            min=self.floor,
            max=self.max or self.replicas,
            autoscaled=self.max is not None,
            replicas=self.replicas,
        )

    @classmethod
    def read(cls, body: Json) -> ResourcePool:
        scaling = body.get("autoscalingSpec", {})
        autoscaled = "minReplicaCount" in scaling and "maxReplicaCount" in scaling
        return cls(
            id=body.get("id", ""),
            machine=MachineSpec.read(body),
            replicas=int(body.get("replicaCount", 0)),
            used=int(body.get("usedReplicaCount", 0)),
            min=int(scaling["minReplicaCount"]) if autoscaled else None,
            max=int(scaling["maxReplicaCount"]) if autoscaled else None,
        )


_NO_SETTINGS = ClusterSpec(name="", pools=(), custom_service_account=False)


@dataclass(frozen=True)
class PersistentResource(Regional):
    """A cluster. The engine's inputs for a cluster have the same form."""

    name: str
    #: The API's name: `RUNNING`, `ERROR` …
    state: str
    labels: Mapping[str, str]
    pools: tuple[ResourcePool, ...]
    create_time: datetime | None = None
    #: The message of an error, empty without one.
    error: str = ""
    #: gRPC's, 0 without an error.
    error_code: int = 0
    display_name: str = ""
    update_time: datetime | None = None
    #: The settings that a declaration has beside names and pools.
    settings: ClusterSpec = _NO_SETTINGS

    @property
    def spec(self) -> ClusterSpec:
        pools = tuple(pool.spec for pool in self.pools)
        return replace(self.settings, name=self.id, pools=pools, display_name=self.display_name, labels=self.labels)

    @property
    def failed(self) -> bool:
        """Tell whether the cluster failed, and has no machines and no bill: its pools have the intended numbers."""
        return self.state == "ERROR"

    @property
    def billed(self) -> bool:
        """Tell whether machines are up: a cluster is billed once it runs."""
        return not self.failed and self.state != "PROVISIONING"

    @property
    def in_use(self) -> bool:
        """Tell whether the machines run a job, whatever the lists of jobs say: those lag."""
        return any(pool.used for pool in self.pools)

    def made_by(self, stack: str) -> bool:
        """Tell whether a stack made the cluster: its labels say so, and its id follows from them."""
        name, fingerprint = self.labels.get(NAME_LABEL, ""), self.labels.get(HASH_LABEL, "")
        if not (name and fingerprint and self.labels.get(STACK_LABEL) == stack):
            return False
        from slipway.model.fingerprint import cluster_id, is_id_of  # A submission does without its import.

        return is_id_of(self.id, cluster_id(name, fingerprint))

    @property
    def machines(self) -> tuple[MachineGroup, ...]:
        return tuple(MachineGroup(pool.machine, pool.replicas) for pool in self.pools)

    @classmethod
    def read(cls, body: Json) -> PersistentResource:
        psc = body.get("pscInterfaceConfig")
        account = body.get("resourceRuntimeSpec", {}).get("serviceAccountSpec", {})
        return cls(
            name=plain(body.get("name", "")),
            display_name=plain(body.get("displayName", "")),
            state=plain(body.get("state", "STATE_UNSPECIFIED")),
            labels={key: plain(value) for key, value in body.get("labels", {}).items()},
            pools=tuple(ResourcePool.read(pool) for pool in body.get("resourcePools", ())),
            create_time=parse_timestamp(body.get("createTime")),
            update_time=parse_timestamp(body.get("updateTime")),
            error=displayable(body.get("error", {}).get("message")),
            error_code=int(body.get("error", {}).get("code", 0)),
            settings=ClusterSpec(
                name="",
                pools=(),
                network=body.get("network") or "",
                reserved_ip_ranges=tuple(body.get("reservedIpRanges", ())),
                kms_key=body.get("encryptionSpec", {}).get("kmsKeyName") or "",
                psc=codec.read(PscInterface, psc) if psc else None,
                custom_service_account=bool(account.get("enableCustomServiceAccount", False)),
            ),
        )


@dataclass(frozen=True)
class Operation:
    name: str
    done: bool
    error: str = ""
    #: gRPC's, 0 without an error.
    error_code: int = 0

    @classmethod
    def read(cls, body: Json) -> Operation:
        error = body.get("error", {})
        return cls(
            name=body.get("name", ""),
            done=bool(body.get("done", False)),
            error=displayable(error.get("message") or (f"error {error['code']}" if error.get("code") else "")),
            error_code=int(error.get("code", 0)),
        )
