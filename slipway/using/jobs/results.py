"""Results of jobs as rows: the parameters that tell them apart, their metrics, time and cost, and the best row. Pure.

`slipway jobs list --metric`, `Sweep.results()` and the page of `slipway board` all show these rows: each of them lists
jobs, reads their metrics with `slipway.using.jobs.metrics.read_metrics` and passes both to `result_rows`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, few, nearest, quoted, short
from slipway.google.jobs import VertexJob
from slipway.model.catalog import command_line
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.job_state import JobState
from slipway.model.labels import SESSION_LABEL, own_labels
from slipway.model.prices import Price
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.failure import FailureReason
from slipway.using.jobs.metrics import Metrics

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True)
class Goal:
    """A metric and the direction of improvement."""

    metric: str
    maximize: bool

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Parse a goal: `-accuracy` where more is better, `loss` where less is. Raises ConfigError."""
        if text in ("", "-"):
            raise ConfigError(
                "the metric to sort by has no name", fix="give its name, with - before it where more is better"
            )
        return cls(text.removeprefix("-"), text.startswith("-"))

    def place(self, metrics: Mapping[str, float], not_finite: Collection[str]) -> tuple[int, float]:
        """Return the place of these metrics, to sort by: a better number first, then one that is not finite, last none
        of this name."""
        if self.metric in metrics:
            value = metrics[self.metric]
            return 0, -value if self.maximize else value
        return 1 if self.metric in not_finite else 2, 0.0


@dataclass(frozen=True)
class ResultRow:
    """A job's result. Its fields have the names and meanings of the attributes of `slipway.Job`."""

    #: `projects/…/locations/…/customJobs/NUMBER`, or that of another kind.
    resource_name: str
    #: The name that commands take: `dask-digits-7k2p3f9a`.
    name: str
    #: Its number in a sweep, None for a job of no sweep.
    run: int | None
    state: JobState
    #: The state as Vertex AI names it.
    raw_state: str
    ended: bool
    error: str
    #: The reason for a failure in a line: the job's last log lines if they were read, else Vertex AI's message.
    failure_reason: str
    template: str
    user: str
    capacity_type: str
    #: Those that vary among the rows, as far as the job has them.
    parameters: Mapping[str, Value]
    metrics: Mapping[str, float]
    metrics_why: str
    best: bool
    created: datetime | None
    #: Seconds, up to now while the job waits; None for a wait that never began.
    waited: float | None
    #: Seconds, up to now while the job runs; None for a job that never ran.
    ran: float | None
    #: None for a job that never ran.
    cost: Price | None
    #: Its machines are a pool's, so that `cost` is no separate bill.
    paid_anyway: bool
    note: str = ""
    #: The name that its submitter gave it with `--name`.
    given_name: str = ""
    #: Metrics that are no finite numbers: `NaN`, `Infinity` or `-Infinity`, by name.
    not_finite: Mapping[str, str] = field(default_factory=dict)
    #: The labels that people gave.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: What its submission set: `env.LR`, `secrets.WANDB_API_KEY`, `settings.max_run` (seconds), `settings.retries`.
    settings: Mapping[str, Value] = field(default_factory=dict)
    #: Why the job's log was not read, so that `failure_reason` is Vertex AI's message. Empty if it was read.
    failure_reason_why: str = ""

    @property
    def succeeded(self) -> bool:
        return self.state is JobState.SUCCEEDED

    def sort_key(self, goal: Goal) -> tuple[int, int, float]:
        """Return the place among other rows: those that succeeded are before those that run, and these before failed
        and cancelled ones; among each of these those with a better metric are first."""
        return end_rank(self.state, ended=self.ended), *goal.place(self.metrics, self.not_finite)


@dataclass(frozen=True)
class Results:
    """Rows with the names of their columns, each in the order in which jobs first have them."""

    rows: tuple[ResultRow, ...]
    parameters: tuple[str, ...]
    metrics: tuple[str, ...]
    #: The metric that decides which row is best, None where none is given.
    goal: Goal | None = None
    labels: tuple[str, ...] = ()
    #: The settings of all rows: `env.LR`, `settings.max_run`.
    settings: tuple[str, ...] = ()

    @property
    def varying_settings(self) -> tuple[str, ...]:
        """Return the settings whose values tell rows apart, or that some rows lack."""
        return tuple(name for name in self.settings if len({row.settings.get(name) for row in self.rows}) > 1)

    @property
    def best(self) -> tuple[ResultRow, ...]:
        """The best row, or several that are equally good; none where no direction is known."""
        return tuple(row for row in self.rows if row.best)

    def sorted_by(self, goal: Goal) -> Results:
        """Sort by a metric, the best job that succeeded first; equals stay in their order."""
        return replace(self, rows=tuple(sorted(self.rows, key=lambda row: row.sort_key(goal))))


def result_rows(
    jobs: Sequence[VertexJob],
    metrics: Mapping[str, Metrics],
    now: datetime,
    goal: Goal | None = None,
    order: Iterable[str] = (),
    causes: Mapping[str, FailureReason] | None = None,
) -> Results:
    """Make a row of each job, in the order of `jobs`. `metrics` are by the jobs' full names, as are the `causes` of
    failures; `order` has parameters that come first, as their template has them. Only jobs that have succeeded can be
    best."""
    first = {name: place for place, name in enumerate(dict.fromkeys(order))}
    unordered = dict.fromkeys((*varying_parameters(map(_given, jobs)), *_of_some_commands(jobs)))
    varying = sorted(unordered, key=lambda name: first.get(name, len(first)))
    reasons = causes or {}
    rows = tuple(
        _row(job, metrics.get(job.name, Metrics()), varying, now, reasons.get(job.name, FailureReason()))
        for job in jobs
    )
    names = tuple(dict.fromkeys(name for row in rows for name in (*row.metrics, *row.not_finite)))
    labels = tuple(dict.fromkeys(key for row in rows for key in row.labels))
    settings = tuple(dict.fromkeys(name for row in rows for name in row.settings))
    return Results(
        _marked(rows, goal), parameters=tuple(varying), metrics=names, goal=goal, labels=labels, settings=settings
    )


def flat_rows(results: Results) -> list[dict[str, str | float | None]]:
    """Return each row as a plain mapping, all with the same keys: for `pandas.DataFrame`, and the columns of CSV.

    Parameters are `params.NAME`, metrics `metrics.NAME`, variables `env.NAME`, and labels, secrets and settings
    likewise, as they may be called alike; None for what a job lacks. Times are ISO 8601 in UTC, spans are seconds, and
    `cost` is USD, None where its price is not known.
    """
    return [
        {
            "name": row.name,
            "given_name": row.given_name or None,
            "run": row.run,
            "template": row.template,
            "user": row.user,
            "note": row.note or None,
            "state": row.state.value,
            "raw_state": row.raw_state,
            "best": row.best if results.goal else None,
            **{f"params.{name}": _flat(row.parameters.get(name)) for name in results.parameters},
            **{name: _flat(row.settings.get(name)) for name in results.settings},
            **{f"metrics.{name}": _metric(row, name) for name in results.metrics},
            **{f"labels.{key}": row.labels.get(key) for key in results.labels},
            "created": row.created.isoformat() if row.created else None,
            "waited": row.waited,
            "ran": row.ran,
            "cost": round(float(row.cost.known), 6) if row.cost and not row.cost.unknown else None,
            "cost_at_most": row.cost.at_most if row.cost else None,
            "paid_anyway": row.paid_anyway,
            "failure_reason": row.failure_reason or None,
            "failure_reason_why": row.failure_reason_why or None,
            "error": row.error or None,
            "resource_name": row.resource_name,
        }
        for row in results.rows
    ]


def require_metrics(results: Results, names: Iterable[str]) -> None:
    """Raise ConfigError for a metric that no job has, where jobs have others."""
    for name in names:
        if results.metrics and name not in results.metrics:
            near = nearest(name, results.metrics)
            raise ConfigError(
                f"none of these jobs has a metric {quoted(name)}",
                why=f"they have {few(map(short, results.metrics), 12)}",
                fix=f"{near}, if that was meant" if near else "slipway jobs list --output csv has all of them",
            )


def with_metrics(results: Results, names: Iterable[str]) -> Results:
    """Return the results with a column for each of these metrics, though no job has any. Raises ConfigError as
    `require_metrics`."""
    names = tuple(names)
    require_metrics(results, names)
    return replace(results, metrics=tuple(dict.fromkeys((*results.metrics, *names))))


def without_metrics(results: Results, names: Sequence[str]) -> list[str]:
    """Return why jobs that succeeded have none of these metrics, a line for each reason."""
    succeeded = [row for row in results.rows if row.succeeded]
    lacking = [row for row in succeeded if not any(name in {**row.metrics, **row.not_finite} for name in names)]
    reasons = Counter(row.metrics_why or f"it has no {short(names[0])}" for row in lacking)
    return [f"{counted(count, 'job')} without a metric: {reason}" for reason, count in reasons.most_common(3)]


def end_rank(state: JobState, *, ended: bool) -> int:
    """Return the place of a state where results are sorted: succeeded, not ended, ended otherwise."""
    if state is JobState.SUCCEEDED:
        return 0
    return 2 if ended else 1


def metric_text(row: ResultRow, name: str) -> str:
    """Return a metric as text: `0.981`, `NaN`, `–` for a job without it."""
    if name in row.not_finite:
        return row.not_finite[name]
    return number(row.metrics[name]) if name in row.metrics else "–"


def number(value: float) -> str:
    """Write a metric: `0.981`, `400`, `1.2e-05`."""
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**12 else f"{value:.5g}"


def goal_of(jobs: Iterable[VertexJob], metric: str) -> Goal | None:
    """Return the direction that tuning jobs have for a metric; None where none has one, or they disagree."""
    goals = {job.goals[metric] for job in jobs if metric in job.goals}
    return Goal(metric, goals == {"MAXIMIZE"}) if goals in ({"MAXIMIZE"}, {"MINIMIZE"}) else None


def parameter_order(catalog: Catalog, jobs: Iterable[VertexJob]) -> tuple[str, ...]:
    """Return the parameters of the jobs' templates in their order, as far as the catalog has these templates."""
    names = dict.fromkeys(job.template for job in jobs)
    templates = (catalog.templates[name] for name in names if name in catalog.templates)
    return tuple(parameter.name for template in templates for parameter in template.parameters)


def varying_parameters(values: Iterable[Mapping[str, Value]]) -> tuple[str, ...]:
    """Return the names of the parameters that have several values, in the order of their first appearance."""
    seen: dict[str, set[str]] = {}
    for parameters in values:
        for name, value in parameters.items():
            seen.setdefault(name, set()).add(render(value))
    return tuple(name for name, texts in seen.items() if len(texts) > 1)


def _of_some_commands(jobs: Iterable[VertexJob]) -> Iterator[str]:
    """Yield the parameters that the commands of some jobs name, and those of other jobs of their template do not."""
    of_template: dict[str, list[set[str]]] = {}
    for job in jobs:
        values = job.parameters or {}
        of_template.setdefault(job.template, []).append(_named(values) & {*values})
    for commands in of_template.values():
        every = set[str]().union(*commands)
        yield from sorted(name for name in every if any(name not in names for names in commands))


def _named(values: Mapping[str, Value]) -> set[str]:
    return {name for value in values.values() if isinstance(value, str) for name in command_line.names(value)}


def _given(job: VertexJob) -> Mapping[str, Value]:
    """Return the parameters of a job that its trials do not choose; none of a session, whose runs have their own. Those
    that only a command names are recorded as texts, and are numbers here where they read so."""
    if SESSION_LABEL in job.labels:
        return {}
    values = {name: value for name, value in (job.parameters or {}).items() if name not in job.tuned}
    named = _named(values)
    return {
        name: _number(value) if name in named and isinstance(value, str) else value for name, value in values.items()
    }


def _metric(row: ResultRow, name: str) -> float | None:
    if name in row.not_finite:
        return float(row.not_finite[name])
    return row.metrics.get(name)


def _flat(value: Value | None) -> str | float | None:
    return render(value) if isinstance(value, tuple) else value


def _number(text: str) -> Value:
    return float(text) if _DECIMAL.fullmatch(text) else int(text) if _WHOLE.fullmatch(text) else text


def _row(job: VertexJob, metrics: Metrics, varying: Sequence[str], now: datetime, reason: FailureReason) -> ResultRow:
    account, given = job_cost(job, job.region, now), _given(job)
    return ResultRow(
        resource_name=job.name,
        name=job.typed,
        run=job.run,
        state=job.job_state,
        raw_state=job.state,
        ended=job.ended,
        error=job.error,
        failure_reason=reason.text,
        failure_reason_why=reason.why,
        template=job.template,
        user=job.user,
        capacity_type=account.capacity_type,
        parameters={name: given[name] for name in varying if name in given},
        metrics=dict(metrics),
        metrics_why=metrics.why,
        best=False,
        created=job.create_time,
        waited=account.wait,
        ran=account.run,
        cost=account.cost,
        paid_anyway=account.paid_anyway,
        note=job.note,
        given_name=job.chosen_name,
        not_finite=metrics.not_finite,
        labels=own_labels(job.labels),
        settings=_settings(job),
    )


def _settings(job: VertexJob) -> Mapping[str, Value]:
    """Return the settings of a job; variables are recorded as texts, and are numbers here where they read so."""
    return {
        name: _number(value) if isinstance(value, str) and name.startswith("env.") else value
        for name, value in job.own_settings.by_name.items()
    }


def _marked(rows: tuple[ResultRow, ...], goal: Goal | None) -> tuple[ResultRow, ...]:
    if goal is None:
        return rows
    values = [row.metrics[goal.metric] for row in rows if row.succeeded and goal.metric in row.metrics]
    if not values:
        return rows
    top = max(values) if goal.maximize else min(values)
    return tuple(replace(row, best=row.succeeded and row.metrics.get(goal.metric) == top) for row in rows)
