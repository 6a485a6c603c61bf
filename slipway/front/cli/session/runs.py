"""List a session's runs, with how each ended and the metrics that it wrote.

Also of a session that has ended lately. `metrics.json` in a run's $SLIPWAY_OUTPUT has its metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from slipway.base.columns import Column, table_of
from slipway.base.errors import ConfigError
from slipway.base.formatting import exact, few, quoted, short, span
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, word_option
from slipway.using.context import Context
from slipway.using.jobs.results import Goal, number
from slipway.using.sessions.runs import NEWEST, RunRecord, read_runs, sorted_runs
from slipway.using.sessions.session import find_recent_session


@click.command()
@click.argument("session", type=WORD, required=False)
@word_option("--session", "named", metavar="SESSION", help="The same, as for slipway session run.")
@word_option(
    "--sort", metavar="[-]NAME", help="By a metric, best first: -accuracy where more is better, loss where less is."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=NEWEST,
    show_default=True,
    metavar="N",
    help="At most this many, the newest.",
)
@catalog_and_output
def command(
    *, session: str | None, named: str | None, sort: str | None, limit: int, catalog: str | None, output: str
) -> None:
    context = Context(catalog)
    goal = Goal.parse(sort) if sort else None
    found = find_recent_session(context, session or named)
    runs = read_runs(context, found, limit=limit)
    if goal:
        _require_metric(goal, runs)
        runs = sorted_runs(runs, goal)
    if output == "json":
        screen.out_json(
            "session-runs", {"session": found.name, "job": found.job.name, "runs": [run.document for run in runs]}
        )
        return
    if not runs:
        screen.note(f"session {found.name} has had no run")
        return
    screen.show(table_of(_columns(context, runs, goal), runs))
    screen.hint(
        f"  slipway session compare {runs[0].number} …      slipway submit --like {found.name}/{runs[0].number}"
    )


def _columns(context: Context, runs: Sequence[RunRecord], goal: Goal | None) -> list[Column[RunRecord]]:
    names = dict.fromkeys(name for run in runs for name in run.metrics.as_shown)
    if goal:
        names.setdefault(goal.metric)
    return [
        Column[RunRecord]("RUN", lambda run: str(run.number), right=True, name=True),
        Column("STATE", lambda run: run.state),
        *map(_metric_column, names),
        Column("SENT", lambda run: _age(context, run), wraps=True),
        Column("RAN", lambda run: exact(run.ran) if run.ran is not None else "–", right=True),
        Column("COMMAND", lambda run: screen.brief(run.command), wraps=True),
        Column("WHY", lambda run: run.failure_reason, wraps=True, optional=True),
    ]


def _age(context: Context, run: RunRecord) -> str:
    return f"{span((context.now - run.created).total_seconds())} ago" if run.created else "–"


def _metric_column(name: str) -> Column[RunRecord]:
    return Column(short(name).upper(), lambda run: _metric(run, name), right=True)


def _metric(run: RunRecord, name: str) -> str:
    if name in run.metrics.not_finite:
        return run.metrics.not_finite[name]
    return number(run.metrics[name]) if name in run.metrics else "–"


def _require_metric(goal: Goal, runs: Sequence[RunRecord]) -> None:
    known = dict.fromkeys(name for run in runs for name in run.metrics.as_shown)
    if known and goal.metric not in known:
        raise ConfigError(
            f"none of these runs has a metric {quoted(goal.metric)}",
            why=f"they have {few(map(short, known), 12)}",
            fix="slipway session runs",
        )
