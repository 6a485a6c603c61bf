"""Bodies that tests send to Vertex AI: clusters and custom jobs, small by default."""

from collections.abc import Mapping
from typing import Any


def pool(machine: str = "n1-standard-4", replicas: int | None = 2, **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"machineSpec": {"machineType": machine}}
    if replicas is not None:
        base["replicaCount"] = str(replicas)
    return base | changes


def autoscaled(low: int, high: int, machine: str = "n1-standard-4") -> dict[str, Any]:
    return pool(machine, None, autoscalingSpec={"minReplicaCount": str(low), "maxReplicaCount": str(high)})


def cluster_body(*pools: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {"resourcePools": list(pools) or [pool()]} | changes


def worker(machine: str = "n1-standard-4", replicas: int = 1, **changes: Any) -> dict[str, Any]:
    task = {"imageUri": "python:3.10", "command": ["true"]}
    return {"machineSpec": {"machineType": machine}, "replicaCount": str(replicas), "containerSpec": task} | changes


def job_body(*workers: Mapping[str, Any], cluster: str | None = None, **changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"workerPoolSpecs": list(workers) or [worker()]} | changes.pop("spec", {})
    if cluster:
        spec["persistentResourceId"] = cluster
    return {"displayName": "train", "jobSpec": spec} | changes
