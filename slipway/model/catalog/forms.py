"""Types of the catalog's fields: texts of a certain form, and values from several keys together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeVar

from slipway.base.codec import Across, As, At, Else, Form, malformed, read, write
from slipway.model.catalog.placeholders import whole
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import UNKNOWN, Price, price_text
from slipway.model.season import Moment, Season

Keys = TypeVar("Keys")


def flat(keys: type[Keys], of: Callable[[Keys], Any], to: Callable[[Any], Keys]) -> Across:
    """Return the form of a value that is several keys of the object around it; `keys` declares them."""
    return Across(lambda body: of(read(keys, body)), lambda value: write(to(value)))


def spelled(keys: type[Keys], kind: type[Any]) -> Across:
    """Return the form of a `kind` whose fields are keys of the object around it; `keys` has the same fields."""
    return flat(keys, lambda held: kind(**vars(held)), lambda value: keys(**vars(value)))


def _form(pattern: str, expected: str) -> Form:
    """Return the form of texts that become parts of host names, paths and files, and allow nothing else."""
    return Form(lambda text: re.fullmatch(pattern, text) is not None, expected)


def _read_price(body: Mapping[str, Any]) -> Price:
    """Read the price from `pricePerHour` and `priceComplete`, or an upper bound from `priceAtMost`."""
    complete = body.get("priceComplete", True)  # A catalog without the flag has whole prices alone.
    key = "pricePerHour" if body.get("pricePerHour") is not None else "priceAtMost"
    value = body.get(key)
    if value is None:
        return UNKNOWN
    try:
        known = Decimal(str(value))
    except InvalidOperation:
        known = Decimal("NaN")
    if not known.is_finite():
        raise malformed(value, "a price or null", key)
    if not isinstance(complete, bool):
        raise malformed(complete, "true or false", "priceComplete")
    if key == "priceAtMost":
        return Price(known, complete=True, at_most=True)
    return Price(known, complete)


def _write_price(price: Price) -> Mapping[str, Any]:
    if price.at_most and price.complete:  # To a version without bounds the price is unknown.
        return {"pricePerHour": None, "priceComplete": False, "priceAtMost": price_text(price)}
    return {"pricePerHour": price_text(price), "priceComplete": price.complete}


@dataclass(frozen=True)
class _Machine(MachineSpec):
    type: Annotated[str, At("machine")]


@dataclass(frozen=True)
class _Metric:
    id: str
    goal: str


_IN_SECONDS = As(lambda value: timedelta(seconds=value), timedelta.total_seconds, "a number of seconds")
Seconds = Annotated[timedelta | None, _IN_SECONDS]


@dataclass(frozen=True)
class _Season:
    begins: Annotated[Moment, At("from")] = None
    ends: Annotated[Moment, At("until")] = None
    idle_limit: Seconds = None


PLAIN_NAME = _form(r"[a-z]([a-z0-9-]*[a-z0-9])?", "a name")
PROJECT = _form(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]*[a-z0-9]", "a project's id")
PARAMETER_NAME = _form(r"[a-z][a-z0-9_]{0,39}", "a parameter's name")
QUOTA_ID = _form(r"[A-Za-z0-9-]+", "a quota's id")
BUCKET = _form(r"[a-z0-9][a-z0-9_.-]*", "a bucket's name")
Text = Annotated[str, Else("")]
Texts = Annotated[tuple[str, ...], Else(())]
Count = Annotated[
    int | str, Form(lambda count: isinstance(count, int) or bool(whole(count)), "a whole number or a parameter")
]
Hourly = Annotated[Price, Across(_read_price, _write_price)]
MachineOfPool = Annotated[MachineSpec, spelled(_Machine, MachineSpec)]
SeasonOfCluster = Annotated[Season, spelled(_Season, Season)]
Metrics = Annotated[
    tuple[tuple[str, str], ...],
    As(
        lambda value: tuple((metric.id, metric.goal) for metric in (read(_Metric, body) for body in value)),
        lambda metrics: [{"id": name, "goal": goal} for name, goal in metrics],
        "a list of metrics with id and goal",
    ),
    Else(()),
]


@dataclass(frozen=True)
class Removed:
    """A cluster whose entry is gone."""

    #: It is late after this time.
    retire_within: Annotated[timedelta, _IN_SECONDS]
    #: The time of the deployment that found its entry gone.
    since: Annotated[Moment, Else(None)]
