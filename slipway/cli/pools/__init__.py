"""Show the clusters, how busy they are and what they cost, or reboot one.

For each pool, since when it idles, and its price now, at least and at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import click

from slipway.catalog.clusters import Cluster
from slipway.catalog.lookup import remedy
from slipway.catalog.model import Catalog
from slipway.cli import Verbs
from slipway.cli.terminal import screen
from slipway.cli.terminal.documents import dollars_text, dormant_document, due_document, iso
from slipway.cli.terminal.options import catalog_and_output
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.cloud.jobs import VertexJob
from slipway.cloud.vertex import Vertex
from slipway.cluster import CurrentCluster
from slipway.context import Context
from slipway.deployment.schedule import Due, dates
from slipway.formatting import join, span
from slipway.generations.dormant import last_ends
from slipway.generations.published_clusters import declared
from slipway.jobs.demand import Demand, by_pool
from slipway.kinds import CUSTOM_JOB
from slipway.labels import STACK_LABEL
from slipway.live import Live
from slipway.prices import MORE, UNKNOWN_PRICE, Price, hourly

_RECENT = 300
"""How many of the newest jobs are looked at for the time of a pool's last one."""
_GONE = "GONE"


@dataclass(frozen=True)
class Row:
    """One pool of a cluster that people call `name` and that is in `region`; prices in USD."""

    name: str
    region: str
    cluster: PersistentResource
    pool: ResourcePool
    retires: bool
    jobs: tuple[str, ...]
    idle_since: datetime | None
    per_machine: Price

    @property
    def state(self) -> str:
        """The cluster's, `RETIRING` for an earlier generation, and `GONE` for a declared one that is not there."""
        return "RETIRING" if self.retires else self.cluster.state

    @property
    def min(self) -> int:
        return self.pool.floor

    @property
    def max(self) -> int:
        return self.pool.replicas if self.pool.max is None else self.pool.max

    def price(self, count: int) -> Price:
        return self.per_machine * count


def _lists(
    vertex: Vertex,
) -> tuple[tuple[PersistentResource, ...], tuple[VertexJob, ...], tuple[VertexJob, ...]]:
    """Clusters, jobs that have not ended, and the newest jobs, all asked for at once."""
    with ThreadPoolExecutor(3) as threads:
        clusters = threads.submit(vertex.persistent_resources)
        active = threads.submit(lambda: tuple(vertex.active_jobs(CUSTOM_JOB)))
        recent = threads.submit(lambda: tuple(islice(vertex.jobs(CUSTOM_JOB), _RECENT)))
        return clusters.result(), active.result(), recent.result()


def rows(
    catalog: Catalog, clusters: Iterable[PersistentResource], active: Iterable[VertexJob], recent: Iterable[VertexJob]
) -> list[Row]:
    """The table as values: the catalog's clusters in its order, those that retire, and those it does not have. Pure."""
    there = {cluster.id: cluster for cluster in clusters}
    running, ended = list(active), [job for job in recent if job.end_time]
    declared = {cluster.id: cluster for cluster in catalog.clusters.values()}
    unlisted = [id_ for id_, cluster in sorted(there.items()) if cluster.labels.get(STACK_LABEL) == catalog.stack]
    living = [there.get(id_) or _gone(cluster, catalog) for id_, cluster in declared.items()]
    others = dict.fromkeys(id_ for id_ in [*catalog.retiring, *unlisted] if id_ in there and id_ not in declared)
    return [
        _row(catalog, declared.get(cluster.id), cluster, pool, running, ended)
        for cluster in [*living, *(there[id_] for id_ in others)]
        for pool in cluster.pools
    ]


def _due(
    catalog: Catalog,
    clusters: Iterable[PersistentResource],
    active: tuple[VertexJob, ...],
    recent: Iterable[VertexJob],
    now: datetime,
) -> list[Due]:
    """Of the clusters that have dates: what is due, as the newest jobs tell. Pure."""
    there, ends = {cluster.id: cluster for cluster in clusters}, last_ends(recent)
    live = Live(clusters=tuple(there.values()), jobs=active, limits={}, catalog=None, last_ends=ends)
    return [
        one
        for cluster in catalog.clusters.values()
        for one in dates(
            CurrentCluster(declared(cluster), cluster.id, "", import_=cluster.id in there),
            there.get(cluster.id),
            live,
            catalog.region_of(cluster.name),
            now,
        )
    ]


def _row(
    catalog: Catalog,
    declared: Cluster | None,
    cluster: PersistentResource,
    pool: ResourcePool,
    active: list[VertexJob],
    ended: list[VertexJob],
) -> Row:
    mine = [job for job in active if _on(job, cluster, pool)]
    ends = (job.end_time for job in ended if _on(job, cluster, pool))
    last = max((end for end in ends if end and cluster.was_there(end)), default=None)
    known = declared.pools.get(pool.id) if declared else None
    return Row(
        name=declared.name if declared else cluster.id,
        region=cluster.region,
        cluster=cluster,
        pool=pool.without_machines if cluster.failed else pool,
        retires=cluster.id in catalog.retiring and cluster.state in RUNNING_STATES,
        jobs=tuple(job.display_name or job.id for job in mine),
        idle_since=None if mine or pool.used else last,
        per_machine=known.price_per_hour if known else hourly(pool.machine, cluster.region),
    )


def _on(job: VertexJob, cluster: PersistentResource, pool: ResourcePool) -> bool:
    on = job.persistent_resource_id == cluster.id and cluster.state != _GONE
    return on and bool(by_pool(Demand.of(job), cluster).get(pool.id))


def _gone(cluster: Cluster, catalog: Catalog) -> PersistentResource:
    """What stands for a declared cluster that is not there."""
    pools = tuple(ResourcePool(pool.name, pool.machine, 0, 0, pool.min, pool.max) for pool in cluster.pools.values())
    name = f"projects/{catalog.project}/locations/{catalog.region_of(cluster.name)}/persistentResources/{cluster.id}"
    return PersistentResource(name, _GONE, {}, pools, error="the catalog names it, the service does not have it")


@click.group(cls=Verbs, package=__name__, invoke_without_command=True)
@catalog_and_output
@click.pass_context
def command(ctx: click.Context, catalog: str | None, output: str) -> None:
    if ctx.invoked_subcommand is not None:
        # Flags before the verb are the verb's, unless it has some.
        ctx.default_map = {ctx.invoked_subcommand: ctx.params}
        return
    context = Context(catalog)
    clusters, active, recent = context.looked_up(_lists, screen.note)
    table = rows(context.catalog, clusters, active, recent)
    due = _due(context.catalog, clusters, active, recent, context.now)
    dormant = context.catalog.dormant.values()
    if output == "json":
        body = {
            "stack": context.catalog.stack,
            "pools": [_document(row) for row in table],
            "due": [due_document(one, context.now) for one in due],
            "dormant": [dormant_document(one) for one in dormant],
        }
        screen.out_json("pools", body)
        return
    if table:
        _show(table, context)
    elif not dormant:
        screen.note(f"stack {context.catalog.stack} has no clusters")
    for words in (*(f"cluster {one.name}: {one.words(context.now)}" for one in due), *(one.words for one in dormant)):
        screen.note(words)


def _show(table: list[Row], context: Context) -> None:
    several = any(context.elsewhere(row.region) for row in table)
    where = ("REGION",) if several else ()
    screen.table(
        ("CLUSTER", "POOL", *where, "STATE", "MACHINE", "BUSY/LIVE/MAX", "JOBS", "IDLE", "$/h NOW", "$/h MIN–MAX"),
        [_cells(row, context.now, where=several) for row in table],
        right=("BUSY/LIVE/MAX", "JOBS", "$/h NOW"),
        wraps=("MACHINE", "IDLE", "$/h MIN–MAX"),
        names=2,
    )
    told = set[str]()
    for row in table:
        if row.state in ("ERROR", _GONE) and row.cluster.id not in told:
            told.add(row.cluster.id)
            fix = _fix(row, context.catalog)
            screen.note(f"{row.name} is {row.state}: {row.cluster.error or 'no reason given'}\n  fix: {fix}")
    known = {cluster.id for cluster in context.catalog.clusters.values()} | set(context.catalog.retiring)
    for id_ in sorted({row.cluster.id for row in table if row.state != "ERROR"} - known):
        screen.note(
            f"{id_} belongs to this stack and is not in its catalog: a deployment is making it, or ended before it "
            "could say so\n  fix: pulumi up, when none is under way; it takes the cluster over, or deletes it"
        )


def _fix(row: Row, catalog: Catalog) -> str:
    """A deployment makes another in the place of a failed one. The service also reboots it, where no job is on it."""
    up, found = f"pulumi up --stack {catalog.stack}", catalog.cluster_named(row.cluster.id)
    if row.state == _GONE or (found and found.adopted):
        return remedy(catalog, row.cluster.id, ", which makes it again")
    if found is None:
        return f"{up}, which clears it away"
    return up + ("" if row.jobs else f", or slipway pools reboot {row.name}, which keeps its id")


def _cells(row: Row, now: datetime, *, where: bool) -> tuple[str, ...]:
    since = span((now - row.idle_since).total_seconds()) if row.idle_since else ""
    idle = since or ("–" if row.jobs or row.pool.used else "no job yet")
    bounds = (
        f"until {join(row.jobs)} end{'s' if len(row.jobs) == 1 else ''}" if row.retires and row.jobs else _bounds(row)
    )
    return (
        row.name,
        row.pool.id,
        *((row.region,) if where else ()),
        row.state,
        str(row.pool.machine),
        f"{row.pool.used} / {row.pool.replicas} / {row.max}",
        str(len(row.jobs)),
        idle,
        _money(row.price(row.pool.replicas)),
        bounds,
    )


def _bounds(row: Row) -> str:
    if row.per_machine.unknown:
        return UNKNOWN_PRICE
    bounds = f"{row.price(row.min).known:,.2f}–{row.price(row.max).known:,.2f}"
    return bounds if row.per_machine.complete else f"{bounds} {MORE}"


def _money(amount: Price) -> str:
    if amount.unknown:
        return "?"
    return f"{amount.known:,.2f}{'' if amount.complete else '+'}"


def _document(row: Row) -> dict[str, object]:
    return {
        "cluster": row.name,
        "clusterId": row.cluster.id,
        "region": row.region,
        "pool": row.pool.id,
        "state": row.state,
        "error": row.cluster.error or None,
        "machine": row.pool.machine.type,
        "accelerator": row.pool.machine.accelerator,
        "acceleratorCount": row.pool.machine.accelerator_count,
        "busy": row.pool.used,
        "live": row.pool.replicas,
        "min": row.min,
        "max": row.max,
        "jobs": list(row.jobs),
        "idleSince": iso(row.idle_since),
        "createTime": iso(row.cluster.create_time),
        "pricePerMachineHour": dollars_text(row.per_machine),
        "priceComplete": row.per_machine.complete,
        "pricePerHourNow": dollars_text(row.price(row.pool.replicas)),
        "pricePerHourMin": dollars_text(row.price(row.min)),
        "pricePerHourMax": dollars_text(row.price(row.max)),
    }
