"""Show jobs side by side: parameters, code, machines, metrics, cost.

What differs first; what is the same for all in one line below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import few
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.compared import compared_text, show_compared
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_jobs
from slipway.front.cli.terminal.watching import events_of_cost
from slipway.google.jobs import VertexJob
from slipway.model.prices import dollars, spent
from slipway.using.context import Context
from slipway.using.jobs.comparison import COST, PRICE, ComparedField, compare_jobs
from slipway.using.jobs.description import JobDescription, describe
from slipway.using.jobs.failure import read_causes, unread_notes
from slipway.using.jobs.metrics import read_metrics
from slipway.using.jobs.results import parameter_order


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
        failed = threads.submit(read_causes, context, compared)
        events = list(threads.map(lambda job: events_of_cost(context, job), compared))
        metrics = reading.result()
        causes = failed.result()
    descriptions = [
        describe(job, context, of_job, causes.get(job.name)) for job, of_job in zip(compared, events, strict=True)
    ]
    reasons = {name: cause.text for name, cause in causes.items() if cause.text}
    fields = compare_jobs(descriptions, metrics, reasons, parameter_order(context.catalog, compared))
    if output == "json":
        documents = [
            {
                **each.document,
                "metrics": dict(metrics[each.job.name]),
                "metricsNotFinite": metrics[each.job.name].not_finite,
            }
            for each in descriptions
        ]
        screen.out_json("comparison", {"jobs": documents, "fields": fields})
        return
    shown = _shown_names(compared)
    show_compared(list(shown.values()), fields, partial(_text, descriptions))
    for line in unread_notes(causes.values()):
        screen.note(line)
    lacking: dict[str, list[str]] = {}
    for job in compared:
        if why := metrics[job.name].why:
            lacking.setdefault(why, []).append(shown[job.name])
    for why, names in lacking.items():
        screen.note(f"{few(names)} {'has' if len(names) == 1 else 'have'} no metrics: {why}")


def _shown_names(jobs: Sequence[VertexJob]) -> dict[str, str]:
    """Return the name to show for each job by its full name: the one that its submitter gave it, if that is unique."""
    given = Counter(filter(None, (job.chosen_name for job in jobs)))
    return {job.name: job.chosen_name if given[job.chosen_name] == 1 else job.typed for job in jobs}


def _text(descriptions: Sequence[JobDescription], field: ComparedField, place: int) -> str:
    value, account = field.values[place], descriptions[place].account
    if value is not None and (field.group, field.name) == PRICE:
        return dollars(account.per_hour)
    if value is not None and (field.group, field.name) == COST and account.cost is not None:
        return spent(account.cost)
    return compared_text(field, value)
