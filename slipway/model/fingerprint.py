"""The hash that tells one generation of a cluster from another.

Frozen: a change in the hashed values, or in the hash, would make every stack build new clusters. Golden tests hold it.
"""

from __future__ import annotations

import hashlib
import json

from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.cluster_fields import POOL

HASH_LENGTH = 7
LONGEST_ID = 63
# A name leaves room for "-", the hash, "-" and two digits.
LONGEST_NAME = LONGEST_ID - 1 - HASH_LENGTH - 3
_FIRST = frozenset(("machine", "accelerator", "disk.type", "disk.sizeGb", "replicas", "replicas.min", "replicas.max"))
"""Fields of a pool that are hashed under the API's names; each later one is under its own key, where it is set."""


def fingerprint_of(stack: str, project: str, region: str, spec: ClusterSpec) -> str:
    """Return seven hexadecimal digits over every provider field that can't change on a living cluster.

    `region` is the stack's, which an alternative may leave. Left out are the changeable parts: the kind of replacement,
    the season, the alarm, the provider's client-side deletion policy, and the first number of machines of an autoscaled
    pool, which the autoscaler moves.
    """
    psc = None
    if spec.psc is not None:
        psc = {
            "networkAttachment": spec.psc.network_attachment or None,
            "dnsPeerings": [[dns.domain, dns.target_project, dns.target_network] for dns in spec.psc.dns_peerings],
        }
    fields = {
        "stack": stack,
        "project": project,
        "region": spec.region or region,
        "name": spec.name,
        "generation": spec.generation,
        "displayName": spec.display_name,
        "labels": dict(spec.labels),
        "network": spec.network or None,
        "reservedIpRanges": list(spec.reserved_ip_ranges),
        "kmsKey": spec.kms_key or None,
        "psc": psc,
        "customServiceAccount": spec.custom_service_account,
        "pools": [_pool(pool) for pool in spec.pools],
    }
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:HASH_LENGTH]


def cluster_id(name: str, fingerprint: str, n: int = 1) -> str:
    """Return the id of the n-th cluster of a generation: `name-hash`, then `name-hash-2` when that id is spent."""
    return f"{name}-{fingerprint}" if n == 1 else f"{name}-{fingerprint}-{n}"


def fingerprint_in(id_: str, name: str) -> str:
    """Return the fingerprint in an id that `cluster_id` made."""
    return id_.removeprefix(f"{name}-")[:HASH_LENGTH]


def is_id_of(id_: str, base: str) -> bool:
    """Tell whether an id is that of some cluster of the generation whose first cluster has the id `base`."""
    return id_ == base or (id_.startswith(f"{base}-") and id_.removeprefix(f"{base}-").isdecimal())


def _pool(pool: PoolSpec) -> dict[str, object]:
    size: dict[str, int] = {"min": pool.min, "max": pool.max} if pool.autoscaled else {"replicas": pool.replicas}
    return {
        "id": pool.name,
        "machineType": pool.machine.type,
        "acceleratorType": pool.machine.accelerator,
        "acceleratorCount": pool.machine.accelerator_count,
        "diskType": pool.machine.disk.type,
        "diskSizeGb": pool.machine.disk.size_gb,
        **size,
        **{field.key: words for field in POOL if field.key not in _FIRST and (words := field.words(pool))},
    }
