"""Show who used what, how long it waited and what it cost, and what nobody used.

By user, team, template, pool, or a label of jobs. A pool's cost is shared out by use; machines that no job had stand as
idle. `csv` is a row for each day in the columns of FOCUS. Costs are list prices, not the bill.
"""

from __future__ import annotations

from datetime import timedelta

import click

from slipway.cli.terminal import screen
from slipway.cli.terminal.options import WORD, catalog_and_output_with_csv
from slipway.formatting import seconds


@click.command()
@click.option("--since", default="30d", show_default=True, metavar="TIME", help="From so long ago on: 12h, 7d.")
@click.option(
    "--by",
    default="user",
    show_default=True,
    type=WORD,
    metavar="user|team|template|pool|label:KEY",
    help="A row each.",
)
@catalog_and_output_with_csv
def command(since: str, by: str, catalog: str | None, output: str) -> None:
    from slipway.cli.terminal import usage_table
    from slipway.clock import right_time
    from slipway.context import Context
    from slipway.history.focus import COLUMNS, focus_rows
    from slipway.history.reader import read_history
    from slipway.history.usage import names_by, usage

    names_by(by)  # What is mistyped is said before a month is read.
    context, before = Context(catalog), timedelta(seconds=seconds(since))
    found = context.catalog
    now = right_time(context.now, context.connection.session.time)
    history = read_history(context.connection, found, now - before, now)
    if output == "json":
        screen.out_json("usage", usage(history, by))
        return
    if output == "csv":
        screen.out_csv(COLUMNS, ([row[column] for column in COLUMNS] for row in focus_rows(history, by)))
        for words in history.unread:
            screen.note(f"! not read: {words}")
        return
    usage_table.show(usage(history, by))
