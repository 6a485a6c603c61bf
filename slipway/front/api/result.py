"""Results of jobs from Python: rows for `pandas.DataFrame`, and a table for notebooks."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from slipway.base.errors import ConfigError
from slipway.base.formatting import exact, short
from slipway.front.api.notebook import table
from slipway.google.jobs import VertexJob
from slipway.model.catalog.placeholders import render
from slipway.model.prices import spent
from slipway.using.context import Context
from slipway.using.jobs.failure import read_causes
from slipway.using.jobs.listing import with_parts
from slipway.using.jobs.metrics import read_metrics
from slipway.using.jobs.results import (
    Goal,
    ResultRow,
    Results,
    flat_rows,
    metric_text,
    parameter_order,
    result_rows,
    with_metrics,
    without_metrics,
)

Row = Mapping[str, str | float | None]
_log = logging.getLogger("slipway")


class ResultTable(list[Row]):
    """A mapping for each job, all with the same keys, so that `pandas.DataFrame(table)` is a frame. Keys are named as
    the attributes of `slipway.Job`: `name`, `given_name`, `user`, `state`, `created`, `waited`, `ran`, `cost`,
    `failure_reason` and others; parameters, metrics, labels and variables are `params.NAME`, `metrics.NAME`,
    `labels.NAME` and `env.NAME`; secrets and other settings `secrets.NAME`, `settings.max_run`, `settings.retries`."""

    def __init__(self, results: Results) -> None:
        super().__init__(flat_rows(results))
        self._results = results

    @property
    def rows(self) -> tuple[ResultRow, ...]:
        """The same rows with their types."""
        return self._results.rows

    @property
    def best(self) -> tuple[ResultRow, ...]:
        """The best row, or several that are equally good; none where `sort` does not define them."""
        return self._results.best

    def __repr__(self) -> str:
        return f"ResultTable({super().__repr__()})"

    def _repr_html_(self) -> str:
        results = self._results
        heads = [
            "",
            "JOB",
            *results.parameters,
            *results.varying_settings,
            *map(str.upper, results.metrics),
            "STATE",
            "RUN TIME",
            "COST",
        ]
        return table(heads, [_cells(row, results) for row in results.rows])


def _cells(row: ResultRow, results: Results) -> list[str]:
    return [
        "★" if row.best else "",
        row.name,
        *(render(row.parameters[name]) if name in row.parameters else "–" for name in results.parameters),
        *(render(row.settings[name]) if name in row.settings else "–" for name in results.varying_settings),
        *(metric_text(row, name) for name in results.metrics),
        f"{row.state}: {row.failure_reason}" if row.failure_reason else row.state,
        exact(row.ran) if row.ran is not None else "–",
        spent(row.cost) if row.cost is not None else "–",
    ]


def _tell_lacking(results: Results, name: str) -> None:
    """Log why jobs lack the metric; a warning where none has any, as its name may be misspelled."""
    reasons = "; ".join(without_metrics(results, [name]))
    if results.rows and not results.metrics:
        _log.warning("none of these jobs has a metric, so there is no %s%s", short(name), reasons and f": {reasons}")
    elif reasons:
        _log.info(reasons)


def table_of(context: Context | None, jobs: Sequence[VertexJob], sort: str | None) -> ResultTable:
    """Return the results, with all metrics read at once. `context`: None without jobs. Raises ConfigError."""
    if context is None:
        return ResultTable(Results((), (), ()))
    if sort is not None and not isinstance(sort, str):
        raise ConfigError(f"sort is {sort!r}", fix="a metric's name, with - before it where more is better")
    goal = Goal.parse(sort) if sort is not None else None
    metrics = read_metrics(context, jobs)
    order, causes = parameter_order(context.catalog, jobs), read_causes(context, jobs)
    results = result_rows(with_parts(context, jobs), metrics, context.now, goal, order, causes)
    if goal is not None:
        _tell_lacking(results, goal.metric)
        results = with_metrics(results, [goal.metric]).sorted_by(goal)
    return ResultTable(results)
