"""The table of pools as values, and due dates of clusters, as far as the newest jobs tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.base.formatting import exact_span, span
from slipway.deploying.deployment.schedule import Due, dates
from slipway.google.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob, last_ends
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import CurrentCluster
from slipway.model.prices import Price, hourly
from slipway.using.jobs.demand import last_end, machines_on, on_pool
from slipway.using.jobs.verdict import gets_ready

RECENT = 300
"""The number of newest jobs among which a pool's last one is looked for."""
GONE = "GONE"


@dataclass(frozen=True)
class Holder:
    """A holder of a pool's machines: a user, or the job itself where it names none."""

    name: str
    machines: int
    jobs: tuple[str, ...]


@dataclass(frozen=True)
class PoolRow:
    """A pool of a cluster; prices in USD."""

    #: The cluster's.
    name: str
    region: str
    cluster: PersistentResource
    pool: ResourcePool
    retires: bool
    jobs: tuple[str, ...]
    idle_since: datetime | None
    #: The pool idles, and jobs that were not read may have been on it.
    unread: bool
    per_machine: Price
    #: The largest first.
    holders: tuple[Holder, ...] = ()
    #: The number of jobs that the service has accepted and that do not run yet.
    getting_ready: int = 0
    #: The number of jobs that have no machines yet.
    waiting: int = 0
    #: The teams whose jobs alone the cluster takes; none where it takes everybody's.
    teams: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The cluster's state, `RETIRING` for an earlier generation, or `GONE` for a declared one."""
        return "RETIRING" if self.retires else self.cluster.state

    @property
    def min(self) -> int:
        return self.pool.floor

    @property
    def max(self) -> int:
        return self.pool.replicas if self.pool.max is None else self.pool.max

    def price(self, count: int) -> Price:
        return self.per_machine * count

    def idle(self, now: datetime) -> str:
        """Return the pool's idle time, as text."""
        if self.idle_since:
            return span((now - self.idle_since).total_seconds())
        if self.jobs or self.pool.used:
            return "–"
        return f"none of the newest {RECENT} jobs" if self.unread else "no job yet"


def rows(
    catalog: Catalog, clusters: Iterable[PersistentResource], active: Iterable[VertexJob], recent: Iterable[VertexJob]
) -> list[PoolRow]:
    """Return the catalog's clusters in its order, the retiring ones, and those that the catalog lacks. Pure."""
    living = {cluster.id: cluster for cluster in clusters}
    running, recent = list(active), tuple(recent)
    since = _read_since(recent)
    declared = {cluster.id: cluster for cluster in catalog.clusters.values()}
    of_stack = [id_ for id_, cluster in sorted(living.items()) if cluster.made_by(catalog.identity.label)]
    undeclared = dict.fromkeys(id_ for id_ in [*catalog.retiring, *of_stack] if id_ in living and id_ not in declared)
    shown = [
        *(living.get(id_) or _gone(cluster, catalog) for id_, cluster in declared.items()),
        *(living[id_] for id_ in undeclared),
    ]
    return [
        _row(catalog, declared.get(cluster.id), cluster, pool, running, recent, unread=_unread(cluster, since))
        for cluster in shown
        for pool in cluster.pools
    ]


def upcoming(
    catalog: Catalog,
    clusters: Iterable[PersistentResource],
    active: tuple[VertexJob, ...],
    recent: tuple[VertexJob, ...],
    now: datetime,
) -> list[Due]:
    """Return the due dates of clusters that have any, as the newest jobs tell. Pure."""
    by_id = {cluster.id: cluster for cluster in clusters}
    ends = last_ends(recent)
    live = Live(clusters=tuple(by_id.values()), jobs=active, limits={}, catalog=None, last_ends=ends)
    due_dates: list[Due] = []
    for cluster in catalog.clusters.values():
        living = by_id.get(cluster.id)
        current = CurrentCluster(spec=cluster, id=cluster.id, fingerprint="", import_=living is not None)
        for due in dates(current, living, live, catalog.region_of(cluster.name), now):
            limit = cluster.season.idle_limit if due.what == "idle-limit" else None
            if limit and living and _unread(living, _read_since(recent)):
                due_dates.append(_as_read(due, limit, any_ended=living.id in ends))
            else:
                due_dates.append(due)
    return due_dates


def _read_since(recent: tuple[VertexJob, ...]) -> datetime | None:
    """Return the creation time of the oldest of the newest jobs, if there may be older ones."""
    made = [job.create_time for job in recent if job.create_time]
    return min(made, default=None) if len(recent) >= RECENT else None


def _unread(cluster: PersistentResource, since: datetime | None) -> bool:
    """Tell whether jobs created before `since` may have been on a cluster."""
    return since is not None and cluster.state != GONE and (cluster.create_time is None or cluster.create_time < since)


def _as_read(due: Due, limit: timedelta, *, any_ended: bool) -> Due:
    """Qualify an idle limit where not all jobs were read.

    `any_ended`: some of the jobs that were read were on the cluster.
    """
    if any_ended:
        return replace(due, why=f"{due.why}; as the newest {RECENT} jobs tell")
    idle = f"after {exact_span(limit.total_seconds())} without a job"
    return replace(due, at=None, why=f"{idle} (none of the newest {RECENT} was on it; slipway schedule looks at all)")


def _row(
    catalog: Catalog,
    declared: Cluster | None,
    cluster: PersistentResource,
    pool: ResourcePool,
    active: list[VertexJob],
    recent: tuple[VertexJob, ...],
    *,
    unread: bool,
) -> PoolRow:
    exists = cluster.state != GONE
    here = on_pool(active, pool.id, cluster) if exists else []
    without_machines = [job for job in here if job.waits]
    getting_ready = sum(gets_ready(job, cluster) for job in without_machines)
    last = last_end(recent, pool.id, cluster) if exists else None
    busy = bool(here or pool.used)
    priced = declared.pool(pool.id) if declared else None
    return PoolRow(
        name=declared.name if declared else cluster.id,
        region=cluster.region,
        cluster=cluster,
        pool=replace(pool, replicas=0, used=0, min=pool.floor, max=pool.ceiling) if cluster.failed else pool,
        retires=cluster.id in catalog.retiring and cluster.state in RUNNING_STATES,
        jobs=tuple(job.called for job in here),
        idle_since=None if busy else last,
        unread=unread and last is None and not busy,
        per_machine=priced.price_per_hour if priced else hourly(pool.machine, cluster.region),
        holders=_holders([job for job in here if not job.waits], cluster, pool),
        getting_ready=getting_ready,
        waiting=len(without_machines) - getting_ready,
        teams=catalog.owners(declared.name) if declared else (),
    )


def _holders(running: list[VertexJob], cluster: PersistentResource, pool: ResourcePool) -> tuple[Holder, ...]:
    by_name: dict[str, list[VertexJob]] = {}
    for job in running:
        by_name.setdefault(job.user or job.called, []).append(job)
    holders = (
        Holder(
            name=name,
            machines=sum(machines_on(job, pool.id, cluster) for job in jobs),
            jobs=tuple(job.called for job in jobs),
        )
        for name, jobs in by_name.items()
    )
    return tuple(sorted(holders, key=lambda holder: (-holder.machines, holder.name)))


def _gone(cluster: Cluster, catalog: Catalog) -> PersistentResource:
    region = catalog.region_of(cluster.name)
    return PersistentResource(
        name=f"projects/{catalog.project}/locations/{region}/persistentResources/{cluster.id}",
        state=GONE,
        labels={},
        pools=tuple(
            ResourcePool(id=pool.name, machine=pool.machine, replicas=0, used=0, min=pool.min, max=pool.max)
            for pool in cluster.pools
        ),
        error="the catalog names it, the service does not have it",
    )
