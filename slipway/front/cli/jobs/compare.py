"""Show jobs side by side: parameters, code, machines, metrics, cost.

What differs first; what is the same for all in one line below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import exact, few, quoted, short
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_jobs
from slipway.front.cli.terminal.watching import events_of_cost
from slipway.model.catalog.placeholders import render
from slipway.model.prices import dollars, spent
from slipway.using.context import Context
from slipway.using.jobs.comparison import COST, PRICE, ComparedField, Value, compare_jobs
from slipway.using.jobs.description import JobDescription, describe
from slipway.using.jobs.failure import FAILED, read_briefs
from slipway.using.jobs.metrics import Metrics, read_metrics
from slipway.using.jobs.results import number, parameter_order


@click.command()
@click.argument("jobs", type=WORD, nargs=-1, required=True, metavar="JOB JOB…", shell_complete=completions.jobs)
@catalog_and_output
def command(jobs: tuple[str, ...], catalog: str | None, output: str) -> None:
    context = Context(catalog)
    found = found_jobs(context, jobs)
    if len(found) < 2:
        raise ConfigError(
            f"{found[0].typed} alone can't be compared",
            why="two jobs or more are",
            fix=f"slipway jobs compare {found[0].typed} JOB     slipway jobs list shows the newest",
        )
    with ThreadPoolExecutor(8, thread_name_prefix="compare") as threads:
        reading = threads.submit(read_metrics, context, found)
        failed = threads.submit(read_briefs, context, [job for job in found if job.state in FAILED])
        events = list(threads.map(lambda job: events_of_cost(context, job), found))
        metrics, causes = reading.result(), failed.result()
    told = [describe(job, context, of_job) for job, of_job in zip(found, events, strict=True)]
    fields = compare_jobs(told, metrics, causes, parameter_order(context.catalog, found))
    if output == "json":
        screen.out_json("comparison", {"jobs": [_document(one, metrics) for one in told], "fields": fields})
        return
    _show(told, fields)
    lacking: dict[str, list[str]] = {}
    for one in told:
        if why := metrics[one.job.name].why:
            lacking.setdefault(why, []).append(one.job.typed)
    for why, names in lacking.items():
        screen.note(f"{few(names)} {'has' if len(names) == 1 else 'have'} no metrics: {why}")


def _document(told: JobDescription, metrics: Mapping[str, Metrics]) -> Mapping[str, Any]:
    job = told.job
    return {**told.document, "parameters": job.parameters, "metrics": dict(metrics[job.name])}


def _show(told: Sequence[JobDescription], fields: Sequence[ComparedField]) -> None:
    rows, group = [], ""
    for one in (field for field in fields if not field.alike):
        texts = (_text(one, told[place], value) for place, value in enumerate(one.values))
        rows.append(["" if one.group == group else one.group.upper(), _name(one), *texts])
        group = one.group
    screen.table(("", "", *(one.job.typed for one in told)), rows, names=2, wraps=[one.job.typed for one in told])
    same = [_same(one, told[0]) for one in fields if one.alike]
    if same:
        screen.prose(f"alike: {', '.join(dict.fromkeys(same))}")


def _text(field: ComparedField, told: JobDescription, value: Value) -> str:
    if value is None:
        return "–"
    if (field.group, field.name) == PRICE:
        return dollars(told.account.per_hour)
    if (field.group, field.name) == COST and told.account.cost is not None:
        return spent(told.account.cost)
    if not isinstance(value, str) and field.group in ("outcome", "metric"):
        return exact(value) if field.group == "outcome" else number(value)
    text = render(value)
    return short(text, 200) if text == " ".join(text.split()) else quoted(text)


def _name(field: ComparedField) -> str:
    return "price" if (field.group, field.name) == PRICE else short(field.name)


def _same(field: ComparedField, told: JobDescription) -> str:
    sign = "=" if field.group in ("parameter", "metric") else " "
    return f"{_name(field)}{sign}{_text(field, told, field.values[0])}"
