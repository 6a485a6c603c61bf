"""Show what deployments do by themselves: what is due, when, and what it costs until then.

What goes or retires, seasons that begin and end, clusters that idle for too long: from the published catalog and from
what lives now. Edits that were merged since the last deployment are not in it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import click

from slipway.base.clock import right_time, wrong_clock
from slipway.base.columns import Column, table_of
from slipway.base.formatting import join, span
from slipway.deploying.deployment.published_schedule import upcoming
from slipway.deploying.deployment.schedule import Due
from slipway.deploying.generations.dormant import ends_within
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import dates_document
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.google.catalog.document import as_published
from slipway.google.live import Live
from slipway.google.live_reader import LiveScope
from slipway.google.quota.seasons import metrics
from slipway.google.snapshot import read
from slipway.model.catalog.withdrawal import replacing
from slipway.model.prices import Price, dollars, figure
from slipway.model.season import moment_in_words
from slipway.using.context import Context


@click.command()
@catalog_and_output
def command(catalog: str | None, output: str) -> None:
    context = Context(catalog)
    published, live = context.catalog, _live(context)
    now = right_time(context.now, live.time)
    due = upcoming(published, live, now)
    if wrong := wrong_clock(context.now, live.time):
        screen.note(f"! {wrong}")
    if output == "json":
        dates = dates_document(due, published.dormant.values(), now)
        screen.out_json("schedule", {"stack": published.stack, "time": now, **dates})
        return
    if due:
        columns: tuple[Column[Due], ...] = (
            Column("CLUSTER", lambda event: event.name, name=True),
            Column("ID", lambda event: event.id, name=True),
            Column("DUE", lambda event: event.does),
            Column("WHEN", lambda event: _when(event, now), wraps=True),
            Column("$/h", lambda event: figure(event.per_hour), right=True, wraps=True),
            Column("$ UNTIL THEN", lambda event: _until_then(event.until(now)), right=True, wraps=True),
            Column("WHY", lambda event: event.why, wraps=True),
        )
        screen.show(table_of(columns, due))
    elif not replacing(published):
        screen.note(f"nothing is due in stack {published.stack}: deploying again would change no cluster")
    for name, dormant in published.dormant.items():
        if dormant.why == "in-place" or all(event.name != name for event in due):
            screen.note(dormant.words_at(now))
    if late := [event.id for event in due if event.overdue]:
        screen.note(f"! {join(late)} should have retired by now")
    if any(event.now for event in due):
        ends = sum((event.per_hour for event in due if event.now), Price())
        saves = f", and {dollars(ends)} ends with it" if ends.known else ""
        screen.note(f"the next deployment does what is due now{saves}: {published.origin.up}")


def _live(context: Context) -> Live:
    catalog = context.catalog
    clusters = (*catalog.clusters.values(), *catalog.dormant.values())
    # A caller who may read no limits still gets dates and costs.
    scope = LiveScope(
        catalog.project,
        catalog.region,
        metrics=metrics(catalog) if catalog.coming else frozenset(),
        now=context.now,
        ends_within=ends_within(clusters),
        elsewhere=catalog.regions_ever[1:],
        spared=dict.fromkeys(catalog.regions_without_clusters, f"where stack {catalog.stack} offers no cluster"),
    )
    live, warnings = read(context.connection, scope, off_is_empty=False)
    for warning in warnings:
        screen.note(f"! {warning}")
    return replace(live, catalog=as_published(catalog))


def _when(due: Due, now: datetime) -> str:
    if due.now:
        return "next deployment"
    return f"{moment_in_words(due.at)}, in {span((due.at - now).total_seconds())}" if due.at else "–"


def _until_then(cost: Price | None) -> str:
    return "–" if cost is None else figure(cost)
