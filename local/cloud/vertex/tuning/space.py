"""The space of a study: a tree of parameters, some of which are active only for certain values of their parent."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

Kind = Literal["double", "integer", "categorical", "discrete"]
Scale = Literal["linear", "log", "reverse-log"]
Value = float | int | str
Assignment = tuple[tuple[str, Value], ...]
"""Parameter ids and values, parents before their children."""

EPSILON = 1e-10
"""Discrete values that differ by less are the same."""
_SPECS: Mapping[str, Kind] = {
    "doubleValueSpec": "double",
    "integerValueSpec": "integer",
    "categoricalValueSpec": "categorical",
    "discreteValueSpec": "discrete",
}
_CONDITIONS = ("parentDiscreteValues", "parentIntValues", "parentCategoricalValues")
_SCALES: Mapping[str, Scale] = {"UNIT_LOG_SCALE": "log", "UNIT_REVERSE_LOG_SCALE": "reverse-log"}


@dataclass(frozen=True)
class Parameter:
    """A parameter. `key` is unique in the tree, which `id` need not be; bounds are inclusive and those of double and
    integer, `values` those of the other two."""

    key: str
    id: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    values: tuple[Value, ...] = ()
    scale: Scale = "linear"
    branches: "tuple[Branch, ...]" = ()

    def active(self, value: Value) -> "list[Parameter]":
        """Return the children that are active when this parameter has a value."""
        return [branch.parameter for branch in self.branches if branch.holds(value)]

    def choices(self) -> Sequence[Value]:
        """Return all values, in order, of any kind but a double."""
        if self.kind == "integer":
            return range(int(self.low), int(self.high) + 1)
        return self.values


@dataclass(frozen=True)
class Branch:
    """A child and the parent's values for which it is active."""

    when: tuple[Value, ...]
    parameter: Parameter

    def holds(self, value: Value) -> bool:
        if isinstance(value, str):
            return value in self.when
        return any(not isinstance(item, str) and abs(item - value) < EPSILON for item in self.when)


def space_of(specs: Sequence[Mapping[str, Any]], root: str = "") -> tuple[Parameter, ...]:
    """Return the parameters of canonical ParameterSpecs that have passed the rules."""
    return tuple(_parameter(spec, f"{root}{at}") for at, spec in enumerate(specs))


def kind_of(spec: Mapping[str, Any]) -> Kind | None:
    """Return the kind of a ParameterSpec, None when it has no value spec."""
    return next((kind for key, kind in _SPECS.items() if key in spec), None)


def condition_of(spec: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the field with a ConditionalParameterSpec's condition ("" when it has none), and the parent's values."""
    key = next((key for key in _CONDITIONS if key in spec), "")
    return key, list(spec.get(key, {}).get("values", []))


def assigned(space: Sequence[Parameter], choose: Callable[[Parameter], Value]) -> Assignment:
    """Return a value for every active parameter, as `choose` gives them."""
    found: list[tuple[str, Value]] = []
    for parameter in space:
        value = choose(parameter)
        found.append((parameter.id, value))
        found += assigned(parameter.active(value), choose)
    return tuple(found)


def standing(space: Sequence[Parameter], values: Mapping[str, Value]) -> Iterator[tuple[Parameter, Value]]:
    """Yield the parameters that are active in an assignment, with their values."""
    for parameter in space:
        value = values[parameter.id]
        yield parameter, value
        yield from standing(parameter.active(value), values)


def at(parameter: Parameter, unit: float) -> Value:
    """Return the value at a place from 0 to 1 of the parameter's scaled range."""
    if parameter.kind in ("categorical", "discrete"):
        return parameter.values[min(int(unit * len(parameter.values)), len(parameter.values) - 1)]
    if parameter.kind == "double":
        return _between(parameter, unit, parameter.low, parameter.high)
    # Every integer has the room of one around it, also those at the ends.
    found = round(_between(parameter, unit, parameter.low - 0.5, parameter.high + 0.5))
    return min(max(found, int(parameter.low)), int(parameter.high))


def argument(value: Value) -> str:
    """Return a value as trials get it in `--id=value`: whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _between(parameter: Parameter, unit: float, low: float, high: float) -> float:
    if parameter.scale == "linear":
        found = low + unit * (high - low)
    else:
        place = unit if parameter.scale == "log" else 1 - unit
        found = math.exp(math.log(low) + place * (math.log(high) - math.log(low)))
        if parameter.scale == "reverse-log":
            found = low + high - found
    return min(max(found, low), high)


def _parameter(spec: Mapping[str, Any], key: str) -> Parameter:
    kind = kind_of(spec)
    assert kind is not None
    value_spec = spec[f"{kind}ValueSpec"]
    cast: Callable[[Any], Value] = {"integer": int, "categorical": str}.get(kind, float)
    children = []
    for number, child in enumerate(spec.get("conditionalParameterSpecs", [])):
        _, when = condition_of(child)
        parameter = _parameter(child["parameterSpec"], f"{key}.{number}")
        children.append(Branch(tuple(cast(value) for value in when), parameter))
    return Parameter(
        key=key,
        id=spec["parameterId"],
        kind=kind,
        low=float(value_spec.get("minValue", 0)),
        high=float(value_spec.get("maxValue", 0)),
        values=tuple(cast(value) for value in value_spec.get("values", [])),
        scale=_SCALES.get(spec.get("scaleType", ""), "linear"),
        branches=tuple(children),
    )


def increasing(values: Sequence[float]) -> bool:
    """Return whether numbers increase by more than EPSILON each."""
    return all(after - before >= EPSILON for before, after in pairwise(values))
