"""The stop of a study, and of a trial that will not be good."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean, median
from typing import Any

from .study import Metric, Study
from .trial import Trial

_LEAST_COMPLETED = 3
"""The completed trials that must reach beyond a trial's step before its curve is judged."""


def hopeless(trial: Trial, trials: Sequence[Trial], study: Study) -> bool:
    """Return whether the study's rule stops an active trial, by its first metric and the trials that succeeded.

    The median rule is the documented one. The decay curve rule is simplified. Instead of a regression it adds to the
    trial's best value the most that any completed trial gained after the same step, and stops the trial if the sum
    would still not be the best.
    """
    metric = study.metrics[0]
    own = _curve(trial, metric, by_time=study.by_time)
    if not own or not study.early:
        return False
    done = [_curve(other, metric, by_time=study.by_time) for other in trials if other.state == "SUCCEEDED"]
    reached = own[-1][0]
    if study.early == "median":
        averages = [fmean(until) for until in (_until(curve, reached) for curve in done) if until]
        return bool(averages) and metric.better(median(averages), _best(metric, [value for _, value in own]))
    gains, finals = [], []
    for curve in done:
        before = _until(curve, reached)
        if before and len(before) < len(curve):
            finals.append(_best(metric, [value for _, value in curve]))
            gains.append(finals[-1] - _best(metric, before))
    if len(gains) < _LEAST_COMPLETED:
        return False
    hoped = _best(metric, [value for _, value in own]) + (max(gains) if metric.maximize else min(gains))
    return metric.better(_best(metric, finals), hoped)


def over(study: Study, trials: Sequence[Trial], create_time: str, now: datetime) -> str:
    """Return why the study's stopping conditions let no new trial begin; "" when they do.

    The minimums come first: until they are met nothing stops the study. Progress counts for one metric alone.
    """
    config, made = study.stopping, datetime.fromisoformat(create_time)
    if "minimumRuntimeConstraint" in config and not _passed(config["minimumRuntimeConstraint"], made, now):
        return ""
    completed = [trial for trial in trials if trial.state == "SUCCEEDED"]
    if len(completed) < int(config.get("minNumTrials", 0)):
        return ""
    if "maximumRuntimeConstraint" in config and _passed(config["maximumRuntimeConstraint"], made, now):
        return "the maximum run time has passed"
    if "maxNumTrials" in config and len(trials) >= int(config["maxNumTrials"]):
        return "the maximum number of trials is reached"
    if len(study.metrics) > 1:
        return ""
    return _stalled(study.metrics[0], completed, config, now)


def _stalled(metric: Metric, completed: list[Trial], config: Mapping[str, Any], now: datetime) -> str:
    completed = sorted(completed, key=lambda trial: trial.end_time or "")
    at, best = -1, None
    for number, trial in enumerate(completed):
        value = trial.final.value(metric.id) if trial.final else None
        if value is not None and (best is None or metric.better(value, best)):
            at, best = number, value
    if best is None:
        return ""
    if "maxNumTrialsNoProgress" in config and len(completed) - 1 - at >= int(config["maxNumTrialsNoProgress"]):
        return "the objective has not improved for too many trials"
    since = datetime.fromisoformat(completed[at].end_time or "")
    if "maxDurationNoProgress" in config and now >= since + _seconds(config["maxDurationNoProgress"]):
        return "the objective has not improved for too long"
    return ""


def _passed(constraint: Mapping[str, Any], made: datetime, now: datetime) -> bool:
    if "endTime" in constraint:
        return now >= datetime.fromisoformat(constraint["endTime"])
    return now >= made + _seconds(constraint.get("maxDuration", "0s"))


def _seconds(duration: str) -> timedelta:
    return timedelta(seconds=float(duration.removesuffix("s")))


def _curve(trial: Trial, metric: Metric, *, by_time: bool) -> list[tuple[float, float]]:
    """Return a trial's values of a metric, each with the step or the seconds at which it was reported."""
    points = []
    for item in trial.measurements:
        value = item.value(metric.id)
        if value is not None:
            points.append((item.elapsed_s if by_time else float(item.step), value))
    return points


def _until(curve: list[tuple[float, float]], place: float) -> list[float]:
    return [value for at, value in curve if at <= place]


def _best(metric: Metric, values: Sequence[float]) -> float:
    return max(values) if metric.maximize else min(values)
