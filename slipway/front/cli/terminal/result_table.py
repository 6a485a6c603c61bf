"""Results of jobs as a table, as CSV and as JSON: varying parameters, metrics, run time and cost, the best starred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slipway.base.formatting import exact, exact_span, short, span
from slipway.front.cli.terminal import screen
from slipway.google.jobs import VertexJob
from slipway.model.catalog.placeholders import render
from slipway.model.job_state import JobState
from slipway.model.own_settings import OF_JOB
from slipway.model.prices import spent
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from slipway.using.jobs.failure import FailureReason, read_causes, unread_notes
from slipway.using.jobs.listing import with_parts
from slipway.using.jobs.metrics import Metrics, read_metrics
from slipway.using.jobs.results import (
    Goal,
    ResultRow,
    Results,
    flat_rows,
    goal_of,
    metric_text,
    parameter_order,
    result_rows,
    with_metrics,
    without_metrics,
)

_UNSUCCESSFUL = (JobState.FAILED, JobState.EXPIRED, JobState.TIMED_OUT)


def show_results(
    context: Context, jobs: Sequence[VertexJob], chosen: tuple[str, ...], sort: Goal | None, output: str
) -> None:
    """Print results with the `chosen` metrics, and that to `sort` by, the best first. Raises ConfigError for a metric
    that no job has, where they have others."""
    names = list(dict.fromkeys([*chosen, *([sort.metric] if sort else [])]))
    jobs = with_parts(context, jobs)
    with ThreadPoolExecutor(1, thread_name_prefix="results") as threads:
        reading = threads.submit(read_metrics, context, jobs)
        causes = read_causes(context, jobs)
        metrics = reading.result()
    order = parameter_order(context.catalog, jobs)
    goal = sort or (goal_of(jobs, chosen[0]) if chosen else None)
    results = result_rows(jobs, metrics, context.now, goal, order, causes)
    results = with_metrics(results, names)
    if sort:
        results = results.sorted_by(sort)
    if output == "json":
        screen.out_json("jobs", _document(context, jobs, metrics, causes, results))
    elif output == "csv":
        rows = flat_rows(results)
        heads = list(rows[0]) if rows else []
        screen.out_csv(heads, ([row[head] for head in heads] for row in rows))
    else:
        _show_table(results, names, sort)
        for line in unread_notes(causes.values()):
            screen.note(line)


def _document(
    context: Context,
    jobs: Sequence[VertexJob],
    metrics: Mapping[str, Metrics],
    causes: Mapping[str, FailureReason],
    results: Results,
) -> dict[str, Any]:
    by_name = {job.name: job for job in jobs}
    documents = [
        {
            **describe(by_name[row.resource_name], context, reason=causes.get(row.resource_name)).document,
            "metrics": row.metrics,
            "metricsNotFinite": row.not_finite,
            "metricsSource": metrics[row.resource_name].source or None,
            "metricsWhy": row.metrics_why or None,
            "best": row.best,
        }
        for row in results.rows
    ]
    return {"jobs": documents, "varies": results.parameters, "goal": results.goal}


def _show_table(results: Results, names: Sequence[str], sort: Goal | None) -> None:
    starred, noted = results.goal is not None, any(row.note for row in results.rows)
    several = len({row.template for row in results.rows}) > 1
    labels = [key for key in results.labels if len({row.labels.get(key) for row in results.rows}) > 1]
    settings = results.varying_settings
    called = any(row.given_name for row in results.rows)
    heads = [*([""] if starred else []), *(["NAME"] if called else []), "JOB", *(["TEMPLATE"] if several else [])]
    heads += [
        *map(short, results.parameters),
        *_setting_heads(settings, results),
        *labels,
        *(["NOTE"] if noted else []),
    ]
    arrows = {sort.metric: " ↓" if sort.maximize else " ↑"} if sort else {}
    measured = [*(f"{short(name).upper()}{arrows.get(name, '')}" for name in names), "RUN TIME", "COST"]
    rows = []
    for row in results.rows:
        cells = [
            *(["★" if row.best else " "] if starred else []),
            *([row.given_name or "–"] if called else []),
            row.name,
            *([row.template or "–"] if several else []),
        ]
        cells += [_parameter(row, name) for name in results.parameters]
        cells += [_setting(row, name) for name in settings]
        cells += [row.labels.get(key, "–") for key in labels]
        cells += [screen.brief(row.note) or "–"] if noted else []
        rows.append([*cells, *(_cells(row, names) or [_instead(row)])])
    numbers = [short(name) for name in results.parameters if all(_is_number(row, name) for row in results.rows)]
    screen.table([*heads, *measured], rows, right=(*numbers, *measured), names=1 + starred + called)
    for line in _notes(results, names):
        screen.note(line)


def _parameter(row: ResultRow, name: str) -> str:
    return screen.brief(render(row.parameters[name])) if name in row.parameters else "–"


def _setting_heads(names: Sequence[str], results: Results) -> list[str]:
    return [_setting_head(name, results) for name in names]


def _setting_head(name: str, results: Results) -> str:
    """Return `LR` for a variable and `max-run` for a setting; the full name if a parameter or a label is named so."""
    own = name.partition(".")[2]
    if name.startswith(OF_JOB):
        own = own.replace("_", "-")
    return short(name if own in (*results.parameters, *results.labels) else own)


def _setting(row: ResultRow, name: str) -> str:
    value = row.settings.get(name)
    if value is None:
        return "–"
    if name == f"{OF_JOB}max_run" and isinstance(value, int):
        return exact_span(value)
    return screen.brief(render(value))


def _cells(row: ResultRow, names: Sequence[str]) -> list[str]:
    """Return metrics, run time and cost; nothing for a row that has its end instead."""
    has = any(name in row.metrics or name in row.not_finite for name in names)
    if not row.succeeded and (row.ended or not has):
        return []
    ran = exact(row.ran) if row.ran is not None else "–"
    return [
        *(metric_text(row, name) for name in names),
        ran if row.ended else f"{ran} so far",
        spent(row.cost) if row.cost is not None else "–",
    ]


def _instead(row: ResultRow) -> str:
    """Return `failed after 3 min: ValueError: bad value (trainer) · slipway jobs show mlp-7k2p`."""
    ran = row.ran
    if not row.ended:
        return f"{row.state} {span(ran if ran is not None else row.waited or 0.0)}"
    text = f"{row.state} after {span(ran)}" if ran is not None else f"{row.state}, never started"
    if row.state not in _UNSUCCESSFUL:
        return text
    return f"{text}{f': {row.failure_reason}' if row.failure_reason else ''} · slipway jobs show {row.name}"


def _is_number(row: ResultRow, name: str) -> bool:
    value = row.parameters.get(name, 0)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _notes(results: Results, names: Sequence[str]) -> list[str]:
    """Return why succeeded jobs lack a metric, and how to have the best starred."""
    notes = without_metrics(results, names)
    if results.goal is None and any(row.metrics or row.not_finite for row in results.rows) and names:
        notes.append(
            f"to have the best starred: --sort -{short(names[0])} where more is better, else --sort {short(names[0])}"
        )
    return notes
