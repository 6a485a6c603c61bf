"""Who gets machines: jobs that wait, in order, and pools that grow for them and shrink after them."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from local.cloud.nodes import addresses
from local.cloud.quotas.metrics import drawn
from local.cloud.services import World
from local.cloud.vertex import cluster_life, clusters, job_life, jobs, placement, usage
from local.cloud.vertex.cluster import Cluster
from local.cloud.vertex.job import Replica, Run
from local.cloud.vertex.jobs import Job
from local.cloud.vertex.names import cluster_name
from local.cloud.vertex.shape import Shape

WINDOW = 100
"""As many of the oldest waiting jobs are looked at each time; none of those behind them can go first."""


def serve_all(world: World, now: datetime) -> None:
    """Serve every queue and every autoscaled cluster. Within a transaction."""
    for region, cluster_id in jobs.queues(world.store):
        if cluster_id is None:
            serve_region(world, region, now)
    for cluster in clusters.every(world.store):
        serve_cluster(world, cluster, now)


def serve(world: World, region: str, cluster_id: str | None, now: datetime) -> None:
    """Serve the queue that one job waits in. Within a transaction."""
    if cluster_id is None:
        serve_region(world, region, now)
        return
    cluster = clusters.get(world.store, cluster_name(region, cluster_id))
    if cluster:
        serve_cluster(world, cluster, now)


def serve_cluster(world: World, cluster: Cluster, now: datetime) -> None:
    """Scale the cluster's pools for those who wait, then give machines to them in order.

    Nobody overtakes a job that waits for the same kind of machine.
    """
    if not cluster.takes_jobs:
        return
    waiting = jobs.queued(world.store, cluster.region, cluster.id, WINDOW)
    if not waiting and not any(pool.autoscaled for pool in cluster.pools):
        return
    used = usage.pool_use(world.store, cluster.region, cluster.id)
    grown = cluster_life.scaled(cluster, _needed(world, cluster, waiting, used), now, world.settings)
    if grown is not cluster:
        clusters.put(world.store, grown)
    blocked: set[Shape] = set()
    for job in waiting:
        run = _run(job)
        shapes = {demand.shape for demand in run.demands}
        places = None if shapes & blocked else placement.place(run.demands, grown.pools, used)
        if places is None:
            blocked |= shapes
        else:
            used += Counter(pool for _, pool in places)
            _start(world, job, run, places, now)


def serve_region(world: World, region: str, now: datetime) -> None:
    """Start jobs with machines of their own as far as quota is free, in order for each metric."""
    used = usage.in_use(world.store, region)
    blocked: set[str] = set()
    for job in jobs.queued(world.store, region, None, WINDOW):
        run = _run(job)
        needs = drawn(run.machines(), preemptible=run.spot)
        if blocked & needs.keys() or usage.beyond(world, region, needs, used):
            blocked |= needs.keys()
        else:
            used += needs
            _start(world, job, run, [(demand.index, None) for demand in run.demands for _ in range(demand.count)], now)


def _needed(world: World, cluster: Cluster, waiting: list[Job], used: Mapping[str, int]) -> Counter[str]:
    """Replicas wanted by pool: those in use and, as far as quota lets pools grow, those waited for."""
    needed = Counter(used)
    for job in waiting:
        needed += placement.wished(_run(job).demands, cluster.pools, needed)
    held = usage.in_use(world.store, cluster.region)
    for pool in cluster.pools:
        has = max(pool.replicas, pool.target or 0)
        extra = min(needed[pool.id], pool.ceiling) - has
        while extra > 0 and usage.beyond(world, cluster.region, drawn([(pool.shape, extra)]), held):
            extra -= 1
        if extra > 0:
            held += drawn([(pool.shape, extra)])
        needed[pool.id] = min(needed[pool.id], has + max(extra, 0))
    return needed


def _start(
    world: World, job: Job, run: Run, places: list[tuple[int, str]] | list[tuple[int, None]], now: datetime
) -> None:
    numbers: Counter[int] = Counter()
    replicas = []
    for index, pool in places:
        host, port, open_port = addresses.address(world.store.next_id("replica"))
        replicas.append(Replica(index, numbers[index], pool, host, port, open_port))
        numbers[index] += 1
    started = job_life.placed(job, run, replicas, now)
    jobs.put(world.store, run.number, run.region, started.body, started.run)


def _run(job: Job) -> Run:
    assert job.run is not None
    return job.run
