"""Clusters and jobs to judge, in short."""

from datetime import UTC, datetime, timedelta

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob, WorkerPool
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.demand import Demand, Part

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
N1 = MachineSpec("n1-standard-8")
HEAD = MachineSpec("n1-standard-4")


def pool(
    name: str = "workers", machine: MachineSpec = N1, replicas: int = 1, used: int = 0, most: int | None = None
) -> ResourcePool:
    return ResourcePool(name, machine, replicas, used, None if most is None else 1, most)


def cluster(*pools: ResourcePool, state: str = "RUNNING") -> PersistentResource:
    return PersistentResource("projects/1/locations/r/persistentResources/cpu-1", state, {}, pools, NOW)


def demand(*parts: tuple[str, str, MachineSpec, int]) -> Demand:
    return Demand(tuple(Part(*part) for part in parts))


def job(
    name: str = "tune",
    machines: int = 1,
    machine: MachineSpec = N1,
    *,
    user: str = "ada",
    minutes: float | None = 14,
    on: str = "cpu-1",
    strategy: str = "",
    state: str = "",
) -> VertexJob:
    """Return a job that has run for `minutes`, or waits when that is None."""
    return VertexJob(
        name=f"projects/1/locations/r/customJobs/{abs(hash(name)) % 10**9}",
        display_name=name,
        state=state or ("JOB_STATE_QUEUED" if minutes is None else "JOB_STATE_RUNNING"),
        labels={"slipway-user": user},
        worker_pools=(WorkerPool(machine, machines),),
        persistent_resource_id=on,
        strategy=strategy,
        output="",
        service_account="",
        create_time=NOW - timedelta(minutes=60),
        start_time=None if minutes is None else NOW - timedelta(minutes=minutes),
        end_time=None,
        update_time=None,
        error="",
    )
