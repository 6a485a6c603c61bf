"""Results of jobs as a table, as CSV and as JSON: varying parameters, metrics, run time and cost, the best starred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from slipway.base.formatting import counted, exact, short, span
from slipway.front.cli.terminal import screen
from slipway.google.jobs import FAILED, VertexJob, state_word
from slipway.model.catalog.placeholders import render
from slipway.model.prices import spent
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from slipway.using.jobs.failure import read_causes
from slipway.using.jobs.listing import with_parts
from slipway.using.jobs.metrics import Metrics, read_metrics
from slipway.using.jobs.results import (
    Goal,
    ResultRow,
    Results,
    flat_rows,
    goal_of,
    number,
    parameter_order,
    require_metrics,
    result_rows,
)


@dataclass(frozen=True)
class MetricColumns:
    """The chosen metrics, and the one by which rows are sorted, the best first."""

    names: tuple[str, ...] = ()
    sort: Goal | None = None

    @property
    def all(self) -> tuple[str, ...]:
        names = [*self.names, self.sort.metric] if self.sort else self.names
        return tuple(dict.fromkeys(names))


def show_results(context: Context, jobs: Sequence[VertexJob], columns: MetricColumns, output: str) -> None:
    """Print results. Raises ConfigError for a metric that no job has, where they have others."""
    jobs = with_parts(context, jobs)
    with ThreadPoolExecutor(1, thread_name_prefix="results") as threads:
        reading = threads.submit(read_metrics, context, jobs)
        causes = read_causes(context, jobs)
        metrics = reading.result()
    order = parameter_order(context.catalog, jobs)
    goal = columns.sort or (goal_of(jobs, columns.names[0]) if columns.names else None)
    results = result_rows(jobs, metrics, context.now, goal, order, causes)
    require_metrics(results, columns.all)
    if columns.sort:
        results = results.sorted_by(columns.sort)
    if output == "json":
        screen.out_json("jobs", _document(context, jobs, metrics, results))
    elif output == "csv":
        rows = flat_rows(results)
        heads = list(rows[0]) if rows else []
        screen.out_csv(heads, ([row[head] for head in heads] for row in rows))
    else:
        _show_table(results, columns)


def _document(
    context: Context, jobs: Sequence[VertexJob], metrics: Mapping[str, Metrics], results: Results
) -> dict[str, Any]:
    by_name = {job.name: job for job in jobs}

    def document(row: ResultRow) -> dict[str, Any]:
        job = by_name[row.job]
        return {
            **describe(job, context).document,
            "parameters": job.parameters,
            "metrics": row.metrics,
            "metricsSource": metrics[row.job].source or None,
            "metricsWhy": row.metrics_why or None,
            "cause": row.cause or None,
            "best": row.best,
        }

    return {"jobs": [document(row) for row in results.rows], "varies": results.parameters, "goal": results.goal}


def _show_table(results: Results, columns: MetricColumns) -> None:
    names = columns.all
    starred = results.goal is not None
    # The columns that describe a job, each with the text of its cells.
    described: list[tuple[str, Callable[[ResultRow], str]]] = []
    if starred:
        described.append(("", lambda row: "★" if row.best else " "))
    described.append(("JOB", lambda row: row.name))
    if len({row.template for row in results.rows}) > 1:
        described.append(("TEMPLATE", lambda row: row.template or "–"))
    described += [(short(name), partial(_parameter, name)) for name in results.parameters]
    labels = [key for key in results.labels if len({row.labels.get(key) for row in results.rows}) > 1]
    described += [(key, partial(_label, key)) for key in labels]
    if any(row.note for row in results.rows):
        described.append(("NOTE", lambda row: short(row.note) or "–"))
    arrows = {columns.sort.metric: " ↓" if columns.sort.maximize else " ↑"} if columns.sort else {}
    measured = [*(f"{short(name).upper()}{arrows.get(name, '')}" for name in names), "RUN TIME", "COST"]
    numbers = [short(name) for name in results.parameters if all(_is_number(row, name) for row in results.rows)]
    screen.table(
        [*(head for head, _ in described), *measured],
        [[*(text(row) for _, text in described), *(_cells(row, names) or [_instead(row)])] for row in results.rows],
        right=(*numbers, *measured),
        names=2 if starred else 1,
    )
    for line in _notes(results, names):
        screen.note(line)


def _parameter(name: str, row: ResultRow) -> str:
    return short(render(row.parameters[name])) if name in row.parameters else "–"


def _label(key: str, row: ResultRow) -> str:
    return row.labels.get(key, "–")


def _cells(row: ResultRow, names: Sequence[str]) -> list[str]:
    """Return metrics, run time and cost; nothing for a row that has its end instead."""
    has = any(name in row.metrics for name in names)
    if not row.succeeded and (row.ended or not has):
        return []
    ran = exact(row.run_seconds) if row.run_seconds is not None else "–"
    return [
        *(number(row.metrics[name]) if name in row.metrics else "–" for name in names),
        ran if row.ended else f"{ran} so far",
        spent(row.cost) if row.cost is not None else "–",
    ]


def _instead(row: ResultRow) -> str:
    """Return `failed after 3 min: ValueError: bad value (trainer) · slipway jobs show mlp-7k2p`."""
    state, ran = state_word(row.state), row.run_seconds
    if not row.ended:
        return f"{state} {span(ran if ran is not None else row.wait_seconds or 0.0)}"
    text = f"{state} after {span(ran)}" if ran is not None else f"{state}, never started"
    if row.state not in FAILED:
        return text
    return f"{text}{f': {row.cause}' if row.cause else ''} · slipway jobs show {row.name}"


def _is_number(row: ResultRow, name: str) -> bool:
    value = row.parameters.get(name, 0)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _notes(results: Results, names: Sequence[str]) -> list[str]:
    """Return why succeeded jobs lack a metric, and how to have the best starred."""
    lacking = [row for row in results.rows if row.succeeded and not any(name in row.metrics for name in names)]
    reasons = Counter(row.metrics_why or f"it has no {short(names[0])}" for row in lacking)
    notes = [f"{counted(count, 'job')} without a metric: {reason}" for reason, count in reasons.most_common(3)]
    if results.goal is None and results.metrics and names:
        notes.append(
            f"to have the best starred: --sort -{short(names[0])} where more is better, else --sort {short(names[0])}"
        )
    return notes
