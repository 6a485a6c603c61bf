"""Clusters brought up to date with the clock: made, rebooted or gone when that is due."""

from dataclasses import replace
from datetime import datetime

from ...clock import timestamp
from ...world import World
from .. import operations
from ..jobs import table as jobs
from . import life
from .records import CLUSTERS, Cluster


def apply_due(world: World) -> None:
    """Apply every due change to all clusters and report to their operations. Costs one read when nothing is due."""
    now = world.clock.now()
    moment = timestamp(now)
    due = [item for item in CLUSTERS.every(world.store) if item.change and item.due and item.due <= moment]
    if not due:
        return
    gone = []
    with world.store.transaction():
        for stale in due:
            cluster = CLUSTERS.get(world.store, stale.name)
            if cluster and _settled(world, cluster, now):
                gone.append(cluster)
    world.trash.take(world.state_folder / "pools" / cluster.id for cluster in gone)


def _settled(world: World, cluster: Cluster, now: datetime) -> bool:
    """Apply the due changes to one cluster and return whether it is gone."""
    store, moment = world.store, timestamp(now)
    busy = bool(jobs.started(store, cluster.region, cluster.id))
    settled = life.settled(cluster, now, busy=busy)
    if settled is None:
        CLUSTERS.remove(store, cluster.name)
        operations.finish(store, cluster.operation, moment)
        return True
    if settled is not cluster:
        CLUSTERS.put(store, replace(settled, operation=None))
        error = dict(settled.error) if settled.error else None
        progress = life.READY if cluster.change == "create" and error is None else ""
        operations.finish(store, cluster.operation, moment, progress, error)
    return False
