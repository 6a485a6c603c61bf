"""A listed job as a part of a history: its pools, its cost, and whom it counts for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from slipway.google.jobs import VertexJob
from slipway.model.catalog.clusters import Cluster
from slipway.model.labels import RUN_LABEL, SWEEP_LABEL
from slipway.operating.history.model import Deployment, MachinesUsed, PastJob
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.log import JobEvents


@dataclass(frozen=True)
class ClustersOverTime:
    """The clusters of a stack's deployments, in the order of their times."""

    deployments: Sequence[Deployment]

    @cached_property
    def _by_id(self) -> Mapping[str, list[tuple[datetime, Cluster]]]:
        by_id: dict[str, list[tuple[datetime, Cluster]]] = {}
        for deployment in self.deployments:
            for cluster in deployment.catalog.clusters.values():
                by_id.setdefault(cluster.id, []).append((deployment.at, cluster))
        return by_id

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all clusters, also of those that only retired."""
        return frozenset(self._by_id).union(*(deployment.catalog.retiring for deployment in self.deployments))

    def cluster(self, id: str, at: datetime | None) -> Cluster | None:
        """Return a cluster as the last deployment before a time had it, else the first one; None where none named it.

        An adopted cluster may change and keep its id.
        """
        known = self._by_id.get(id)
        if not known:
            return None
        before = [cluster for deployed, cluster in known if at is None or deployed <= at]
        return before[-1] if before else known[0][1]


def past_job(job: VertexJob, clusters: ClustersOverTime, now: datetime, events: JobEvents | None = None) -> PastJob:
    """Return the past job. `events`: those that the cost of a Spot job depends on, None where they were not read."""
    id_ = job.persistent_resource_id
    cluster = clusters.cluster(id_, job.create_time) if id_ else None
    account = job_cost(job, job.region, now, events)
    return PastJob(
        name=job.name,
        display_name=job.display_name,
        state=job.state.removeprefix("JOB_STATE_"),
        kind=job.kind.name,
        template=job.template,
        user=job.user,
        team=job.team,
        capacity_type=account.capacity_type,
        region=job.region,
        cluster=cluster.name if cluster else id_,
        cluster_id=id_,
        machines=tuple(_machines(job, cluster)),
        created=job.create_time,
        started=job.start_time,
        ended=job.end_time,
        cost=account.cost,
        lost=None if account.untold else account.without,
        labels=job.labels,
        parameters=job.parameters,
        sweep=job.labels.get(SWEEP_LABEL, ""),
        run=job.labels.get(RUN_LABEL, ""),
        request_id=job.request_id,
        race=job.race,
        yields=job.yields,
        error=job.error,
        busy=account.busy,
        preemptions=tuple(event.at for event in events.of("preemption") if event.at) if events else (),
    )


def _machines(job: VertexJob, cluster: Cluster | None) -> Iterable[MachinesUsed]:
    for worker_pool in job.worker_pools:
        if worker_pool.replicas:
            machine = worker_pool.machine
            pools = cluster.pools if cluster else ()
            # Machines and disks must be exactly equal.
            pool = next((pool.name for pool in pools if pool.machine == machine), "")
            yield MachinesUsed(machine=machine, count=worker_pool.replicas * job.trials, pool=pool)
