"""A cluster that is to be made: the request for it, how long it may take, and what making it takes of the world."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from slipway.cloud.vertex import Vertex
from slipway.cluster import ClusterSpec, CurrentCluster, PoolSpec, PscInterface
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown, Use


@dataclass(frozen=True)
class NewCluster:
    """A cluster to be made. `known_by` are the labels that prove it ours; `failed` are earlier ones to clear away."""

    id: str
    body: Mapping[str, Any]
    known_by: Mapping[str, str]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreationPolicy:
    """Seconds. No new try is begun after `refused` of them; one that was accepted is waited for, up to `made`.

    `unreachable` is how long nothing may answer at all; pauses begin with `first` and double, up to `look` between two
    looks at a cluster and `again` between two tries. `cleared` is how long a failed one may take to be gone.
    """

    refused: float = 15 * 60
    made: float = 2 * 3600
    unreachable: float = 60
    cleared: float = 5 * 60
    first: float = 1.0
    look: float = 10.0
    again: float = 60.0


@dataclass(frozen=True)
class CreationContext:
    """What making a cluster needs of the world. `use` tells what is on a cluster, by its full name.

    `stop` ends all waiting; `pause` waits so many seconds, or until then.
    """

    vertex: Vertex
    use: Callable[[str], Use | Unknown]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    stop: Event = field(default_factory=Event)
    pause: Callable[[Event, float], object] = Event.wait


def cluster_labels(current: CurrentCluster, stack: str) -> dict[str, str]:
    """Those of the stack file, and the three by which a cluster is known as ours."""
    ours = {STACK_LABEL: stack, NAME_LABEL: current.spec.name, HASH_LABEL: current.hash}
    return {**current.spec.labels, **ours}


def cluster_body(current: CurrentCluster, stack: str) -> Mapping[str, Any]:
    """Field by field what the provider sends for the same declaration, as it takes the cluster over afterwards."""
    spec = current.spec
    return {
        "displayName": spec.display_name,
        "labels": cluster_labels(current, stack),
        "resourcePools": [_pool(pool) for pool in spec.pools],
        **_network(spec),
        **({"encryptionSpec": {"kmsKeyName": spec.kms_key}} if spec.kms_key else {}),
        **(
            {"resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}}}
            if spec.custom_service_account
            else {}
        ),
    }


def _network(spec: ClusterSpec) -> dict[str, Any]:
    return {
        **({"network": spec.network} if spec.network else {}),
        **({"reservedIpRanges": list(spec.reserved_ip_ranges)} if spec.reserved_ip_ranges else {}),
        **({"pscInterfaceConfig": _psc(spec.psc)} if spec.psc else {}),
    }


def _psc(psc: PscInterface) -> dict[str, Any]:
    peerings = [
        {"domain": one.domain, "targetProject": one.target_project, "targetNetwork": one.target_network}
        for one in psc.dns_peerings
    ]
    return {
        **({"networkAttachment": psc.network_attachment} if psc.network_attachment else {}),
        **({"dnsPeeringConfigs": peerings} if peerings else {}),
    }


def _pool(pool: PoolSpec) -> dict[str, Any]:
    bounds = {"minReplicaCount": str(pool.min), "maxReplicaCount": str(pool.max)}
    return {
        "id": pool.name,
        **pool.machine.request(),
        "replicaCount": str(pool.replicas),
        **({"autoscalingSpec": bounds} if pool.autoscaled else {}),
    }
