"""A sweep or a tuning job on the page: its runs with their varying parameters and outcomes, and axes for them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slipway.base.formatting import last_part, short
from slipway.google.jobs import VertexJob
from slipway.google.trials import Trial
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.prices import exact_text
from slipway.using.jobs.metrics import Metrics
from slipway.using.jobs.results import ResultRow, Results

MOST_RUNS = 300
"""The number of a sweep's first runs on the page."""
_CURVES, _STEPS, _AXES, _METRICS, _TEXT, _TICKS = 40, 60, 6, 8, 40, 5
_LONGEST_TICK, _LETTERS, _LINES = 14, 32, 12
"""The most letters of a value at an axis, and the room for such: letters along an axis, and lines up one."""
INNER = (0.1, 0.9)
"""The places between which a value stands centred below its point; beyond, it begins or ends there."""
_APART = 8.0
"""The ratio of the largest to the smallest number, all above 0, from which an axis is logarithmic."""


@dataclass(frozen=True)
class SweepRun:
    """A run with the keys of `slipway jobs list --metric`."""

    id: str
    name: str
    #: The number of the run, or of the trial.
    run: str
    state: str
    parameters: Mapping[str, Value]
    metrics: Mapping[str, float]
    best: bool
    run_seconds: float | None = None
    cost: str | None = None
    cause: str = ""
    why: str = ""


@dataclass(frozen=True)
class AxisPoint:
    """A run's place on an axis, and its value there."""

    run: str
    key: str
    #: From 0 to 1.
    place: float
    text: str
    #: The number that is drawn; None where the run has none.
    metric: float | None
    #: The place of that number, 1 for the best; None where the run has none.
    score: float | None
    best: bool
    cost: float | None = None


@dataclass(frozen=True)
class AxisTick:
    """A value that is written at an axis."""

    key: str
    place: float
    text: str
    #: It is written also where the axis is horizontal and values need more room.
    along: bool


@dataclass(frozen=True)
class CurvePoint:
    """The metric of a run at one step."""

    run: str
    step: int
    value: float


@dataclass(frozen=True)
class BoardSweep:
    """A sweep, or the study of a tuning job."""

    id: str
    kind: str
    parameters: tuple[str, ...]
    metrics: tuple[str, ...]
    #: The metric that is drawn, empty where no run has any.
    metric: str
    #: None without a known direction.
    maximize: bool | None
    runs: tuple[SweepRun, ...]
    points: tuple[AxisPoint, ...] = ()
    ticks: tuple[AxisTick, ...] = ()
    curves: tuple[CurvePoint, ...] = ()
    #: The number of runs that the page lacks.
    left_out: int = 0


def board_sweep(id: str, results: Results, metrics: Mapping[str, Metrics], total: int = 0) -> BoardSweep:
    """Return the runs of a sweep, drawn by the metric of its goal, else by the first. `metrics` are by the jobs' full
    names; `total`: the least number of runs."""
    rows, goal = results.rows[:MOST_RUNS], results.goal
    runs = tuple(_run(row, place) for place, row in enumerate(rows, 1))
    metric = goal.metric if goal else next(iter(results.metrics), "")
    steps = [
        (run.run, metrics[row.resource_name])
        for run, row in zip(runs, rows, strict=True)
        if row.resource_name in metrics
    ]
    begun = BoardSweep(id, "sweep", results.parameters, results.metrics, metric, goal.maximize if goal else None, runs)
    return _drawn(replace(begun, curves=tuple(_curves(steps, metric))), max(len(results.rows), total))


def board_study(job: VertexJob) -> BoardSweep:
    """Return the trials of a tuning job."""
    names = tuple(dict.fromkeys(name for trial in job.tried for name in trial.values))
    runs = tuple(_of_trial(trial, job) for trial in job.tried[:MOST_RUNS])
    metric, word = next(iter(job.goals.items()), ("", ""))
    maximize = word == "MAXIMIZE" if word else None
    return _drawn(BoardSweep(job.called, "study", names, tuple(job.goals), metric, maximize, runs), len(job.tried))


def _drawn(sweep: BoardSweep, total: int) -> BoardSweep:
    """Add the places of `total` runs, and keep the first metrics, the drawn one among them."""
    runs, metric, first = sweep.runs, sweep.metric, sweep.metrics[:_METRICS]
    return replace(
        sweep,
        metrics=first if metric in first or metric not in sweep.metrics else (*first[:-1], metric),
        points=tuple(_points(runs, sweep.parameters, metric, falls=sweep.maximize is False)),
        ticks=tuple(_ticks(runs, sweep.parameters, metric)),
        left_out=total - len(runs),
    )


def _run(row: ResultRow, place: int) -> SweepRun:
    return SweepRun(
        id=last_part(row.resource_name),
        name=row.name,
        run=str(place if row.run is None else row.run),
        state=row.state,
        parameters=row.parameters,
        metrics=_finite(row.metrics),
        best=row.best,
        run_seconds=row.ran,
        cost=exact_text(row.cost),
        cause=row.failure_reason or row.error,
        why=row.error or row.metrics_why,
    )


def _of_trial(trial: Trial, job: VertexJob) -> SweepRun:
    begin, end = trial.start_time, trial.end_time
    return SweepRun(
        id=job.id,
        name=f"trial {trial.id}",
        run=trial.id,
        state=trial.state.lower(),
        parameters=trial.values,
        metrics=_finite(trial.metrics),
        best=trial is job.best_trial,
        run_seconds=(end - begin).total_seconds() if begin and end else None,
    )


def _finite(metrics: Mapping[str, float]) -> Mapping[str, float]:
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


def _values(
    runs: Sequence[SweepRun], parameters: Sequence[str], metric: str
) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield each axis with the value of each run that has one: varying parameters, and the metric last. A parameter
    with the metric's name is `params.NAME`, as in tables for pandas."""
    for name in parameters[: _AXES - 1]:
        values = {run.run: run.parameters[name] for run in runs if name in run.parameters}
        if len(set(map(render, values.values()))) > 1:
            yield f"params.{name}" if name == metric else name, values
    yield metric, {run.run: run.metrics[metric] for run in runs if metric in run.metrics}


def _points(runs: Sequence[SweepRun], parameters: Sequence[str], metric: str, *, falls: bool) -> Iterator[AxisPoint]:
    """Return the runs' places on all axes. `falls`: the least value of the metric is best."""
    drawn = {run.run: run.metrics[metric] for run in runs if metric in run.metrics}
    scores = {run: 1 - place if falls else place for run, place in _places(drawn).items()}
    best = {run.run for run in runs if run.best}
    costs = {run.run: float(run.cost) for run in runs if run.cost}
    for key, values in _values(runs, parameters, metric):
        places = _places(values)
        for run, value in values.items():
            yield AxisPoint(
                run=run,
                key=key,
                place=places[run],
                text=_text(value),
                metric=drawn.get(run),
                score=scores.get(run),
                best=run in best,
                cost=costs.get(run),
            )


def _ticks(runs: Sequence[SweepRun], parameters: Sequence[str], metric: str) -> Iterator[AxisTick]:
    """Yield all values of an axis that has few, else those at its ends; none that would be written over another."""
    for key, values in _values(runs, parameters, metric):
        places = _places(values)
        texts = {places[run]: short(_text(value), _LONGEST_TICK) for run, value in values.items()}
        ends = [place for place in sorted(texts) if place in (0.0, 1.0)]
        between = [place for place in sorted(texts) if place not in ends] if len(texts) <= _TICKS else []
        up, along = list[tuple[float, float]](), list[tuple[float, float]]()
        ticks = []
        for place in (*ends, *between):
            width = (len(texts[place]) + 1) / _LETTERS
            if INNER[0] < place < INNER[1]:
                begin = place - width / 2
            elif place > 0.5:  # At an end of the axis the text ends, or begins, at its point.
                begin = place - width
            else:
                begin = place
            if _fits((place, place + 1 / _LINES), up):
                fits_along = _fits((begin, begin + width), along)
                ticks.append(AxisTick(key=key, place=place, text=texts[place], along=fits_along))
        yield from sorted(ticks, key=lambda tick: tick.place)


def _fits(wanted: tuple[float, float], taken: list[tuple[float, float]]) -> bool:
    """Take a range of an axis, and return True, unless a part of it is taken already."""
    free = all(wanted[1] <= begin or end <= wanted[0] for begin, end in taken)
    if free:
        taken.append(wanted)
    return free


def _places(values: Mapping[str, Value]) -> Mapping[str, float]:
    """Return places from 0 to 1, the same for equal values: numbers by their size, texts in alphabetical order."""
    numbers = {run: _number(value) for run, value in values.items()}
    if any(number is None for number in numbers.values()):
        order = sorted({render(value) for value in values.values()})
        return {run: round(order.index(render(value)) / max(1, len(order) - 1), 4) for run, value in values.items()}
    known = {run: number for run, number in numbers.items() if number is not None}
    least, most = min(known.values(), default=0.0), max(known.values(), default=0.0)
    if least > 0 and most / least >= _APART:
        known = {run: math.log(number) for run, number in known.items()}
        least, most = math.log(least), math.log(most)
    elif math.isinf(most - least):
        known = {run: number / 2 for run, number in known.items()}
        least, most = least / 2, most / 2
    return {run: round((number - least) / (most - least), 4) if most > least else 0.5 for run, number in known.items()}


def _number(value: Value) -> float | None:
    if isinstance(value, bool | tuple):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _text(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else render(value)[:_TEXT]


def _curves(steps: Sequence[tuple[str, Metrics]], metric: str) -> Iterator[CurvePoint]:
    with_steps = [(run, metrics) for run, metrics in steps if len(metrics.steps) > 1]
    for run, metrics in with_steps[:_CURVES]:
        having = [step for step in metrics.steps if math.isfinite(step.values.get(metric, math.nan))]
        every = max(1, math.ceil(len(having) / _STEPS))
        for step in having[::every]:
            yield CurvePoint(run=run, step=step.step, value=round(step.values[metric], 6))
