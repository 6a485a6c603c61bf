"""List the newest jobs, or the runs of a sweep.

Those of this catalog's stack; the runs of a sweep in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import click

from slipway.base.columns import Column, table_of
from slipway.base.formatting import nearest, quoted, short, span, span_or_dash
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.frames import watch_option, watched
from slipway.front.cli.terminal.options import catalog_and_output_with_csv, word_option
from slipway.front.cli.terminal.sweep_outcome import tally
from slipway.google.jobs import VertexJob
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.job_state import SELECTABLE
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import RUN_LABEL, SESSION_LABEL
from slipway.using.context import Context
from slipway.using.jobs.claimant import claimant
from slipway.using.jobs.description import JobDescription, describe
from slipway.using.jobs.failure import read_causes, unread_notes
from slipway.using.jobs.listing import MOST, NEWEST, JobQuery, listed_jobs, with_parts
from slipway.using.jobs.race import OUTRUN, outrun
from slipway.using.jobs.results import Goal, varying_parameters
from slipway.using.jobs.room import jobs_behind
from slipway.using.sweeps.cancelling import unknown_sweep
from slipway.using.sweeps.run_claims import hidden_copies
from slipway.using.sweeps.runs import copies, in_order, latest, sweep_filter
from slipway.using.sweeps.sweep_journal import journal_of_sweep, was_begun

Values = Mapping[str, Value]


@click.command()
@click.option("--template", metavar="NAME", shell_complete=completions.templates, help="Only jobs of this template.")
@click.option("--user", metavar="NAME", help="Only this person's.")
@click.option("--team", metavar="NAME", help="Only jobs that count for this team.")
@click.option("--sweep", metavar="ID", shell_complete=completions.sweeps, help="Only the runs of this sweep.")
@click.option(
    "--label", "labels", multiple=True, metavar="KEY[=VALUE]", help="Only jobs with this label; may be repeated."
)
@click.option("--state", type=click.Choice(SELECTABLE), help="Only jobs in this state.")
@click.option(
    "--all", "everything", is_flag=True, help="Every job of its regions, whoever submitted it and by whatever means."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="At most this many, newest first.  [default: 20; all for a sweep]",
)
@word_option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show results: what varies, this metric, run time and cost. May be repeated.",
)
@word_option(
    "--sort",
    metavar="[-]NAME",
    help="By a metric, best first: -accuracy where more is better, loss where less is. The best is starred.",
)
@watch_option
@catalog_and_output_with_csv
def command(
    *,
    sweep: str | None,
    labels: tuple[str, ...],
    everything: bool,
    limit: int | None,
    metrics: tuple[str, ...],
    sort: str | None,
    watch: bool,
    catalog: str | None,
    output: str,
    **only: str | None,
) -> None:
    """`only` are the other fields of `JobQuery`."""
    context = Context(catalog)
    pairs = (label.partition("=") for label in labels)
    query = JobQuery(
        stack=None if everything else context.catalog.identity.label,
        limit=limit or (MOST if sweep else NEWEST),
        labels={key: value if equals else None for key, equals, value in pairs},
        **only,
    )
    look = partial(_look, query=query, sweep=sweep, metrics=metrics, sort=sort, output=output)
    if watch:
        watched(lambda: look(context.anew()), context.clock, output)
    else:
        look(context)


def _look(
    context: Context, query: JobQuery, sweep: str | None, metrics: tuple[str, ...], sort: str | None, output: str
) -> None:
    of_sweep = sweep_filter(context.catalog.identity.label, sweep) if sweep is not None else ""
    jobs = listed_jobs(context, query, screen.warn, of_sweep)
    if sweep and not jobs and not was_begun(journal_of_sweep(context, sweep)):
        # The other options may have left out all jobs of a sweep that is there.
        is_there = query.narrowed and any(context.vertex.jobs_of_every_kind(of_sweep, page_size=1))
        if not is_there:
            raise unknown_sweep(context, sweep)
    if sweep:
        jobs = in_order(jobs)
    choose_job = partial(claimant, context.connection.storage)
    if jobs and (metrics or sort or output == "csv"):
        from slipway.front.cli.terminal.result_table import show_results

        last_jobs = list(latest(jobs, choose_job).values()) if sweep else jobs
        show_results(context, last_jobs, metrics, Goal.parse(sort) if sort else None, output)
        return
    copy_names = copies(jobs, choose_job) | hidden_copies(context, jobs) if sweep else frozenset()
    behind = jobs_behind(context.connection.storage, jobs)
    outcomes = dict.fromkeys(behind, "made room") | dict.fromkeys(outrun(context.connection.storage, jobs), OUTRUN)
    shows_causes = output == "json" or query.state in ("failed", "expired", "timed-out")
    causes = read_causes(context, jobs) if shows_causes else {}
    if output == "json":
        documents = [
            {
                **describe(job, context, reason=causes.get(job.name)).document,
                **({"copy": job.name in copy_names} if sweep else {}),
                **({"goesOnAs": behind[job.name]} if job.name in behind else {}),
            }
            for job in with_parts(context, jobs)
        ]
        screen.out_json("jobs", {"jobs": documents})
        return
    if not jobs:
        _note_none(context, query, of_a_sweep=bool(sweep))
        return
    several_teams = len({job.team for job in jobs}) > 1
    values: dict[str, str] = {}
    columns: list[Column[JobDescription]] = []
    if sweep:
        texts = apart([job.parameters or {} for job in jobs])
        values = {job.name: text for job, text in zip(jobs, texts, strict=True)}
        columns.append(Column("#", lambda row: row.job.labels.get(RUN_LABEL, "–"), right=True, name=True))
    columns += [
        Column("NAME", lambda row: row.job.chosen_name, optional=True, name=True),
        Column("JOB", lambda row: row.job.called, name=True),
        # Another job runs the same attempt of a sweep's run, so a copy's state is not the run's.
        Column(
            "STATE",
            lambda row: (
                f"{outcomes.get(row.job.name, row.job.job_state)}{' (copy)' if row.job.name in copy_names else ''}"
            ),
        ),
        Column("USER", lambda row: row.job.user or "–"),
        Column("TEAM", lambda row: row.job.team if several_teams else "", optional=True),
        Column("KIND", lambda row: row.job.kind.words if row.job.kind is not CUSTOM_JOB else "", optional=True),
        Column("ON", lambda row: f"{row.on}{context.elsewhere(row.job.region)}"),
        Column("CREATED", lambda row: _age(row.job, context), wraps=True),
        Column("WAIT", lambda row: span_or_dash(row.account.wait), right=True),
        Column("RUN", lambda row: span_or_dash(row.account.run), right=True),
        Column(
            "PARAMETERS", lambda row: values.get(row.job.name) or _given(row.job, context), wraps=True, optional=True
        ),
        Column(
            "WHY", lambda row: causes[row.job.name].text if row.job.name in causes else "", wraps=True, optional=True
        ),
        Column("LABELS", lambda row: screen.brief(row.own_labels), wraps=True, optional=True),
        Column("NOTE", lambda row: screen.brief(row.job.note), wraps=True, optional=True),
    ]
    screen.show(table_of(columns, [describe(job, context) for job in jobs]))
    for line in unread_notes(causes.values()):
        screen.note(line)
    if sweep:
        screen.note(tally(jobs, copy_names))


def _note_none(context: Context, query: JobQuery, *, of_a_sweep: bool) -> None:
    """Print that no job is listed, and that the catalog lacks a template of the query."""
    if query.narrowed or of_a_sweep:
        screen.note("no jobs match")
    else:
        screen.note(f"no jobs of stack {context.catalog.stack} yet")
    if query.template is None or query.template in context.catalog.templates:
        return
    near = nearest(query.template, context.catalog.templates)
    meant = f"; did you mean {near}?" if near else ""
    screen.note(f"  the catalog has no template {quoted(query.template)}{meant}")


def _given(job: VertexJob, context: Context) -> str:
    """Return what its submission gave the job beside its template's defaults, a command first and by itself; of a
    session only that it is one."""
    if SESSION_LABEL in job.labels:
        return "a session"
    template = context.catalog.templates.get(job.template)
    parameters = template.parameters if template else ()
    values = {**(job.parameters or {})}
    for parameter in parameters:
        if not parameter.command and values.get(parameter.name) == parameter.default:
            del values[parameter.name]
    commands = [
        screen.brief(render(values.pop(each.name))) for each in parameters if each.command and each.name in values
    ]
    return ", ".join((*commands, *(f"{short(name)}={screen.brief(render(value))}" for name, value in values.items())))


def _age(job: VertexJob, context: Context) -> str:
    return f"{span((context.now - job.create_time).total_seconds())} ago" if job.create_time else "?"


def apart(values: Sequence[Values]) -> list[str]:
    """Return the values that tell each run from the others, `trees=100, seed=3`; all where the runs are alike."""
    differing = varying_parameters(values) or tuple(dict.fromkeys(name for of_run in values for name in of_run))
    return [
        ", ".join(f"{short(name)}={screen.brief(render(of_run[name]))}" for name in differing if name in of_run) or "–"
        for of_run in values
    ]
