"""The machines that a region has left, and those to be taken back: derived each time from all holders."""

from collections import Counter
from datetime import datetime

from ...supply import records as scenarios
from ...supply.allotment import Supply
from ...supply.preemption import Target
from ...supply.scenario import Strategy
from ...world import World
from ..clusters.records import CLUSTERS, Cluster, below
from ..jobs import table as jobs
from ..jobs.records import Job, Run, running_s
from ..names import location_name


def supply(world: World, region: str, now: datetime, *, leaving: bool = True) -> Supply:
    """Return the supply of a region. Without `leaving`, machines of jobs that are about to give them up don't count."""
    loaded = scenarios.current(world)
    limits = loaded.limits(region, now)
    reservations = {
        path: item
        for path, item in loaded.reservations(now).items()
        if item.region == region and (item.ends is None or world.settings.calendar_reservations == "consumable")
    }
    if not limits and not reservations:
        return Supply()
    used: Counter[tuple[str, Strategy]] = Counter()
    reserved: Counter[str] = Counter()
    for cluster in CLUSTERS.every(world.store, below(location_name(world.project, region))):
        used += machines(cluster)
    for job in jobs.started(world.store, region):
        run = job.run
        if run is None or run.cluster is not None or (run.outcome is not None and not leaving):
            continue
        types = {item.index: item.shape.machine_type for item in run.demands}
        for replica in run.replicas:
            if replica.reservation is None:
                used[types[replica.index], run.strategy] += 1
            else:
                reserved[replica.reservation] += 1
    return Supply(limits, used, reservations, reserved)


def machines(cluster: Cluster) -> Counter[tuple[str, Strategy]]:
    used: Counter[tuple[str, Strategy]] = Counter()
    for shape, count in cluster.machines():
        used[shape.machine_type, "standard"] += count
    return used


def suffices(world: World, cluster: Cluster, now: datetime) -> bool:
    """Return whether there are machines for a cluster that is to be made."""
    left = supply(world, cluster.region, now)
    wanted = machines(cluster)
    frees = ((left.free(machine, strategy), count) for (machine, strategy), count in wanted.items())
    return all(free is None or count <= free for free, count in frees)


def targets(started: list[Job], now: datetime) -> list[Target]:
    """Return the Spot jobs among those with machines, as preemption sees them."""
    return [_target(job, job.run, now) for job in started if job.run and job.run.spot and job.run.outcome is None]


def excess(world: World, targets: list[Target], now: datetime) -> dict[tuple[str, str], int]:
    """Return the Spot machines, by (region, type), in use beyond the present supply."""
    kinds = {kind for target in targets for kind in target.machines}
    supplies = {region: supply(world, region, now, leaving=False) for region, _ in kinds}
    return {(region, machine): supplies[region].excess(machine) for region, machine in kinds}


def _target(job: Job, run: Run, now: datetime) -> Target:
    counted: Counter[tuple[str, str]] = Counter()
    for item in run.demands:
        counted[run.region, item.shape.machine_type] += item.count
    running = run.state == "JOB_STATE_RUNNING"
    return Target(
        number=run.number,
        job_id=run.id,
        display_name=str(job.body["displayName"]),
        attempt=run.attempt,
        preempted=run.preemptions,
        replicas=tuple(item.name for item in run.replicas),
        running_s=running_s(run, now) - run.ran_s if running else None,
        machines=counted,
    )
