"""The space of a study: its parameters, and the values that each may have."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from ...wire import camel

Kind = Literal["double", "integer", "categorical", "discrete"]
Scale = Literal["linear", "log", "reverse-log"]
Value = float | int | str
Assignment = tuple[tuple[str, Value], ...]
"""Parameter ids and values."""

EPSILON = 1e-10
"""Discrete values that differ by less are the same."""
_SPECS: Mapping[str, Kind] = {
    "doubleValueSpec": "double",
    "integerValueSpec": "integer",
    "categoricalValueSpec": "categorical",
    "discreteValueSpec": "discrete",
}
CONDITIONS: Mapping[Kind, str] = {
    "integer": "parent_int_values",
    "categorical": "parent_categorical_values",
    "discrete": "parent_discrete_values",
}
"""The fields with the values of a conditional parameter's parent. A double has none."""
_CASTS: Mapping[Kind, Callable[[Any], Value]] = {"integer": int, "categorical": str}
_SCALES: Mapping[str, Scale] = {"UNIT_LOG_SCALE": "log", "UNIT_REVERSE_LOG_SCALE": "reverse-log"}


@dataclass(frozen=True)
class Parameter:
    """A parameter."""

    id: str
    kind: Kind
    #: Inclusive, as `high`: the bounds of double and integer.
    low: float = 0.0
    high: float = 0.0
    #: Of the other kinds.
    values: tuple[Value, ...] = ()
    scale: Scale = "linear"
    #: Those of trials in which this one has certain values.
    branches: tuple["Branch", ...] = ()

    def below(self, value: Value) -> tuple["Parameter", ...]:
        """Return the parameters of a trial in which this one has a value."""
        return tuple(branch.parameter for branch in self.branches if branch.takes(value))

    def choices(self) -> Sequence[Value]:
        """Return all values, in order, of any kind but a double."""
        if self.kind == "integer":
            return range(int(self.low), int(self.high) + 1)
        return self.values


@dataclass(frozen=True)
class Branch:
    """A conditional parameter, and the values of its parent with which a trial has it."""

    values: tuple[Value, ...]
    parameter: Parameter

    def takes(self, value: Value) -> bool:
        return is_among(value, self.values)


def is_among(value: Value, values: Sequence[Value]) -> bool:
    """Return whether a value is one of others, numbers as exactly as the service compares them."""
    if isinstance(value, str):
        return value in values
    return any(not isinstance(other, str) and abs(value - other) < EPSILON for other in values)


def conditions_of(kind: Kind, branch: Mapping[str, Any]) -> tuple[Value, ...] | None:
    """Return the values that a canonical ConditionalParameterSpec wants of a parent of a kind, None without any
    condition on that."""
    found = branch.get(camel(CONDITIONS[kind])) if kind in CONDITIONS else None
    return None if found is None else tuple(map(_CASTS.get(kind, float), found.get("values", ())))


def space_of(specs: Sequence[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    """Return the parameters of canonical ParameterSpecs that have passed the rules."""
    return tuple(map(_parameter, specs))


def kind_of(spec: Mapping[str, Any]) -> Kind | None:
    """Return the kind of a ParameterSpec, None when it has no value spec."""
    return next((kind for key, kind in _SPECS.items() if key in spec), None)


def at(parameter: Parameter, unit: float) -> Value:
    """Return the value at a place from 0 to 1 of the parameter's scaled range."""
    if parameter.kind in ("categorical", "discrete"):
        return parameter.values[min(int(unit * len(parameter.values)), len(parameter.values) - 1)]
    if parameter.kind == "double":
        return _between(parameter, unit, parameter.low, parameter.high)
    # Every integer has the room of one around it, also those at the ends.
    value = round(_between(parameter, unit, parameter.low - 0.5, parameter.high + 0.5))
    return min(max(value, int(parameter.low)), int(parameter.high))


def argument(value: Value) -> str:
    """Return a value as trials get it in `--id=value`: whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _between(parameter: Parameter, unit: float, low: float, high: float) -> float:
    if parameter.scale == "linear":
        value = low + unit * (high - low)
    else:
        place = unit if parameter.scale == "log" else 1 - unit
        value = math.exp(math.log(low) + place * (math.log(high) - math.log(low)))
        if parameter.scale == "reverse-log":
            value = low + high - value
    return min(max(value, low), high)


def _parameter(spec: Mapping[str, Any]) -> Parameter:
    kind = kind_of(spec)
    assert kind is not None
    value_spec = spec[f"{kind}ValueSpec"]
    cast = _CASTS.get(kind, float)
    return Parameter(
        id=spec["parameterId"],
        kind=kind,
        low=float(value_spec.get("minValue", 0)),
        high=float(value_spec.get("maxValue", 0)),
        values=tuple(cast(value) for value in value_spec.get("values", [])),
        scale=_SCALES.get(spec.get("scaleType", ""), "linear"),
        branches=tuple(
            Branch(conditions_of(kind, branch) or (), _parameter(branch["parameterSpec"]))
            for branch in spec.get("conditionalParameterSpecs", ())
        ),
    )


def increasing(values: Sequence[float]) -> bool:
    """Return whether numbers increase by more than EPSILON each."""
    return all(after - before >= EPSILON for before, after in pairwise(values))
