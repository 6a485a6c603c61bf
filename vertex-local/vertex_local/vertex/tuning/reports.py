"""The reports of trials: the file that the PyPI package cloudml-hypertune writes, and measurements made of it."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .study import Metric, Study
from .trial import Measurement

MOST = 1000
"""The number of a trial's measurements kept; the oldest go first."""
_MOST_SECONDS, _MOST_STEPS = 1e11, 1 << 63
"""The largest time and step that an answer can have."""
_SAME_S = 0.01
_UNNAMED = "training/hptuning/metric"
_OTHER_KEYS = ("timestamp", "trial", "global_step", "checkpoint_path")


@dataclass(frozen=True)
class Report:
    """A reported value."""

    #: In seconds since the epoch.
    time: float
    step: int
    metric: str
    value: float


def reports(text: str) -> list[Report]:
    """Return the reports of a metrics file: each whole line of JSON with a finite number."""
    return [report for line in text.splitlines() for report in _reports(line)]


def merged(known: Sequence[Measurement], new: Sequence[Report], study: Study, start: float) -> tuple[Measurement, ...]:
    """Return the measurements with the reports since; `start` is when the trial started, since the epoch.

    Metrics that the study does not name are left out, and what is known already; those of one step that come one after
    the other are one report.
    """
    ids = [metric.id for metric in study.metrics]
    measurements = list(known)
    seen = [(item.step, *value, item.elapsed_s) for item in known for value in item.metrics]
    for report in new:
        metric = ids[0] if report.metric == _UNNAMED else report.metric
        if metric not in ids:
            continue
        elapsed = max(report.time - start, 0.0)
        # A time that was kept and read again may differ in its last digits.
        same = (then for step, name, value, then in seen if (step, name, value) == (report.step, metric, report.value))
        if any(abs(then - elapsed) < _SAME_S for then in same):
            continue
        last = measurements[-1] if measurements else None
        if last is not None and last.step == report.step and last.value(metric) is None:
            measurements[-1] = replace(last, metrics=(*last.metrics, (metric, report.value)))
        else:
            measurements.append(Measurement(report.step, elapsed, ((metric, report.value),)))
    measurements.sort(key=lambda item: (item.step, item.elapsed_s))
    return tuple(measurements[-MOST:])


def final(measurements: Sequence[Measurement], study: Study) -> Measurement | None:
    """Return what a trial is judged by: its last measurement or its best; None without a metric."""
    whole = [item for item in measurements if all(item.value(metric.id) is not None for metric in study.metrics)]
    if not whole:
        return _together(measurements, study.metrics)
    if not study.best:
        return whole[-1]
    first = study.metrics[0]
    chosen = whole[0]
    for item in whole[1:]:
        if first.better(_value(item, first), _value(chosen, first)):
            chosen = item
    return chosen


def missing(measurements: Sequence[Measurement], study: Study) -> list[str]:
    """Return the metrics that were never reported."""
    return [
        metric.id for metric in study.metrics if not any(item.value(metric.id) is not None for item in measurements)
    ]


def _together(measurements: Sequence[Measurement], metrics: Sequence[Metric]) -> Measurement | None:
    """Return the last value of each metric, for code that never reports all at one step."""
    last = {metric: value for item in measurements for metric, value in item.metrics}
    if any(metric.id not in last for metric in metrics):
        return None
    return replace(measurements[-1], metrics=tuple((metric.id, last[metric.id]) for metric in metrics))


def _value(item: Measurement, metric: Metric) -> float:
    value = item.value(metric.id)
    assert value is not None
    return value


def _reports(line: str) -> Iterator[Report]:
    try:
        fields = json.loads(line)
        time, step = float(fields["timestamp"]), int(fields.get("global_step", 0))
        if not abs(time) < _MOST_SECONDS or abs(step) >= _MOST_STEPS:
            return
        for key, value in fields.items():
            if key not in _OTHER_KEYS and math.isfinite(float(value)):
                yield Report(time, step, key, float(value))
    except (ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError):
        return
