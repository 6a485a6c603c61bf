"""Rules for a study and for a tuning job (vertex-rules 5.1)."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...wire import ApiError, unimplemented
from ..field_errors import Mistake, display_name_mistakes, label_mistakes
from .space import CONDITIONS, EPSILON, Kind, conditions_of, increasing, is_among, kind_of

MAX_DISCRETE_VALUES = 1000
_LOG_SCALES = ("UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE")


def mistakes(body: Mapping[str, Any], root: str = "") -> list[Mistake]:
    """Return all errors in a create's body, but those of its trial job. `root` precedes the fields' paths."""
    problems = display_name_mistakes(f"{root}display_name", body.get("displayName", ""), required=True)
    problems += label_mistakes(f"{root}labels", body.get("labels", {}))
    for key, field, least in (
        ("maxTrialCount", "max_trial_count", 1),
        ("parallelTrialCount", "parallel_trial_count", 1),
        ("maxFailedTrialCount", "max_failed_trial_count", 0),
    ):
        if int(body.get(key, 0)) < least:
            problems.append(Mistake(f"{root}{field}", f"The count must be at least {least}."))
    return [*problems, *study_mistakes(body.get("studySpec", {}), f"{root}study_spec")]


def not_here(spec: Mapping[str, Any]) -> ApiError | None:
    """Return the 501 of a study that the service would take and this cloud does not, or None."""
    for key in ("convexAutomatedStoppingSpec", "convexStopConfig"):
        if key in spec:
            return unimplemented(f"study_spec: {key} is not in the local cloud; median and decay curve stopping are.")
    if any("safetyConfig" in metric for metric in spec.get("metrics", [])):
        return unimplemented("study_spec: safety metrics are not in the local cloud.")
    return None


def study_mistakes(spec: Mapping[str, Any], path: str) -> Iterator[Mistake]:
    """Yield the errors in a canonical StudySpec at a path."""
    metrics = spec.get("metrics", [])
    if not metrics:
        yield Mistake(f"{path}.metrics", "At least one metric is required.")
    yield from _ids([metric.get("metricId", "") for metric in metrics], f"{path}.metrics", "metric_id")
    for at, metric in enumerate(metrics):
        if metric.get("goal") not in ("MAXIMIZE", "MINIMIZE"):
            yield Mistake(f"{path}.metrics[{at}].goal", "The goal is required: MAXIMIZE or MINIMIZE.")
    parameters = spec.get("parameters", [])
    if not parameters:
        yield Mistake(f"{path}.parameters", "At least one parameter is required.")
    grid = spec.get("algorithm") == "GRID_SEARCH"
    ids = [item.get("parameterId", "") for item in parameters]
    yield from _ids(ids, f"{path}.parameters", "parameter_id")
    for at, parameter in enumerate(parameters):
        yield from _parameter(parameter, f"{path}.parameters[{at}]", grid=grid)
    for name, count in sum(map(_at_once, parameters), Counter[str]()).items():
        if count > ids.count(name) and count > 1:
            yield Mistake(f"{path}.parameters", f'The ID "{name}" must be unique among the parameters of a trial.')


def _at_once(spec: Mapping[str, Any]) -> Counter[str]:
    """Return how often each id is there at once, at most: a conditional parameter is where its parent has a value."""
    kind, branches = kind_of(spec), spec.get("conditionalParameterSpecs", ())
    wanted = [
        (conditions_of(kind, item) or () if kind else (), _at_once(item.get("parameterSpec", {}))) for item in branches
    ]
    most = Counter[str]()
    for value in {value for values, _ in wanted for value in values}:
        most |= sum((inner for values, inner in wanted if is_among(value, values)), Counter[str]())
    return most + Counter([spec.get("parameterId", "")])


def _ids(ids: Sequence[str], path: str, field: str) -> Iterator[Mistake]:
    for at, name in enumerate(ids):
        yield from _id(name, f"{path}[{at}].{field}")
        if name and name in ids[:at]:
            yield Mistake(f"{path}[{at}].{field}", f'The ID "{name}" must be unique.')


def _id(name: str, path: str) -> Iterator[Mistake]:
    if not name or re.search(r"\s", name):
        yield Mistake(path, f'The ID "{name}" must not be empty or contain whitespace.')


def _parameter(spec: Mapping[str, Any], path: str, *, grid: bool) -> Iterator[Mistake]:
    kind = kind_of(spec)
    if kind is None:
        yield Mistake(path, "One of the double, integer, categorical and discrete value specs is required.")
        return
    values = spec[f"{kind}ValueSpec"]
    where = f"{path}.{kind}_value_spec"
    scale = spec.get("scaleType", "")
    if kind == "double" and grid:
        yield Mistake(where, "Grid search takes INTEGER, CATEGORICAL and DISCRETE parameters only.")
    if kind == "categorical":
        yield from _categories(values.get("values", []), where)
        if scale:
            yield Mistake(f"{path}.scale_type", "The scale type of a CATEGORICAL parameter must not be set.")
    else:
        numbers = values.get("values", []) if kind == "discrete" else _bounds(values)
        yield from _discrete(numbers, where) if kind == "discrete" else _range(*_bounds(values), where)
        if scale in _LOG_SCALES and any(number <= 0 for number in numbers):
            yield Mistake(f"{path}.scale_type", f"{scale} needs a feasible space that is strictly positive.")
    for at, branch in enumerate(spec.get("conditionalParameterSpecs", ())):
        yield from _branch(kind, values, branch, f"{path}.conditional_parameter_specs[{at}]", grid=grid)


def _branch(
    kind: Kind, parent: Mapping[str, Any], branch: Mapping[str, Any], path: str, *, grid: bool
) -> Iterator[Mistake]:
    """Yield the errors in a conditional parameter, by the kind and the value spec of its parent."""
    wanted, inner = conditions_of(kind, branch), branch.get("parameterSpec", {})
    if kind not in CONDITIONS:
        yield Mistake(path, "A DOUBLE parameter can't be the parent of conditional ones.")
    elif not wanted:
        text = f"The values of its parent, a parameter of type {kind.upper()}, are required."
        yield Mistake(f"{path}.{CONDITIONS[kind]}.values", text)
    for value in wanted or ():
        low, high = _bounds(parent)
        known = low <= value <= high if isinstance(value, int) else is_among(value, parent.get("values", []))
        if not known:
            text = f"The value {value} is not in the {kind} value spec of the parent."
            yield Mistake(f"{path}.{CONDITIONS[kind]}.values", text)
    yield from _id(inner.get("parameterId", ""), f"{path}.parameter_spec.parameter_id")
    yield from _parameter(inner, f"{path}.parameter_spec", grid=grid)


def _bounds(values: Mapping[str, Any]) -> tuple[float, float]:
    return float(values.get("minValue", 0)), float(values.get("maxValue", 0))


def _range(low: float, high: float, path: str) -> Iterator[Mistake]:
    if not (math.isfinite(low) and math.isfinite(high)):
        yield Mistake(path, "Minimum and maximum must be finite numbers.")
    elif low > high:
        yield Mistake(f"{path}.min_value", f"The minimum {low:g} is greater than the maximum {high:g}.")


def _categories(values: Sequence[str], path: str) -> Iterator[Mistake]:
    if not values:
        yield Mistake(f"{path}.values", "At least one value is required.")
    if len(set(values)) < len(values):
        yield Mistake(f"{path}.values", "The values must differ.")


def _discrete(values: Sequence[float], path: str) -> Iterator[Mistake]:
    if not values:
        yield Mistake(f"{path}.values", "At least one value is required.")
    if len(values) > MAX_DISCRETE_VALUES:
        yield Mistake(f"{path}.values", f"At most {MAX_DISCRETE_VALUES} values are supported.")
    if not increasing(values):
        yield Mistake(f"{path}.values", f"The values must be in increasing order and at least {EPSILON:g} apart.")
