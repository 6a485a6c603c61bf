"""What a deletion would end, asked for at the last moment."""

from __future__ import annotations

from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor

from slipway.cloud.connection import Connection
from slipway.live import STACK_LABEL, LiveCluster, Unknown, Use
from slipway.live_reader.reading import Reader, Wanted, jobs

_AT_ONCE = 8


def use_of_cluster(connection: Connection, cluster: str) -> Use | Unknown:
    """What is on a cluster (`projects/P/locations/L/persistentResources/ID`), by its own word and by the jobs'."""
    _, project, _, region, _, id_ = cluster.split("/")
    return _use(Reader(connection, Wanted(project, region)), {id_})


def use_of_stack(connection: Connection, project: str, region: str, stack: str) -> Use | Unknown:
    """What is on all clusters that bear the stack's label."""
    reader = Reader(connection, Wanted(project, region))
    listed = reader.clusters()
    if isinstance(listed, Unknown):
        return listed
    return _use(reader, {cluster.id for cluster in listed if cluster.labels.get(STACK_LABEL) == stack})


def _use(reader: Reader, ids: Set[str]) -> Use | Unknown:
    """Each cluster is read by itself: its list may lag, and with it the number of machines in use."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="use") as threads:
        clusters = [threads.submit(reader.cluster, id_) for id_ in sorted(ids)]
        found = jobs(reader)
        read = [future.result() for future in clusters]
    if isinstance(found, Unknown):
        return found
    on = tuple(job for job in found if job.cluster_id in ids)
    listed = {job.cluster_id for job in on}
    unlisted: list[str] = []
    for cluster in read:
        if isinstance(cluster, Unknown):
            return cluster
        if isinstance(cluster, LiveCluster) and cluster.in_use and cluster.id not in listed:
            unlisted.append(cluster.id)
    return Use(on, tuple(unlisted))
