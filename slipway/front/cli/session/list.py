"""List sessions that have not ended: what each holds, what it runs, what it costs, when it ends by itself."""

from __future__ import annotations

import click

from slipway.base.columns import Column, table_of
from slipway.base.formatting import span
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.front.cli.terminal.watching import cost_words
from slipway.model.prices import UNKNOWN_PRICE
from slipway.using.context import Context
from slipway.using.sessions.listing import SessionRow, session_rows
from slipway.using.sessions.session import active_sessions


@click.command()
@click.option("--all", "everybody", is_flag=True, help="Everybody's, not yours alone.")
@catalog_and_output
def command(*, everybody: bool, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    rows = session_rows(context, active_sessions(context, of_all=everybody), context.now)
    if output == "json":
        screen.out_json("sessions", {"sessions": [row.document for row in rows]})
        return
    if not rows:
        screen.note("no session goes on")
        screen.hint("  slipway session start")
        return
    columns = [
        Column[SessionRow]("SESSION", lambda row: row.session.name, name=True),
        Column("JOB", lambda row: row.session.job.called, name=True),
        Column("USER", lambda row: row.session.job.user if everybody else "", optional=True),
        Column("AGENT", lambda row: row.agent, optional=True),
        Column("STATE", lambda row: row.session.job.job_state),
        Column("HOLDS", lambda row: row.holds),
        Column("SINCE", lambda row: f"{span(row.age)} ago" if row.age is not None else "–", wraps=True),
        Column("COST", _cost, wraps=True),
        Column("RUNS", lambda row: screen.brief(row.runs), wraps=True),
        Column("ENDS", lambda row: row.ends, wraps=True),
    ]
    screen.show(table_of(columns, rows))


def _cost(row: SessionRow) -> str:
    if row.age is None:
        return "–"
    return cost_words(row.account) if row.account.cost else UNKNOWN_PRICE
