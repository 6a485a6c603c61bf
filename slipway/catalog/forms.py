"""What fields of the catalog are made of: texts of a certain form, and values that several keys give together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from slipway.catalog.placeholders import whole
from slipway.codec import Across, At, Else, Form, malformed, read, write
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import UNKNOWN, Price, price_text
from slipway.season import Season, moment, moment_text


def _form(pattern: str, expected: str) -> Form:
    """These become parts of host names, paths and files, so nothing else is allowed there."""
    return Form(lambda text: re.fullmatch(pattern, text) is not None, expected)


def _read_price(body: Mapping[str, Any]) -> Price:
    """What `pricePerHour` and `priceComplete` say together; a catalog without the flag tells whole prices alone. Where
    only an upper bound is known, `priceAtMost` has it in place of them."""
    complete = body.get("priceComplete", True)
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
    return Price(known, complete=True, at_most=True) if key == "priceAtMost" else Price(known, complete)


def _write_price(price: Price) -> Mapping[str, Any]:
    if price.at_most and price.complete:  # To a version that knows no bounds it is unknown.
        return {"pricePerHour": None, "priceComplete": False, "priceAtMost": price_text(price)}
    return {"pricePerHour": price_text(price), "priceComplete": price.complete}


@dataclass(frozen=True)
class _Machine(MachineSpec):
    """What the keys of a pool say of its machines."""

    type: Annotated[str, At("machine")]
    accelerator: Annotated[str | None, Else(None)]
    accelerator_count: Annotated[int, Else(0)]
    disk: Disk


def _read_machine(body: Mapping[str, Any]) -> MachineSpec:
    return MachineSpec(**vars(read(_Machine, body)))


def _write_machine(spec: MachineSpec) -> Mapping[str, Any]:
    return write(_Machine(**vars(spec)))


def _read_metrics(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    value = body.get("metrics", [])
    ok = isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("goal"), str) for one in value
    )
    if not ok:
        raise malformed(value, "a list of metrics with id and goal", "metrics")
    return tuple((one["id"], one["goal"]) for one in value)


def _write_metrics(metrics: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    return {"metrics": [{"id": name, "goal": goal} for name, goal in metrics]}


def _read_moment(body: Mapping[str, Any], key: str) -> datetime | None:
    value = body.get(key)
    if value is None:
        return None
    try:
        return moment(str(value))
    except ValueError:
        raise malformed(value, "a date and a time with its zone", key) from None


def _write_moments(**moments: datetime | None) -> Mapping[str, Any]:
    return {key: moment_text(when) for key, when in moments.items() if when is not None}


def _read_season(body: Mapping[str, Any]) -> Season:
    limit = body.get("idleLimit")
    try:
        idle = None if limit is None else timedelta(seconds=limit)
    except (TypeError, OverflowError, ValueError):
        raise malformed(limit, "a number of seconds", "idleLimit") from None
    return Season(_read_moment(body, "from"), _read_moment(body, "until"), idle)


def _write_season(season: Season) -> Mapping[str, Any]:
    limit = {} if season.idle_limit is None else {"idleLimit": season.idle_limit.total_seconds()}
    return {**_write_moments(**{"from": season.begins, "until": season.ends}), **limit}


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
MachineOfPool = Annotated[MachineSpec, Across(_read_machine, _write_machine)]
SeasonOfCluster = Annotated[Season, Across(_read_season, _write_season)]
Since = Annotated[
    datetime | None, Across(lambda body: _read_moment(body, "since"), lambda when: _write_moments(since=when))
]


@dataclass(frozen=True)
class Removed:
    """A cluster whose entry is gone: since when, and after how many seconds it is late (its `retireWithin`)."""

    retire_within: float
    since: Since


Metrics = Annotated[tuple[tuple[str, str], ...], Across(_read_metrics, _write_metrics)]
