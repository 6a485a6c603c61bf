"""Show jobs side by side: parameters, code, machines, metrics, cost.

What differs first; what is the same for all in one line below.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import exact, few, short
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_jobs
from slipway.front.cli.terminal.watching import events_of_cost
from slipway.google.jobs import FAILED
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.prices import dollars, spent
from slipway.using.context import Context
from slipway.using.jobs.comparison import COST, PRICE, ComparedField, compare_jobs
from slipway.using.jobs.description import JobDescription, describe
from slipway.using.jobs.failure import read_briefs
from slipway.using.jobs.metrics import read_metrics
from slipway.using.jobs.results import number, parameter_order


@click.command()
@click.argument("jobs", type=WORD, nargs=-1, required=True, metavar="JOB JOB…", shell_complete=completions.jobs)
@catalog_and_output
def command(jobs: tuple[str, ...], catalog: str | None, output: str) -> None:
    context = Context(catalog)
    compared = found_jobs(context, jobs)
    if len(compared) < 2:
        raise ConfigError(
            f"{compared[0].typed} alone can't be compared",
            why="two jobs or more are",
            fix=f"slipway jobs compare {compared[0].typed} JOB     slipway jobs list shows the newest",
        )
    with ThreadPoolExecutor(8, thread_name_prefix="compare") as threads:
        reading = threads.submit(read_metrics, context, compared)
        failed = threads.submit(read_briefs, context, [job for job in compared if job.state in FAILED])
        events = list(threads.map(lambda job: events_of_cost(context, job), compared))
        metrics = reading.result()
        reasons = failed.result()
    descriptions = [describe(job, context, of_job) for job, of_job in zip(compared, events, strict=True)]
    fields = compare_jobs(descriptions, metrics, reasons, parameter_order(context.catalog, compared))
    if output == "json":
        documents = [
            {
                **each.document,
                "metrics": dict(metrics[each.job.name]),
                "metricsNotFinite": metrics[each.job.name].not_finite,
                "failureReason": reasons.get(each.job.name) or each.document["failureReason"],
            }
            for each in descriptions
        ]
        screen.out_json("comparison", {"jobs": documents, "fields": fields})
        return
    _show(descriptions, fields)
    lacking: dict[str, list[str]] = {}
    for job in compared:
        if why := metrics[job.name].why:
            lacking.setdefault(why, []).append(job.typed)
    for why, names in lacking.items():
        screen.note(f"{few(names)} {'has' if len(names) == 1 else 'have'} no metrics: {why}")


def _show(descriptions: Sequence[JobDescription], fields: Sequence[ComparedField]) -> None:
    rows, same, group = [], [], ""
    for field in fields:
        name = "price" if (field.group, field.name) == PRICE else short(field.name)
        texts = [_text(field, of_job, value) for of_job, value in zip(descriptions, field.values, strict=True)]
        if field.alike:
            same.append(f"{name}{'=' if field.group in ('parameter', 'metric') else ' '}{texts[0]}")
            continue
        rows.append(["" if field.group == group else field.group.upper(), name, *texts])
        group = field.group
    names = [of_job.job.typed for of_job in descriptions]
    screen.table(("", "", *names), rows, names=2, wraps=names)
    if same:
        screen.prose(f"alike: {', '.join(dict.fromkeys(same))}")


def _text(field: ComparedField, description: JobDescription, value: Value | None) -> str:
    if value is None:
        return "–"
    if (field.group, field.name) == PRICE:
        return dollars(description.account.per_hour)
    if (field.group, field.name) == COST and description.account.cost is not None:
        return spent(description.account.cost)
    if not isinstance(value, str | tuple) and field.group in ("outcome", "metric"):
        return exact(value) if field.group == "outcome" else number(value)
    text = render(value)
    return screen.brief(text, 200) if text == " ".join(text.split()) else repr(text)
