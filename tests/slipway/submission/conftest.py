"""Clusters and jobs to judge, in few words."""

from datetime import UTC, datetime, timedelta

from slipway.cloud.resources import CustomJob, PersistentResource, ResourcePool, Shape, WorkerPool
from slipway.submission.demand import Demand, Part

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
N1 = Shape("n1-standard-8", None, 0, "pd-ssd", 100)
HEAD = Shape("n1-standard-4", None, 0, "pd-ssd", 100)


def pool(
    name: str = "workers", shape: Shape = N1, replicas: int = 1, used: int = 0, most: int | None = None
) -> ResourcePool:
    return ResourcePool(name, shape, replicas, used, None if most is None else 1, most)


def cluster(*pools: ResourcePool, state: str = "RUNNING") -> PersistentResource:
    return PersistentResource("projects/1/locations/r/persistentResources/cpu-1", "cpu", state, {}, pools, NOW, "")


def demand(*parts: tuple[str, str, Shape, int]) -> Demand:
    return Demand(tuple(Part(*part) for part in parts))


def job(
    name: str = "tune",
    machines: int = 1,
    shape: Shape = N1,
    *,
    user: str = "ada",
    minutes: float | None = 14,
    on: str = "cpu-1",
    strategy: str = "",
    state: str = "",
) -> CustomJob:
    """A job that has run for `minutes`, or waits when that is None."""
    return CustomJob(
        name=f"projects/1/locations/r/customJobs/{abs(hash(name)) % 10**9}",
        display_name=name,
        state=state or ("JOB_STATE_QUEUED" if minutes is None else "JOB_STATE_RUNNING"),
        labels={"slipway-user": user},
        worker_pools=(WorkerPool(shape, machines),),
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
