"""Show who used what, how long it waited and what it cost, and what nobody used.

By user, team, template, pool, agent, session, or a label of jobs. A pool's cost is shared out by use; machines that no
job had stand as idle. `csv` has the table's rows. Costs are list prices, not the bill. Of a stack with a budget what is
spent of it this month stands below, and what will be by its end.
"""

from __future__ import annotations

from dataclasses import replace

import click

from slipway.base import codec
from slipway.base.clock import right_time
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen, usage_table
from slipway.front.cli.terminal.options import catalog_and_output_with_csv, word_option
from slipway.operating.history.ledger import ledger, month_begins
from slipway.operating.history.reader import read_history, time_back
from slipway.operating.history.usage import SESSIONS, names_by, usage, usages
from slipway.using.context import Context


@click.command()
@click.option("--since", default="30d", show_default=True, metavar="TIME", help="From so long ago on: 12h, 7d.")
@word_option(
    "--by",
    default="user",
    show_default=True,
    metavar="user|team|template|pool|agent|session|label:KEY",
    help="A row each.",
)
@catalog_and_output_with_csv
def command(since: str, by: str, catalog: str | None, output: str) -> None:
    names_by(by)  # A mistyped name is reported before a month is read.
    context, before = Context(catalog), time_back(since)
    published = context.catalog
    now = right_time(context.now, context.connection.session.time)
    month = month_begins(now) if published.budget else now
    history = read_history(context.connection, published, min(now - before, month), now)
    spent = ledger(history) if published.budget else None
    history = replace(history, since=now - before)
    if output == "json":
        screen.out_json("usage", {**codec.document(usage(history, by)), "budget": published.budget, "ledger": spent})
        return
    if output == "csv":
        usage_table.show_csv(usage(history, by))
        return
    owners = {
        cluster: join(published.owners(cluster)) for team in published.teams.values() for cluster in team.clusters
    }
    found = usages(history, (by, SESSIONS))
    usage_table.show(found[by], owners, next((row for row in found[SESSIONS].rows if row.name), None))
    if published.budget and spent:
        usage_table.show_budget(published.budget, spent, published.stack)
