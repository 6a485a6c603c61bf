"""The request that makes a cluster: what is asked for, as Vertex AI's REST API takes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.cluster import ClusterSpec, PoolSpec, PscInterface
from slipway.generations import Current
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL


def labels(current: Current, stack: str) -> dict[str, str]:
    """Those of the stack file, and the three by which a cluster is known as ours."""
    ours = {STACK_LABEL: stack, NAME_LABEL: current.spec.name, HASH_LABEL: current.hash}
    return {**current.spec.labels, **ours}


def body(current: Current, stack: str) -> Mapping[str, Any]:
    """Field by field what the provider sends for the same declaration, as it takes the cluster over afterwards."""
    spec = current.spec
    return {
        "displayName": spec.display_name,
        "labels": labels(current, stack),
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
    machine: dict[str, Any] = {"machineType": pool.machine_type}
    if pool.accelerator_type:
        machine |= {"acceleratorType": pool.accelerator_type, "acceleratorCount": pool.accelerator_count}
    bounds = {"minReplicaCount": str(pool.min), "maxReplicaCount": str(pool.max)}
    return {
        "id": pool.name,
        "machineSpec": machine,
        "replicaCount": str(pool.replicas),
        "diskSpec": {"bootDiskType": pool.disk.type, "bootDiskSizeGb": pool.disk.size_gb},
        **({"autoscalingSpec": bounds} if pool.autoscaled else {}),
    }
