"""What a deletion would end, asked for at the last moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from concurrent.futures import ThreadPoolExecutor

from slipway.cloud.connection import Connection
from slipway.labels import STACK_LABEL
from slipway.live import LiveCluster, LiveJob, Unknown, Use
from slipway.live_reader.reading import Reader, Wanted, jobs

_AT_ONCE = 8


def use_of_cluster(connection: Connection, cluster: str) -> Use | Unknown:
    """What is on a cluster (`projects/P/locations/L/persistentResources/ID`), by its own word and by the jobs'."""
    _, project, _, region, _, id_ = cluster.split("/")
    return _use(Reader(connection, Wanted(project, region)), {id_}, lambda job: job.cluster_id == id_)


def use_of_stack(
    connection: Connection, project: str, region: str, stack: str, things: Collection[str] = ()
) -> Use | Unknown:
    """What is on all clusters that bear the stack's label, and what needs one of its accounts and buckets, by name."""
    reader = Reader(connection, Wanted(project, region))
    ids = _clusters(reader, stack)
    if isinstance(ids, Unknown):
        return ids
    return _use(reader, ids, lambda job: job.cluster_id in ids or any(map(job.needs, things)))


def use_of_things(
    connection: Connection, project: str, region: str, stack: str, things: Collection[str]
) -> Use | Unknown:
    """The jobs that need all of some accounts (addresses) and buckets (names); what no list shows yet may as well."""
    reader = Reader(connection, Wanted(project, region))
    ids = _clusters(reader, stack)
    if isinstance(ids, Unknown):
        return ids
    return _use(reader, ids, lambda job: all(map(job.needs, things)))


def _clusters(reader: Reader, stack: str) -> Set[str] | Unknown:
    listed = reader.clusters()
    if isinstance(listed, Unknown):
        return listed
    return {cluster.id for cluster in listed if cluster.labels.get(STACK_LABEL) == stack}


def _use(reader: Reader, ids: Set[str], concerns: Callable[[LiveJob], bool]) -> Use | Unknown:
    """Each cluster is read by itself: its list may lag, and with it the number of machines in use."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="use") as threads:
        clusters = [threads.submit(reader.cluster, id_) for id_ in sorted(ids)]
        found = jobs(reader)
        read = [future.result() for future in clusters]
    if isinstance(found, Unknown):
        return found
    listed = {job.cluster_id for job in found}
    unlisted: list[str] = []
    for cluster in read:
        if isinstance(cluster, Unknown):
            return cluster
        if isinstance(cluster, LiveCluster) and cluster.in_use and cluster.id not in listed:
            unlisted.append(cluster.id)
    return Use(tuple(job for job in found if concerns(job)), tuple(unlisted))
