"""Rules of hyperparameter tuning: metrics, parameters, algorithm, numbers of trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

from slipway.base.formatting import plain
from slipway.model.kinds import TUNING_JOB
from slipway.model.rules.rule import Rule, Subject, as_int, mapping, twice

MOST_VALUES = 1000
EPSILON = 1e-10
"""Discrete values that differ by less are the same."""
VALUE_SPECS = {
    "doubleValueSpec": "double",
    "integerValueSpec": "integer",
    "categoricalValueSpec": "categorical",
    "discreteValueSpec": "discrete",
}
_PARENTS = {
    "parentCategoricalValues": "categorical",
    "parentIntValues": "integer",
    "parentDiscreteValues": "discrete",
}
_GOALS = ("GOAL_TYPE_UNSPECIFIED", "MAXIMIZE", "MINIMIZE")  # the first means the second
_LOG = ("UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE")
_ALGORITHMS = ("ALGORITHM_UNSPECIFIED", "GRID_SEARCH", "RANDOM_SEARCH")


def _metrics(subject: Subject) -> Iterator[str]:
    metrics = [mapping(metric) for metric in subject.study.get("metrics") or ()]
    if not metrics:
        yield "a study has no metric: give the one that the code reports"
    names = [str(metric.get("metricId", "")) for metric in metrics]
    for name, metric in zip(names, metrics, strict=True):
        if not name or any(letter.isspace() for letter in name):
            yield f"metric {name!r}: an id without spaces"
        if metric.get("goal", _GOALS[0]) not in _GOALS:
            yield f"metric {name}: the goal is MAXIMIZE or MINIMIZE, not {metric.get('goal')}"
    for name in twice(names):
        yield f"metric {name} is given twice"


def every(parameters: Any) -> Iterator[Mapping[str, Any]]:
    """Yield parameters of a study, conditional ones after their parent."""
    for parameter in map(mapping, parameters or ()):
        yield parameter
        conditions = map(mapping, parameter.get("conditionalParameterSpecs") or ())
        yield from every([condition.get("parameterSpec") for condition in conditions])


def _at_once(parameter: Mapping[str, Any]) -> Counter[str]:
    """Count how often each id is there at once, at most: conditional parameters are where their parent has a value."""
    by_value: dict[str, Counter[str]] = defaultdict(Counter)
    for condition in map(mapping, parameter.get("conditionalParameterSpecs") or ()):
        inner = _at_once(mapping(condition.get("parameterSpec")))
        values = (value for key in _PARENTS for value in mapping(condition.get(key)).get("values") or ())
        for value in {*map(str, values)}:
            by_value[value] += inner
    return Counter([_name(parameter)]) + reduce(or_, by_value.values(), Counter[str]())


def _name(parameter: Mapping[str, Any]) -> str:
    return str(parameter.get("parameterId", ""))


def _kind(parameter: Mapping[str, Any]) -> str:
    """Return the key of a parameter's value spec; empty where there is none, or several."""
    kinds = [key for key in VALUE_SPECS if key in parameter]
    return kinds[0] if len(kinds) == 1 else ""


def _parameters(subject: Subject) -> Iterator[str]:
    given = subject.study.get("parameters") or ()
    if not given:
        yield "a study has no parameter to search"
    at_once = sum(map(_at_once, map(mapping, given)), Counter[str]())
    yield from (f"parameter {name} is given twice" for name in sorted(at_once) if at_once[name] > 1)
    for parameter in every(given):
        name, kind, scale = _name(parameter), _kind(parameter), parameter.get("scaleType")
        spec = mapping(parameter.get(kind))
        values, low, high = list(spec.get("values") or ()), _number(spec.get("minValue")), _number(spec.get("maxValue"))
        if not name or any(letter.isspace() for letter in name):
            yield f"parameter {name!r}: give an id without spaces, as the code gets it as --ID=VALUE"
        if not kind:
            yield f"parameter {name}: give exactly one of {', '.join(VALUE_SPECS.values())}"
        elif kind in ("doubleValueSpec", "integerValueSpec"):
            if low > high:
                yield f"parameter {name}: min {plain(low)} is above max {plain(high)}"
        elif not values:
            yield f"parameter {name}: no values"
        elif kind == "discreteValueSpec" and any(b - a < EPSILON for a, b in pairwise(map(_number, values))):
            yield f"parameter {name}: discrete values must ascend, each by {EPSILON:g} or more"
        elif kind == "discreteValueSpec" and len(values) > MOST_VALUES:
            yield f"parameter {name}: {len(values):,} values; at most {MOST_VALUES:,}"
        elif len(set(values)) < len(values):
            yield f"parameter {name}: a value is given twice"
        if kind == "categoricalValueSpec" and scale not in (None, "", "SCALE_TYPE_UNSPECIFIED"):
            yield f"parameter {name}: a categorical parameter takes no scale; leave scaleType out"
        elif scale in _LOG and any(_number(number) <= 0 for number in values or [low, high]):
            yield f"parameter {name}: a log scale needs a range above 0"


def _grid(subject: Subject) -> Iterator[str]:
    algorithm = subject.study.get("algorithm") or _ALGORITHMS[0]
    if algorithm not in _ALGORITHMS:
        yield f"algorithm {algorithm}: use {', '.join(_ALGORITHMS)} (unspecified is Bayesian)"
    if algorithm == "GRID_SEARCH":
        for parameter in every(subject.study.get("parameters")):
            if "doubleValueSpec" in parameter:
                yield f"parameter {_name(parameter)} is a double: a grid takes integer, categorical and discrete ones"


def _conditions(subject: Subject) -> Iterator[str]:
    for parameter in every(subject.study.get("parameters")):
        kind = _kind(parameter)
        for condition in map(mapping, parameter.get("conditionalParameterSpecs") or ()):
            inner = _name(mapping(condition.get("parameterSpec")))
            parents = [key for key in _PARENTS if key in condition]
            if len(parents) != 1 or _PARENTS[parents[0]] != VALUE_SPECS.get(kind):
                wanted = VALUE_SPECS.get(kind)
                yield f"parameter {inner} is conditional on {_name(parameter)}: its condition names {wanted} values"
                continue
            values = list(mapping(condition[parents[0]]).get("values") or ())
            if not values:
                yield f"parameter {inner}: its condition names no value of {_name(parameter)}"
            strange = [value for value in values if not _may_be(parameter, kind, value)]
            if strange:
                yield f"parameter {inner}: {_name(parameter)} is never {', '.join(map(str, strange))}"


def _may_be(parameter: Mapping[str, Any], kind: str, value: Any) -> bool:
    spec = mapping(parameter.get(kind))
    if kind == "integerValueSpec":
        return _number(spec.get("minValue")) <= _number(value) <= _number(spec.get("maxValue"))
    return value in (spec.get("values") or ())


def _counts(subject: Subject) -> Iterator[str]:
    most, parallel = as_int(subject.body.get("maxTrialCount", 0)), subject.parallel
    failed = as_int(subject.body.get("maxFailedTrialCount", 0))
    if most < 1 or parallel < 1:
        yield f"maxTrialCount {most} and parallelTrialCount {parallel} must both be at least 1"
    elif parallel > most:
        yield f"{parallel} trials at once are more than the {most} of the study; lower parallelTrialCount"
    if failed < 0:
        yield f"maxFailedTrialCount {failed}: give a number of trials, or 0, which leaves it to the service"
    elif failed > most:
        yield f"maxFailedTrialCount {failed} is above maxTrialCount {most}"


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0


RULES = tuple(
    Rule(id_, text, "5.1", check, kind=TUNING_JOB.name)
    for id_, text, check in (
        ("study-metrics", "Metric ids are unique and without spaces, each with a known goal.", _metrics),
        (
            "study-parameters",
            "Parameter ids are unique; ranges and at most 1,000 values are in order, and fit the scale.",
            _parameters,
        ),
        ("study-grid", "A grid takes integer, categorical and discrete parameters.", _grid),
        ("study-conditions", "A condition names values that its parent can have.", _conditions),
        ("study-counts", "Parallel trials are no more than all trials.", _counts),
    )
)
