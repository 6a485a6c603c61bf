"""List the newest jobs, or the runs of a sweep.

Those of this catalog's stack; the runs of a sweep in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from slipway.base.formatting import nearest, quoted, short, span, span_or_dash
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.frames import watch_option, watched
from slipway.front.cli.terminal.options import WORD, catalog_and_output_with_csv
from slipway.front.cli.terminal.screen import Column
from slipway.front.cli.terminal.sweep_outcome import tally
from slipway.google.jobs import VertexJob, state_word
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.placeholders import render
from slipway.model.labels import RUN_LABEL
from slipway.using.context import Context
from slipway.using.jobs.claim import settled
from slipway.using.jobs.description import JobDescription, describe
from slipway.using.jobs.failure import read_causes
from slipway.using.jobs.listing import MOST, NEWEST, STATES, JobQuery, listed_jobs
from slipway.using.jobs.results import Goal, varying_parameters
from slipway.using.sweeps.cancelling import unknown_sweep
from slipway.using.sweeps.runs import copies, in_order, latest, sweep_filter
from slipway.using.sweeps.sweep_journal import journal_of_sweep, was_begun

Values = Mapping[str, Scalar]


@click.command()
@click.option("--template", metavar="NAME", shell_complete=completions.templates, help="Only jobs of this template.")
@click.option("--user", metavar="NAME", help="Only this person's.")
@click.option("--team", metavar="NAME", help="Only jobs that count for this team.")
@click.option("--sweep", metavar="ID", shell_complete=completions.sweeps, help="Only the runs of this sweep.")
@click.option(
    "--label", "labels", multiple=True, metavar="KEY[=VALUE]", help="Only jobs with this label; may be repeated."
)
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")
@click.option(
    "--all", "everything", is_flag=True, help="Every job of its regions, whoever submitted it and by whatever means."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="At most this many, newest first.  [default: 20; all for a sweep]",
)
@click.option(
    "--metric",
    "metrics",
    type=WORD,
    multiple=True,
    metavar="NAME",
    help="Show results: what varies, this metric, run time and cost. May be repeated.",
)
@click.option(
    "--sort",
    type=WORD,
    metavar="[-]NAME",
    help="By a metric, best first: -accuracy where more is better, loss where less is. The best is starred.",
)
@watch_option
@catalog_and_output_with_csv
def command(
    *,
    template: str | None,
    user: str | None,
    team: str | None,
    sweep: str | None,
    labels: tuple[str, ...],
    state: str | None,
    everything: bool,
    limit: int | None,
    metrics: tuple[str, ...],
    sort: str | None,
    watch: bool,
    catalog: str | None,
    output: str,
) -> None:
    context = Context(catalog)
    most = limit or (MOST if sweep else NEWEST)
    wanted = {key: value if equals else None for key, equals, value in (one.partition("=") for one in labels)}
    query = JobQuery(None if everything else context.catalog.stack, template, user, team, state, most, wanted)
    look = partial(_look, query=query, sweep=sweep, metrics=metrics, sort=sort, output=output)
    if watch:
        watched(lambda: look(context.anew()), context.clock, output)
    else:
        look(context)


def _look(
    context: Context, query: JobQuery, sweep: str | None, metrics: tuple[str, ...], sort: str | None, output: str
) -> None:
    """Read and print."""
    stack = context.catalog.stack
    of_sweep = sweep_filter(stack, sweep) if sweep is not None else ""
    every = listed_jobs(context, query, screen.warn, of_sweep)
    unheard_of = sweep is not None and not every and not was_begun(journal_of_sweep(context, sweep))
    if sweep and unheard_of and not (query.narrowed and any(context.vertex.jobs_of_every_kind(of_sweep, page_size=1))):
        raise unknown_sweep(context, sweep)
    found = in_order(every) if sweep else every
    settle = partial(settled, context.connection.storage)
    if found and (metrics or sort or output == "csv"):
        from slipway.front.cli.terminal.result_table import MetricColumns, show_results

        counting = list(latest(found, settle).values()) if sweep else found
        show_results(context, counting, MetricColumns(metrics, Goal.parse(sort) if sort else None), output)
        return
    aside = copies(found, settle) if sweep else frozenset()
    causes = read_causes(context, found) if query.state in ("failed", "expired") else {}
    if output == "json":
        documents = []
        for job in found:
            more: dict[str, Any] = {"parameters": job.parameters, "copy": job.name in aside} if sweep else {}
            more |= {"cause": causes[job.name] or None} if job.name in causes else {}
            documents.append({**describe(job, context).document, **more})
        screen.out_json("jobs", {"jobs": documents})
        return
    if not found:
        screen.note("no jobs" + (" match" if query.narrowed or sweep else f" of stack {stack} yet"))
        if query.template is not None and query.template not in context.catalog.templates:
            near = nearest(query.template, context.catalog.templates)
            screen.note(
                f"  the catalog has no template {quoted(query.template)}{f'; did you mean {near}?' if near else ''}"
            )
        return
    several = len({job.team for job in found}) > 1
    told = apart([job.parameters or {} for job in found]) if sweep else []
    values = {job.name: text for job, text in zip(found, told, strict=False)}
    columns: tuple[Column[JobDescription], ...] = (
        *((Column("#", lambda one: one.job.labels.get(RUN_LABEL, "–"), right=True, name=True),) if sweep else ()),
        Column("JOB", lambda one: one.job.called, name=True),
        # Another job runs the same attempt of a sweep's run, so a copy's state is not the run's.
        Column("STATE", lambda one: f"{state_word(one.job.state)}{' (copy)' if one.job.name in aside else ''}"),
        Column("USER", lambda one: one.job.user or "–"),
        Column("TEAM", lambda one: one.job.team if several else "", optional=True),
        Column("ON", lambda one: f"{one.on}{context.elsewhere(one.job.region)}"),
        Column("CREATED", lambda one: _age(one.job, context), wraps=True),
        Column("WAIT", lambda one: span_or_dash(one.account.wait), right=True),
        Column("RUN", lambda one: span_or_dash(one.account.run), right=True),
        Column("WHY", lambda one: causes.get(one.job.name, ""), wraps=True, optional=True),
        Column("LABELS", lambda one: short(one.own_labels), wraps=True, optional=True),
        Column("NOTE", lambda one: short(one.job.note), wraps=True, optional=True),
        Column("PARAMETERS", lambda one: values.get(one.job.name, ""), wraps=True, optional=True),
    )
    screen.listed(columns, [describe(job, context) for job in found])
    if sweep:
        screen.note(tally(found, settle))


def _age(job: VertexJob, context: Context) -> str:
    return f"{span((context.now - job.create_time).total_seconds())} ago" if job.create_time else "?"


def apart(values: Sequence[Values]) -> list[str]:
    """Return the values that tell each run from the others, `trees=100, seed=3`; all of its values where the runs are
    alike."""
    differing = varying_parameters(values) or tuple(dict.fromkeys(name for one in values for name in one))
    return [
        ", ".join(f"{short(name)}={short(render(one[name]))}" for name in differing if name in one) or "–"
        for one in values
    ]
