"""Show the clusters: how busy they are, and what they cost.

For each pool, since when it idles, and its price now, at least and at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import click

from slipway.catalog.model import Catalog, Cluster, Pool
from slipway.cli.terminal import screen
from slipway.cli.terminal.documents import dollars_text, iso
from slipway.cli.terminal.options import catalog_and_output
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cloud.resources import CustomJob
from slipway.context import Context
from slipway.formatting import join, span
from slipway.jobs.demand import Demand, by_pool
from slipway.kinds import CUSTOM_JOB
from slipway.labels import STACK_LABEL
from slipway.machines.spec import MachineSpec
from slipway.prices import MORE, UNKNOWN_PRICE, Price, hourly

_RECENT = 300
"""How many of the newest jobs are looked at for the time of a pool's last one."""


@dataclass(frozen=True)
class Row:
    """One pool. `state` GONE for a declared cluster that is not there; prices in USD."""

    cluster: str
    cluster_id: str
    pool: str
    state: str
    error: str
    machine: MachineSpec
    busy: int
    live: int
    min: int
    max: int
    jobs: tuple[str, ...]
    idle_since: datetime | None
    per_machine: Price
    create_time: datetime | None

    @property
    def retiring(self) -> bool:
        return self.state == "RETIRING"

    def price(self, count: int) -> Price:
        return self.per_machine * count


def rows(
    catalog: Catalog, clusters: Iterable[PersistentResource], active: Iterable[CustomJob], recent: Iterable[CustomJob]
) -> list[Row]:
    """The table as values: the catalog's clusters in its order, those that retire, and those it does not have. Pure."""
    there = {cluster.id: cluster for cluster in clusters}
    running, ended = list(active), [job for job in recent if job.end_time]
    listed = {cluster.id for cluster in catalog.clusters.values()}
    found: list[Row] = []
    for cluster in catalog.clusters.values():
        if cluster.id in there:
            found += [
                _row(cluster, there[cluster.id], pool, catalog, running, ended) for pool in there[cluster.id].pools
            ]
        else:
            found += [_gone(cluster, pool) for pool in cluster.pools.values()]
    unlisted = [id_ for id_, cluster in sorted(there.items()) if cluster.labels.get(STACK_LABEL) == catalog.stack]
    for id_ in dict.fromkeys([*catalog.retiring, *unlisted]):
        if id_ in there and id_ not in listed:
            found += [_row(None, there[id_], pool, catalog, running, ended) for pool in there[id_].pools]
    return found


def _row(
    declared: Cluster | None,
    live: PersistentResource,
    pool: ResourcePool,
    catalog: Catalog,
    active: list[CustomJob],
    ended: list[CustomJob],
) -> Row:
    mine = [job for job in active if _on(job, live, pool)]
    last = max((job.end_time for job in ended if job.end_time and _on(job, live, pool)), default=None)
    known = declared.pools.get(pool.id) if declared else None
    retires = live.id in catalog.retiring and live.state in ("RUNNING", "UPDATING")
    return Row(
        cluster=declared.name if declared else live.id,
        cluster_id=live.id,
        pool=pool.id,
        state="RETIRING" if retires else live.state,
        error=live.error,
        machine=pool.machine,
        busy=pool.used,
        live=pool.replicas,
        min=pool.replicas if pool.min is None else pool.min,
        max=pool.replicas if pool.max is None else pool.max,
        jobs=tuple(job.display_name or job.id for job in mine),
        idle_since=None if mine or pool.used else last,
        per_machine=known.price_per_hour if known else hourly(pool.machine, catalog.region),
        create_time=live.create_time,
    )


def _on(job: CustomJob, cluster: PersistentResource, pool: ResourcePool) -> bool:
    return job.persistent_resource_id == cluster.id and bool(by_pool(Demand.of(job), cluster).get(pool.id))


def _gone(cluster: Cluster, pool: Pool) -> Row:
    return Row(
        cluster=cluster.name,
        cluster_id=cluster.id,
        pool=pool.name,
        state="GONE",
        error="the catalog names it, the service does not have it",
        machine=pool.machine,
        busy=0,
        live=0,
        min=pool.min,
        max=pool.max,
        jobs=(),
        idle_since=None,
        per_machine=pool.price_per_hour,
        create_time=None,
    )


@click.command()
@catalog_and_output
def command(catalog: str | None, output: str) -> None:
    context = Context(catalog)
    vertex = context.vertex
    with ThreadPoolExecutor(3) as threads:
        clusters = threads.submit(vertex.persistent_resources)
        active = threads.submit(lambda: tuple(vertex.active_jobs(CUSTOM_JOB)))
        recent = threads.submit(lambda: tuple(islice(vertex.jobs(CUSTOM_JOB), _RECENT)))
        table = rows(context.catalog, clusters.result(), active.result(), recent.result())
    if output == "json":
        screen.out_json("pools", {"stack": context.catalog.stack, "pools": [_document(row) for row in table]})
        return
    if not table:
        screen.note(f"stack {context.catalog.stack} has no clusters")
        return
    screen.table(
        ("CLUSTER", "POOL", "STATE", "MACHINE", "BUSY/LIVE/MAX", "JOBS", "IDLE", "$/h NOW", "$/h MIN–MAX"),
        [_cells(row, context.now) for row in table],
        right=("BUSY/LIVE/MAX", "JOBS", "$/h NOW"),
    )
    for row in table:
        if row.state in ("ERROR", "GONE"):
            screen.note(f"{row.cluster} is {row.state}: {row.error or 'no reason given'}\n  fix: pulumi up")
    known = {cluster.id for cluster in context.catalog.clusters.values()} | set(context.catalog.retiring)
    for id_ in sorted({row.cluster_id for row in table if row.state != "ERROR"} - known):
        screen.note(
            f"{id_} belongs to this stack and is not in its catalog: a deployment is making it, or ended before it "
            "could say so\n  fix: pulumi up, when none is under way; it takes the cluster up, or deletes it"
        )


def _cells(row: Row, now: datetime) -> tuple[str, ...]:
    idle = (
        span((now - row.idle_since).total_seconds())
        if row.idle_since
        else "–"
        if row.jobs or row.busy
        else "no job yet"
    )
    bounds = (
        f"until {join(row.jobs)} end{'s' if len(row.jobs) == 1 else ''}" if row.retiring and row.jobs else _bounds(row)
    )
    return (
        row.cluster,
        row.pool,
        row.state,
        str(row.machine),
        f"{row.busy} / {row.live} / {row.max}",
        str(len(row.jobs)),
        idle,
        _money(row.price(row.live)),
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
        "cluster": row.cluster,
        "clusterId": row.cluster_id,
        "pool": row.pool,
        "state": row.state,
        "error": row.error or None,
        "machine": row.machine.type,
        "accelerator": row.machine.accelerator,
        "acceleratorCount": row.machine.accelerator_count,
        "busy": row.busy,
        "live": row.live,
        "min": row.min,
        "max": row.max,
        "jobs": list(row.jobs),
        "idleSince": iso(row.idle_since),
        "createTime": iso(row.create_time),
        "pricePerMachineHour": dollars_text(row.per_machine),
        "priceComplete": row.per_machine.complete,
        "pricePerHourNow": dollars_text(row.price(row.live)),
        "pricePerHourMin": dollars_text(row.price(row.min)),
        "pricePerHourMax": dollars_text(row.price(row.max)),
    }
