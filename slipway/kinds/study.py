"""What a hyperparameter tuning job searches, and for what; and the same as the API's StudySpec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """A number that the code reports with `cloudml-hypertune`. `goal`: "maximize" or "minimize"."""

    id: str
    goal: str = "maximize"


@dataclass(frozen=True)
class Condition:
    """Parameters that are searched only when their parent has one of `values`."""

    values: tuple[int | float | str, ...]
    parameters: tuple[Search, ...]


@dataclass(frozen=True)
class Search:
    """A parameter that the service chooses for each trial; the code gets it as `--NAME=VALUE`.

    `kind`: "double" or "integer" (`min`, `max`, inclusive), "categorical" (`values`, texts), "discrete" (`values`,
    ascending numbers). `scale`: "linear", "log", "reverse-log", or None for the service's choice.
    """

    name: str
    kind: str
    min: float | None = None
    max: float | None = None
    values: tuple[float | str, ...] = ()
    scale: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Stopping:
    """Ends a trial early that will not be good: `rule` is "median", "decay-curve" or "convex".

    `use_elapsed_duration` compares by time run, otherwise by steps.
    """

    rule: str
    use_elapsed_duration: bool = False


@dataclass(frozen=True)
class Study:
    """`max_trials` and `parallel_trials` are numbers or placeholders of int parameters.

    `algorithm`: "bayesian", "grid" or "random". `max_failed_trials` 0 leaves it to the service. `measurement` of a
    trial that counts: its "best" or its "last". `stopping` ends single trials; the study ends after
    `trials_without_progress` or `seconds_without_progress`, when given.
    """

    metrics: tuple[Metric, ...]
    parameters: tuple[Search, ...]
    max_trials: int | str
    parallel_trials: int | str
    algorithm: str = "bayesian"
    max_failed_trials: int = 0
    measurement: str = "best"
    stopping: Stopping | None = None
    trials_without_progress: int | None = None
    seconds_without_progress: int | None = None

    def names(self) -> tuple[str, ...]:
        """Every parameter that is searched, conditional ones too."""
        return tuple(name for parameter in self.parameters for name in _names(parameter))


def _names(parameter: Search) -> tuple[str, ...]:
    inner = (name for condition in parameter.conditions for one in condition.parameters for name in _names(one))
    return (parameter.name, *inner)


_ALGORITHMS = {"grid": "GRID_SEARCH", "random": "RANDOM_SEARCH"}
_SCALES = {"linear": "UNIT_LINEAR_SCALE", "log": "UNIT_LOG_SCALE", "reverse-log": "UNIT_REVERSE_LOG_SCALE"}
_MEASUREMENTS = {"best": "BEST_MEASUREMENT", "last": "LAST_MEASUREMENT"}
_STOPPING = {
    "median": "medianAutomatedStoppingSpec",
    "decay-curve": "decayCurveStoppingSpec",
    "convex": "convexAutomatedStoppingSpec",
}
_PARENTS = {
    "categorical": "parentCategoricalValues",
    "integer": "parentIntValues",
    "discrete": "parentDiscreteValues",
}


def study_spec(study: Study) -> dict[str, Any]:
    """Canonical JSON. The Bayesian algorithm is the API's unspecified one."""
    spec: dict[str, Any] = {
        "metrics": [{"metricId": metric.id, "goal": metric.goal.upper()} for metric in study.metrics],
        "parameters": [_parameter(search) for search in study.parameters],
        "measurementSelectionType": _MEASUREMENTS[study.measurement],
    }
    if study.algorithm in _ALGORITHMS:
        spec["algorithm"] = _ALGORITHMS[study.algorithm]
    if study.stopping is not None:
        spec[_STOPPING[study.stopping.rule]] = _stopping(study.stopping)
    end: dict[str, Any] = {}
    if study.trials_without_progress is not None:
        end["maxNumTrialsNoProgress"] = study.trials_without_progress
    if study.seconds_without_progress is not None:
        end["maxDurationNoProgress"] = f"{study.seconds_without_progress}s"
    return {**spec, "studyStoppingConfig": end} if end else spec


def _stopping(stopping: Stopping) -> dict[str, Any]:
    return {"useElapsedDuration": True} if stopping.use_elapsed_duration else {}


def _parameter(search: Search) -> dict[str, Any]:
    found: dict[str, Any] = {"parameterId": search.name, **_values(search)}
    if search.scale is not None:
        found["scaleType"] = _SCALES[search.scale]
    inner = [_condition(search, condition, one) for condition in search.conditions for one in condition.parameters]
    return {**found, "conditionalParameterSpecs": inner} if inner else found


def _values(search: Search) -> dict[str, Any]:
    if search.kind == "double":
        return {"doubleValueSpec": {"minValue": _float(search.min), "maxValue": _float(search.max)}}
    if search.kind == "integer":  # int64, which JSON carries as text
        return {"integerValueSpec": {"minValue": _whole(search.min), "maxValue": _whole(search.max)}}
    if search.kind == "categorical":
        return {"categoricalValueSpec": {"values": [str(value) for value in search.values]}}
    return {"discreteValueSpec": {"values": [_float(value) for value in search.values]}}


def _condition(parent: Search, condition: Condition, inner: Search) -> dict[str, Any]:
    values: list[Any] = [
        str(value) if parent.kind == "categorical" else _whole(value) if parent.kind == "integer" else _float(value)
        for value in condition.values
    ]
    return {"parameterSpec": _parameter(inner), _PARENTS[parent.kind]: {"values": values}}


def _float(value: float | str | None) -> float:
    assert value is not None, "checked when the template was made"
    return float(value)


def _whole(value: float | str | None) -> str:
    assert value is not None, "checked when the template was made"
    return str(int(value))
