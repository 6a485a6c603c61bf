"""Jobs, as the service lists them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from slipway.google.jobs import VertexJob
from slipway.google.worker_pools import WorkerPool
from slipway.model.catalog.clusters import Cluster
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import STACK_LABEL, TEMPLATE_LABEL, USER_LABEL
from slipway.model.machines.spec import MachineSpec

from .place import NOW, STACK, TRAINER, WORK_BUCKET
from .pools import CPU


def job(
    name: str = "tune-27b-x1",
    *,
    on: Cluster | str | None = None,
    template: str = "lora",
    user: str = "user-a",
    state: str = "RUNNING",
    minutes: float = 192,
    machine: MachineSpec = CPU,
    replicas: int = 1,
    kind: JobKind = CUSTOM_JOB,
    env: Mapping[str, str] | None = None,
    packages: tuple[str, ...] = (),
    reservations: tuple[str, ...] = (),
    **fields: Any,
) -> VertexJob:
    """Return a job. `on`: its cluster, or that one's id. `minutes`: since its creation, and since its start where it
    runs. `fields` are the job's own."""
    since = NOW - timedelta(minutes=minutes)
    listed = tuple(f"{key}={value}" for key, value in (env or {}).items())
    labels = {STACK_LABEL: STACK, TEMPLATE_LABEL: template, USER_LABEL: user}
    usual: dict[str, Any] = {
        "labels": {key: value for key, value in labels.items() if value},
        "worker_pools": (
            WorkerPool(machine, replicas, image="executor:1", packages=packages, env=listed, reservations=reservations),
        ),
        "persistent_resource_id": on.id if isinstance(on, Cluster) else on or "",
        "service_account": TRAINER,
        "create_time": since,
        "start_time": since if state == "RUNNING" else None,
        "buckets": frozenset({WORK_BUCKET}),
        "kind": kind,
    }
    return VertexJob(f"projects/1/jobs/{name}", name, f"JOB_STATE_{state}", **{**usual, **fields})
