"""The queues of jobs that wait for machines, and the pools that grow for them and shrink after them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from ...clock import timestamp
from ...nodes import addresses
from ...quotas import limits
from ...quotas.metrics import drawn
from ...supply.allotment import Allotment
from ...supply.shape import Shape
from ...world import World
from ..clusters import life as cluster_life
from ..clusters.records import CLUSTERS, Cluster, Pool
from ..jobs import table as jobs
from ..jobs import waiting as waiting_life
from ..jobs.records import Job, Replica, Run
from ..names import cluster_name
from . import availability, placement, quota_usage, reservations

WINDOW = 100
"""The number of oldest waiting jobs of each queue that a step looks at; none of those behind them can go first."""


def serve_all(world: World, now: datetime) -> None:
    """End jobs that have waited too long, then serve every queue and every autoscaled cluster. Within a transaction."""
    for job in jobs.overdue(world.store, timestamp(now)):
        run = _run(job)
        jobs.keep(world, run, waiting_life.expired(job, run, now, world.settings))
    for region, cluster_id in jobs.queues(world.store):
        if cluster_id is None:
            serve_region(world, region, now)
    for cluster in CLUSTERS.every(world.store):
        serve_cluster(world, cluster, now)


def serve(world: World, region: str, cluster_id: str | None, now: datetime) -> None:
    """Serve the queue that one job waits in. Within a transaction."""
    if cluster_id is None:
        serve_region(world, region, now)
        return
    cluster = CLUSTERS.get(world.store, cluster_name(world.project, region, cluster_id))
    if cluster:
        serve_cluster(world, cluster, now)


def serve_cluster(world: World, cluster: Cluster, now: datetime) -> None:
    """Scale the cluster's pools for the waiting jobs, then give machines to them in order.

    Nobody overtakes a job that waits for the same kind of machine.
    """
    if not cluster.takes_jobs:
        return
    waiting = jobs.queued(world.store, cluster.region, cluster.id, timestamp(now), WINDOW)
    if not waiting and not any(pool.autoscaled for pool in cluster.pools):
        return
    used = jobs.pool_use(world.store, cluster.region, cluster.id)
    grown = cluster_life.scaled(cluster, _needed(world, cluster, waiting, used, now), now, world.settings)
    if grown is not cluster:
        CLUSTERS.put(world.store, grown)
    blocked: set[Shape] = set()
    for job in waiting:
        run = _run(job)
        shapes = {demand.shape for demand in run.demands}
        places = None if shapes & blocked else placement.place(run.demands, grown.pools, used)
        if places is None:
            blocked |= shapes
        else:
            used += Counter(pool for _, pool in places)
            _start(world, job, run, [(index, pool, None) for index, pool in places], now)


def serve_region(world: World, region: str, now: datetime) -> None:
    """Start jobs with machines of their own as far as quota and machines are there.

    Order counts for each quota metric; among flex-start jobs also for each machine type. Other jobs don't queue for
    machines: one that finds none tries again later.
    """
    used, left = quota_usage.in_use(world, region), availability.supply(world, region, now)
    without_quota: set[str] = set()
    awaited: set[str] = set()
    for job in jobs.queued(world.store, region, None, timestamp(now), WINDOW):
        run = _run(job)
        needs = quota_usage.draw(run.demands, run.strategy, world.settings)
        types = {demand.shape.machine_type for demand in run.demands}
        if without_quota & needs.keys() or limits.beyond(world, region, needs, used):
            without_quota |= needs.keys()
            _keep(world, run, job, waiting_life.without_quota(job, run, now))
            continue
        given = None if run.flex and types & awaited else left.allotted(reservations.wants(run.demands), run.strategy)
        if given is None:
            awaited |= types if run.flex else set()
            _keep(world, run, job, waiting_life.without_machines(job, run, now, world.settings))
            continue
        used += needs
        left = left.without(given, run.strategy)
        _start(world, job, run, [(item.index, None, item.reservation) for item in given], now)


def _needed(world: World, cluster: Cluster, waiting: list[Job], used: Mapping[str, int], now: datetime) -> Counter[str]:
    """Return the replicas wanted by pool: those in use and, as far as quota and machines allow, those waited for."""
    needed = Counter(used)
    for job in waiting:
        needed += placement.wanted(_run(job).demands, cluster.pools, needed)
    grows = {pool.id: min(needed[pool.id], pool.ceiling) - _has(pool) for pool in cluster.pools}
    if not any(extra > 0 for extra in grows.values()):
        return needed
    held, left = quota_usage.in_use(world, cluster.region), availability.supply(world, cluster.region, now)
    for pool in cluster.pools:
        extra = max(grows[pool.id], 0)
        machine = pool.shape.machine_type
        free = left.free(machine, "standard")
        extra = extra if free is None else min(extra, free)
        while extra > 0 and limits.beyond(world, cluster.region, drawn([(pool.shape, extra)]), held):
            extra -= 1
        held += drawn([(pool.shape, extra)])
        left = left.without([Allotment(0, machine)] * extra, "standard")
        needed[pool.id] = min(needed[pool.id], _has(pool) + extra)
    return needed


def _has(pool: Pool) -> int:
    return max(pool.replicas, pool.target or 0)


def _keep(world: World, run: Run, before: Job, after: Job) -> None:
    if after is not before:
        jobs.keep(world, run, after)


def _start(
    world: World, job: Job, run: Run, places: Iterable[tuple[int, str | None, str | None]], now: datetime
) -> None:
    """Put a job on machines: (worker pool, pool of its cluster or None, reservation or None) for each replica."""
    numbers: Counter[int] = Counter()
    replicas: list[Replica] = []
    takes = 0.0 if run.cluster else world.settings.delay(world.settings.machine_seconds)
    made = timestamp(now + timedelta(seconds=takes)) if takes else None
    beginning, first = addresses.beginning(world.state_folder), 0
    for index, pool, reservation in places:
        number = beginning + world.store.next_id("replica")
        first = first or number
        host, port, open_port = addresses.address(number, first)
        replicas.append(Replica(index, numbers[index], pool, host, port, open_port, reservation, made=made))
        numbers[index] += 1
    jobs.keep(world, run, waiting_life.placed(job, run, replicas, now))


def _run(job: Job) -> Run:
    assert job.run is not None
    return job.run
