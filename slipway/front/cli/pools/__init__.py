"""Show the clusters, how busy they are and what they cost.

For each pool, whose jobs have its machines, since when it idles, and its price now, at least and at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice

import click

from slipway.base.clock import right_time
from slipway.base.columns import Column, documents, table_of
from slipway.base.formatting import few, join
from slipway.front.cli import Verbs
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import dates_document
from slipway.front.cli.terminal.frames import watch_option, watched
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.google.catalog.lookup import remedy
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.vertex import Vertex
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import MORE, UNKNOWN_PRICE, Price, exact_text, figure
from slipway.operating.pool_rows import GONE, RECENT, PoolRow, rows, upcoming
from slipway.using.context import Context
from slipway.using.jobs.pause import Pause, read_pauses


def _lists(vertex: Vertex) -> tuple[tuple[PersistentResource, ...], tuple[VertexJob, ...], tuple[VertexJob, ...]]:
    """Return clusters, jobs that have not ended, and the newest jobs, all asked for at once."""
    with ThreadPoolExecutor(3) as threads:
        clusters = threads.submit(vertex.persistent_resources)
        active = threads.submit(lambda: tuple(vertex.active_jobs(CUSTOM_JOB)))
        recent = threads.submit(lambda: tuple(islice(vertex.jobs(CUSTOM_JOB), RECENT)))
        return clusters.result(), active.result(), recent.result()


@click.group(cls=Verbs, package=__name__, invoke_without_command=True)
@watch_option
@catalog_and_output
@click.pass_context
def command(ctx: click.Context, watch: bool, catalog: str | None, output: str) -> None:
    if ctx.invoked_subcommand is not None:
        return
    context = Context(catalog)
    if watch:
        watched(lambda: _look(context.anew(), output), context.clock, output)
    else:
        _look(context, output)


def _look(context: Context, output: str) -> None:
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(_pauses, context)
        clusters, active, recent = context.looked_up(_lists, screen.warn)
        pauses = reading.result()
    now = right_time(context.now, context.connection.session.time)
    table = rows(context.catalog, clusters, active, recent)
    due = upcoming(context.catalog, clusters, active, recent, now)
    dormant = context.catalog.dormant.values()
    columns = pool_columns(now, several_regions=any(context.elsewhere(row.region) for row in table))
    if output == "json":
        pools, dates = documents(columns, table), dates_document(due, dormant, now)
        paused = [pause.document for pause in pauses]
        body = {"stack": context.catalog.stack, "pools": pools, "pauses": paused, **dates}
        screen.out_json("pools", body)
        return
    if table:
        _show(table, columns, context.catalog)
    elif not dormant:
        screen.note(f"stack {context.catalog.stack} has no clusters")
    for cluster in context.catalog.clusters.values():
        if cluster.closed:
            screen.note("\n  fix: ".join(cluster.closed))
    for pause in pauses:
        screen.note(f"{pause.words(context.catalog.stack)}\n  fix: {pause.resume}")
    for event in due:
        screen.note(f"cluster {event.name}: {event.words(now)}")
    for cluster in dormant:
        screen.note(cluster.words_at(now))


def _pauses(context: Context) -> tuple[Pause, ...]:
    try:
        return tuple(read_pauses(context.brief.storage, context.catalog.work_bucket).values())
    except CloudError as problem:
        screen.warn(f"not known what is paused: {problem.message}")
        return ()


def pool_columns(now: datetime, *, several_regions: bool) -> tuple[Column[PoolRow], ...]:
    return (
        Column("CLUSTER", lambda row: row.name, "cluster", name=True),
        Column(None, lambda row: row.cluster.id, "clusterId"),
        Column("POOL", lambda row: row.pool.id, "pool", name=True),
        Column("REGION" if several_regions else None, lambda row: row.region, "region"),
        Column("TEAM", lambda row: row.teams, "teams", lambda row: join(row.teams), optional=True),
        Column("STATE", lambda row: row.state, "state"),
        Column(None, lambda row: row.cluster.error or None, "error"),
        Column("MACHINE", lambda row: row.pool.machine.type, "machine", lambda row: str(row.pool.machine), wraps=True),
        Column(None, lambda row: row.pool.machine.accelerator, "accelerator"),
        Column(None, lambda row: row.pool.machine.accelerator_count, "acceleratorCount"),
        Column("BUSY/LIVE/MAX", lambda row: f"{row.pool.used} / {row.pool.replicas} / {row.max}", right=True),
        Column(None, lambda row: row.pool.used, "busy"),
        Column(None, lambda row: row.pool.replicas, "live"),
        Column(None, lambda row: row.min, "min"),
        Column(None, lambda row: row.max, "max"),
        Column(None, lambda row: row.jobs, "jobs"),
        Column("WHO", lambda row: row.holders, "holders", _who, wraps=True),
        Column(None, lambda row: row.getting_ready, "gettingReady"),
        Column(None, lambda row: row.waiting, "waiting"),
        Column("IDLE", lambda row: row.idle_since, "idleSince", lambda row: row.idle(now), wraps=True),
        Column(None, lambda row: not row.unread, "idleKnown"),
        Column(None, lambda row: row.cluster.create_time, "createTime"),
        Column(None, lambda row: exact_text(row.per_machine), "pricePerMachineHour"),
        Column(None, lambda row: row.per_machine.complete, "priceComplete"),
        Column("$/h NOW", lambda row: figure(row.price(row.pool.replicas)), right=True),
        Column("$/h MIN–MAX", _bounds, wraps=True),
        Column("$ A MONTH", _month, wraps=True),
        Column(None, lambda row: exact_text(row.price(row.pool.replicas)), "pricePerHourNow"),
        Column(None, lambda row: exact_text(row.price(row.min)), "pricePerHourMin"),
        Column(None, lambda row: exact_text(row.price(row.max)), "pricePerHourMax"),
        Column(None, lambda row: exact_text(row.price(row.min) * HOURS_OF_A_MONTH), "pricePerMonthMin"),
        Column(None, lambda row: exact_text(row.price(row.max) * HOURS_OF_A_MONTH), "pricePerMonthMax"),
    )


def _show(table: list[PoolRow], columns: Iterable[Column[PoolRow]], catalog: Catalog) -> None:
    screen.show(table_of(columns, table))
    reported = set[str]()
    for row in table:
        if row.state in ("ERROR", GONE) and row.cluster.id not in reported:
            reported.add(row.cluster.id)
            fix = _fix(row, catalog)
            screen.note(f"{row.name} is {row.state}: {row.cluster.error or 'no reason given'}\n  fix: {fix}")
    strange = {row.cluster.id for row in table if row.state != "ERROR" and not catalog.knows(row.cluster.id)}
    for id_ in sorted(strange):
        screen.note(
            f"{id_} belongs to this stack and is not in its catalog: a deployment is making it, or ended before it "
            f"could say so\n  fix: {catalog.origin.up}, when none is under way; it takes the cluster over, "
            "or deletes it"
        )


def _fix(row: PoolRow, catalog: Catalog) -> str:
    """Return the fix of a cluster: a deployment makes another; a reboot, where no job is on it, may keep this one."""
    up = catalog.origin.up
    published = catalog.cluster_named(row.cluster.id)
    if row.state == GONE or (published and published.adopted):
        return remedy(catalog, row.cluster.id, ", which makes it again")
    if published is None:
        return f"{up}, which clears it away"
    if row.jobs:
        return up
    reboot = f"gcloud ai persistent-resources reboot {row.cluster.id} --region={row.region} --project={catalog.project}"
    return f"{up}, or {reboot}, which keeps its id"


def _who(row: PoolRow) -> str:
    """Return `ada 3, ci 1; 1 gets ready; 2 wait`: machines by user, and jobs."""
    held = few((f"{holder.name} {holder.machines}" for holder in row.holders), 3)
    ready = f"{row.getting_ready} get{'s' if row.getting_ready == 1 else ''} ready" if row.getting_ready else ""
    wait = f"{row.waiting} wait{'s' if row.waiting == 1 else ''}" if row.waiting else ""
    return "; ".join(filter(None, (held, ready, wait))) or "–"


def _bounds(row: PoolRow) -> str:
    if row.retires and row.jobs:
        return f"until {join(row.jobs)} end{'s' if len(row.jobs) == 1 else ''}"
    return _range(row, lambda amount: f"{amount.known:,.2f}") or UNKNOWN_PRICE


def _month(row: PoolRow) -> str:
    if row.retires:
        return ""
    return _range(row, lambda amount: f"{amount.known * HOURS_OF_A_MONTH:,.0f}") or "?"


def _range(row: PoolRow, words: Callable[[Price], str]) -> str:
    """Return both ends, where they differ; nothing where the price is unknown."""
    if row.per_machine.unknown:
        return ""
    bounds = "–".join(dict.fromkeys((words(row.price(row.min)), words(row.price(row.max)))))
    return bounds if row.per_machine.complete else f"{bounds} {MORE}"
