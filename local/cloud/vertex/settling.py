"""Clusters brought up to date with the clock: made, rebooted or gone when that is due."""

import shutil
from dataclasses import replace
from datetime import datetime

from local.cloud.clock import timestamp
from local.cloud.services import World
from local.cloud.vertex import cluster_life, clusters, jobs, operations
from local.cloud.vertex.cluster import Cluster


def settle(world: World) -> None:
    """Apply what is due to all clusters and tell their operations. Costs one read when nothing is."""
    now = world.clock.now()
    moment = timestamp(now)
    due = [item for item in clusters.every(world.store) if item.change and item.due and item.due <= moment]
    if not due:
        return
    gone = []
    with world.store.transaction():
        for stale in due:
            cluster = clusters.get(world.store, stale.name)
            if cluster and _settled(world, cluster, now):
                gone.append(cluster)
    for cluster in gone:
        shutil.rmtree(world.state_folder / "pools" / cluster.id, ignore_errors=True)


def _settled(world: World, cluster: Cluster, now: datetime) -> bool:
    """Apply what is due to one cluster. Whether it is gone."""
    store, moment = world.store, timestamp(now)
    busy = bool(jobs.started(store, cluster.region, cluster.id))
    settled = cluster_life.settled(cluster, now, busy=busy)
    if settled is None:
        clusters.remove(store, cluster.name)
        operations.finish(store, cluster.operation, moment)
        return True
    if settled is not cluster:
        clusters.put(store, replace(settled, operation=None))
        error = dict(settled.error) if settled.error else None
        progress = cluster_life.READY if cluster.change == "create" and error is None else ""
        operations.finish(store, cluster.operation, moment, progress, error)
    return False
