"""The jobs that a deletion would cancel, asked for at the last moment."""

from __future__ import annotations

from slipway.cloud.connection import Connection
from slipway.live import STACK_LABEL, LiveJob, Unknown
from slipway.live_reader.reading import Reader, Wanted, jobs


def jobs_on(connection: Connection, cluster: str) -> tuple[LiveJob, ...] | Unknown:
    """The jobs that have not ended on a cluster (`projects/P/locations/L/persistentResources/ID`), of every kind."""
    _, project, _, region, _, id_ = cluster.split("/")
    found = jobs(Reader(connection, Wanted(project, region)))
    return found if isinstance(found, Unknown) else tuple(job for job in found if job.cluster_id == id_)


def jobs_of(connection: Connection, project: str, region: str, stack: str) -> tuple[LiveJob, ...] | Unknown:
    """The jobs that have not ended on any cluster of a stack."""
    reader = Reader(connection, Wanted(project, region))
    clusters, found = reader.clusters(), jobs(reader)
    if isinstance(clusters, Unknown):
        return clusters
    if isinstance(found, Unknown):
        return found
    ours = {cluster.id for cluster in clusters if cluster.labels.get(STACK_LABEL) == stack}
    return tuple(job for job in found if job.cluster_id in ours)
