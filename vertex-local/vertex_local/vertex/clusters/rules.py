"""Rules for a persistent resource, and its defaults (vertex-rules 1.1, 1.2, 1.4, 1.5)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...supply import machines, tpus
from ...supply.shape import defaulted_disk
from ..field_errors import Mistake, disk_mistakes, display_name_mistakes, key_mistakes, label_mistakes
from ..names import CLUSTER_ID
from ..network import network_mistakes

MAX_NODES = 1000
_OUTPUT_ONLY = (
    "state",
    "error",
    "createTime",
    "startTime",
    "updateTime",
    "resourceRuntime",
    "satisfiesPzs",
    "satisfiesPzi",
)
_ROOT = "persistent_resource"


def id_mistakes(cluster_id: str) -> list[Mistake]:
    if CLUSTER_ID.fullmatch(cluster_id):
        return []
    wanted = "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
    return [Mistake("persistent_resource_id", f'The id "{cluster_id}" must match {wanted}.')]


def mistakes(body: Mapping[str, Any], region: str) -> list[Mistake]:
    """Return all errors in a create's canonical body."""
    problems = display_name_mistakes(f"{_ROOT}.display_name", body.get("displayName", ""))
    problems += label_mistakes(f"{_ROOT}.labels", body.get("labels", {}))
    pools = body.get("resourcePools", [])
    if not pools:
        problems.append(Mistake(f"{_ROOT}.resource_pools", "At least one resource pool is required."))
    for at, pool in enumerate(pools):
        problems += _pool(f"{_ROOT}.resource_pools[{at}]", pool, region)
    ids = [pool["id"] for pool in pools if pool.get("id")]
    for repeated in sorted({name for name in ids if ids.count(name) > 1}):
        problems.append(Mistake(f"{_ROOT}.resource_pools.id", f'Resource pool id "{repeated}" is used more than once.'))
    return [
        *problems,
        *network_mistakes(_ROOT, body, region),
        *key_mistakes(_ROOT, body, region),
        *_service_account(body),
    ]


def defaulted(body: Mapping[str, Any], cluster_id: str) -> dict[str, Any]:
    """Return the body as it will be answered: names, disks and counts filled in, output fields dropped."""
    result = {key: value for key, value in body.items() if key not in _OUTPUT_ONLY and key != "name"}
    result["displayName"] = body.get("displayName") or cluster_id
    taken: set[str] = {pool["id"] for pool in body["resourcePools"] if pool.get("id")}
    pools = []
    for pool in body["resourcePools"]:
        pool_id = pool.get("id") or _free(_generated_id(pool["machineSpec"]), taken)
        taken.add(pool_id)
        pools.append(_defaulted_pool(pool, pool_id))
    result["resourcePools"] = pools
    return result


def _defaulted_pool(pool: Mapping[str, Any], pool_id: str) -> dict[str, Any]:
    scaling = pool.get("autoscalingSpec", {})
    return {
        "id": pool_id,
        **{key: value for key, value in pool.items() if key not in ("id", "usedReplicaCount")},
        "diskSpec": defaulted_disk(pool["machineSpec"], pool.get("diskSpec", {})),
        "replicaCount": pool.get("replicaCount") or scaling["minReplicaCount"],
    }


def _generated_id(machine: Mapping[str, Any]) -> str:
    if "acceleratorType" not in machine:
        return str(machine["machineType"])
    accelerator = machine["acceleratorType"].lower().replace("_", "-")
    return f"{machine['machineType']}-{accelerator}-{machine.get('acceleratorCount', 0)}"


def _free(wanted: str, taken: set[str]) -> str:
    candidates = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)


def _pool(path: str, pool: Mapping[str, Any], region: str) -> Iterator[Mistake]:
    machine = pool.get("machineSpec", {})
    if "reservationAffinity" in machine:
        yield Mistake(
            f"{path}.machine_spec.reservation_affinity", "Reservations are not supported on persistent resources."
        )
    if tpus.is_tpu(machine) or "tpuTopology" in machine or machine.get("acceleratorType", "").startswith("TPU"):
        yield Mistake(f"{path}.machine_spec", "TPUs are not supported on persistent resources.")
        return
    if (accelerator := machine.get("acceleratorType", "")) in machines.RESERVED_ONLY:
        text = f"Accelerator {accelerator} requires a shared reservation, which no persistent resource can use."
        yield Mistake(f"{path}.machine_spec.accelerator_type", text)
    for field, message in machines.table().spec_mistakes(machine, region):
        yield Mistake(f"{path}.machine_spec.{field}", message)
    yield from disk_mistakes(f"{path}.disk_spec", pool.get("diskSpec", {}))
    yield from _replicas(path, pool)


def _replicas(path: str, pool: Mapping[str, Any]) -> Iterator[Mistake]:
    count = int(pool["replicaCount"]) if "replicaCount" in pool else None
    scaling = pool.get("autoscalingSpec")
    if scaling is None:
        if count is None or count < 1:
            yield Mistake(f"{path}.replica_count", "Replica count must be at least 1.")
        elif count > MAX_NODES:
            yield Mistake(f"{path}.replica_count", f"Replica count {count} is more than {MAX_NODES}.")
        return
    if "maxReplicaCount" not in scaling or "minReplicaCount" not in scaling:
        yield Mistake(f"{path}.autoscaling_spec", "Both min_replica_count and max_replica_count must be set and > 0.")
        return
    low, high = int(scaling["minReplicaCount"]), int(scaling["maxReplicaCount"])
    if low < 1:
        yield Mistake(f"{path}.autoscaling_spec.min_replica_count", "Min replica count must be greater than 0.")
    if low >= high:
        text = f"Max replica count {high} must be greater than min replica count {low}."
        yield Mistake(f"{path}.autoscaling_spec.max_replica_count", text)
    if high > MAX_NODES:
        yield Mistake(
            f"{path}.autoscaling_spec.max_replica_count", f"Max replica count {high} is more than {MAX_NODES}."
        )
    if count is not None and not low <= count <= high:
        text = f"Replica count {count} must be between min replica count {low} and max replica count {high}."
        yield Mistake(f"{path}.replica_count", text)


def _service_account(body: Mapping[str, Any]) -> Iterator[Mistake]:
    spec = body.get("resourceRuntimeSpec", {}).get("serviceAccountSpec", {})
    if spec.get("serviceAccount") and not spec.get("enableCustomServiceAccount"):
        path = f"{_ROOT}.resource_runtime_spec.service_account_spec.service_account"
        yield Mistake(path, "A service account needs enable_custom_service_account.")
