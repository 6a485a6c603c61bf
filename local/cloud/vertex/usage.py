"""What of each quota is in use: counted from live clusters and jobs each time, so that it can't drift."""

from collections import Counter
from collections.abc import Mapping

from local.cloud.quotas import limits
from local.cloud.quotas.metrics import SERVICE, drawn, over
from local.cloud.services import World
from local.cloud.store import Store
from local.cloud.vertex import clusters, jobs
from local.cloud.wire import ApiError, resource_exhausted


def in_use(store: Store, region: str) -> Counter[str]:
    """Metric to amount: machines of clusters, and of jobs beside them that have started."""
    used: Counter[str] = Counter()
    for cluster in clusters.every(store, region):
        used += drawn(cluster.machines())
    for job in jobs.started(store, region):
        if job.run and job.run.cluster is None:
            used += drawn(job.run.machines(), preemptible=job.run.spot)
    return used


def beyond(world: World, region: str, needs: Mapping[str, int], used: Mapping[str, int]) -> list[str]:
    """The metrics whose limit in the region is below use and need together."""
    return over(needs, used, limits.limits(world, needs, region))


def refusal(metrics: list[str]) -> ApiError:
    """429 in the service's words, all metrics named."""
    listed = ",".join(f"{SERVICE}/{metric}" for metric in metrics)
    return resource_exhausted(f"The following quota metrics exceed quota limits: {listed}")


def pool_use(store: Store, region: str, cluster_id: str) -> Counter[str]:
    """Replicas in use by resource pool id."""
    return Counter(
        replica.pool
        for job in jobs.started(store, region, cluster_id)
        if job.run
        for replica in job.run.replicas
        if replica.pool is not None
    )
