"""Aggregation of series: points at equal distances, then one series out of several."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from .. import filters
from ..clock import timestamp
from ..document_filters import value_at
from ..filter_fields import FilterFields
from ..wire import Call, invalid_argument, unimplemented
from .gauges import Series
from .records import Sample

_LEAST_PERIOD_S = 60.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


_ALIGNERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    # Samples come the newest first.
    "ALIGN_NEXT_OLDER": lambda values: values[0],
    "ALIGN_MEAN": _mean,
    "ALIGN_MAX": max,
    "ALIGN_MIN": min,
    "ALIGN_SUM": math.fsum,
    "ALIGN_COUNT": len,
}
_REDUCERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "REDUCE_MEAN": _mean,
    "REDUCE_MAX": max,
    "REDUCE_MIN": min,
    "REDUCE_SUM": math.fsum,
    "REDUCE_COUNT": len,
}


@dataclass(frozen=True)
class Aggregation:
    """An aggregation of points. `period_s` counts back from the interval's end."""

    aligner: str
    reducer: str
    period_s: float
    fields: tuple[str, ...]


def asked(call: Call, known: FilterFields) -> Aggregation | None:
    """Return the aggregation that a call asks for, None for raw points. `known` are the fields to group by. Raises 400,
    501."""
    aligner = call.query.get("aggregation.perSeriesAligner", "ALIGN_NONE")
    reducer = call.query.get("aggregation.crossSeriesReducer", "REDUCE_NONE")
    if any(name.startswith("secondaryAggregation.") for name in call.query):
        raise unimplemented("A secondary aggregation is not implemented by the local cloud.")
    if (aligner, reducer) == ("ALIGN_NONE", "REDUCE_NONE"):
        return None
    if aligner == "ALIGN_NONE":
        raise invalid_argument("A crossSeriesReducer needs a perSeriesAligner.")
    if aligner not in _ALIGNERS or reducer not in ("REDUCE_NONE", *_REDUCERS):
        raise unimplemented(f"The local cloud aggregates with {', '.join((*_ALIGNERS, *_REDUCERS))} alone.")
    text = call.query.get("aggregation.alignmentPeriod", "")
    try:
        period = float(text.removesuffix("s"))
    except ValueError as error:
        raise invalid_argument(f"Invalid value at 'aggregation.alignmentPeriod' (Duration), \"{text}\"") from error
    if period < _LEAST_PERIOD_S:
        raise invalid_argument(f"The alignment period must be at least {_LEAST_PERIOD_S:g}s.")
    fields = call.values("aggregation.groupByFields")
    for field in fields:
        if known(filters.path(field)) is None:
            raise invalid_argument(f"Invalid value at 'aggregation.group_by_fields': there is no field '{field}'.")
    return Aggregation(aligner, reducer, period, fields)


def aggregated(found: Iterable[Series], how: Aggregation, end: str) -> list[Series]:
    """Return aligned series, reduced to one for each group where the aggregation says so."""
    aligned = [_aligned(series, how, end) for series in found]
    if how.reducer == "REDUCE_NONE":
        return aligned
    groups: dict[tuple[str, ...], list[Series]] = {}
    for series in aligned:
        key = tuple(str(value_at(series.document(), field) or "") for field in how.fields)
        groups.setdefault((series.metric, *key), []).append(series)
    return [_reduced(group, how) for group in groups.values()]


def _aligned(series: Series, how: Aggregation, end: str) -> Series:
    last = datetime.fromisoformat(end)
    slots: dict[int, list[float]] = {}
    for sample in series.points:
        back = int((last - datetime.fromisoformat(sample.moment)).total_seconds() // how.period_s)
        slots.setdefault(back, []).append(sample.value)
    align = _ALIGNERS[how.aligner]
    points = [
        Sample(timestamp(datetime.fromtimestamp(last.timestamp() - back * how.period_s, UTC)), align(slots[back]))
        for back in sorted(slots)
    ]
    return replace(series, points=points, whole=series.whole and how.aligner != "ALIGN_MEAN")


def _reduced(group: Sequence[Series], how: Aggregation) -> Series:
    first, reduce = group[0], _REDUCERS[how.reducer]
    moments: dict[str, list[float]] = {}
    for series in group:
        for sample in series.points:
            moments.setdefault(sample.moment, []).append(sample.value)
    kept = {field.rpartition(".")[2] for field in how.fields}
    return Series(
        first.metric,
        {key: value for key, value in first.metric_labels.items() if key in kept},
        first.resource,
        {key: value for key, value in first.resource_labels.items() if key in {*kept, "project_id"}},
        [Sample(moment, reduce(moments[moment])) for moment in sorted(moments, reverse=True)],
        first.whole and how.reducer != "REDUCE_MEAN",
    )
