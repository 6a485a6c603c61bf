"""Aggregation of series: points at equal distances."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean

from ..clock import timestamp
from ..wire import Call, invalid_argument, unimplemented
from .gauges import Series
from .records import Sample

_LEAST_PERIOD_S = 60.0


_ALIGNERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    # Samples come the newest first.
    "ALIGN_NEXT_OLDER": lambda values: values[0],
    "ALIGN_MEAN": fmean,
    "ALIGN_MAX": max,
    "ALIGN_MIN": min,
    "ALIGN_SUM": math.fsum,
    "ALIGN_COUNT": len,
}


_REDUCERS: Mapping[str, str] = {
    "REDUCE_MEAN": "ALIGN_MEAN",
    "REDUCE_MAX": "ALIGN_MAX",
    "REDUCE_MIN": "ALIGN_MIN",
    "REDUCE_SUM": "ALIGN_SUM",
    "REDUCE_COUNT": "ALIGN_COUNT",
}
"""Reducers to the aligners that make a number of many in the same way."""
_NUMBERS: Mapping[str, Mapping[str, str]] = {
    "perSeriesAligner": {
        "0": "ALIGN_NONE",
        "4": "ALIGN_NEXT_OLDER",
        "10": "ALIGN_MIN",
        "11": "ALIGN_MAX",
        "12": "ALIGN_MEAN",
        "13": "ALIGN_COUNT",
        "14": "ALIGN_SUM",
    },
    "crossSeriesReducer": {
        "0": "REDUCE_NONE",
        "1": "REDUCE_MEAN",
        "2": "REDUCE_MIN",
        "3": "REDUCE_MAX",
        "4": "REDUCE_SUM",
        "6": "REDUCE_COUNT",
    },
}
_GROUP = re.compile(r"(metric|resource)\.labels?\.(\w+)|project|resource\.type|metric\.type")


@dataclass(frozen=True)
class Aggregation:
    """An aggregation of points, and of series where there is a reducer."""

    aligner: str
    #: It counts back from the interval's end.
    period_s: float
    #: "" for none.
    reducer: str = ""
    #: The labels that stay, as (metric or resource, name); series that have them alike become one.
    groups: Sequence[tuple[str, str]] = ()


def asked(call: Call) -> Aggregation | None:
    """Return the aggregation that a call asks for, None for raw points. Raises 400, 501."""
    for name in ("perSeriesAligner", "crossSeriesReducer", "alignmentPeriod", "groupByFields"):
        if call.query.get(f"secondaryAggregation.{name}", "") not in ("", "0", "ALIGN_NONE", "REDUCE_NONE"):
            raise unimplemented(f"secondaryAggregation.{name} is not implemented by the local cloud.")
    aligner, reducer = _chosen(call, "perSeriesAligner"), _chosen(call, "crossSeriesReducer")
    if aligner == "ALIGN_NONE":
        if reducer != "REDUCE_NONE":
            raise invalid_argument("aggregation.crossSeriesReducer needs an aligner: aggregation.perSeriesAligner.")
        return None
    if aligner not in _ALIGNERS:
        raise unimplemented(f"The local cloud aggregates with {', '.join(_ALIGNERS)} alone.")
    text = call.query.get("aggregation.alignmentPeriod", "")
    try:
        period = float(text.removesuffix("s"))
    except ValueError as error:
        raise invalid_argument(f"Invalid value at 'aggregation.alignmentPeriod' (Duration), \"{text}\"") from error
    if period < _LEAST_PERIOD_S:
        raise invalid_argument(f"The alignment period must be at least {_LEAST_PERIOD_S:g}s.")
    if reducer == "REDUCE_NONE":
        return Aggregation(aligner, period)
    if reducer not in _REDUCERS:
        raise unimplemented(f"The local cloud reduces with {', '.join(_REDUCERS)} alone.")
    return Aggregation(aligner, period, reducer, _groups(call))


def _chosen(call: Call, name: str) -> str:
    """Return an enum's name, which may come as a number."""
    text = call.query.get(f"aggregation.{name}") or "0"
    return _NUMBERS[name].get(text, text)


def _groups(call: Call) -> list[tuple[str, str]]:
    found = []
    for text in call.values("aggregation.groupByFields"):
        match = _GROUP.fullmatch(text)
        if match is None:
            raise invalid_argument(
                f"Invalid value at 'aggregation.groupByFields', \"{text}\": series have no such field."
            )
        if match[2]:
            found.append((match[1], match[2]))
    return found


def reduced(series: Sequence[Series], how: Aggregation) -> list[Series]:
    """Return one series for each group, where there is a reducer. Series of two types are never one."""
    if not how.reducer:
        return list(series)
    groups: dict[str, tuple[Series, list[Sample]]] = {}
    for item in series:
        head = _head(item, how)
        groups.setdefault(repr(head), (head, []))[1].extend(item.points)
    reduce = _ALIGNERS[_REDUCERS[how.reducer]]
    made = []
    for head, samples in groups.values():
        moments: dict[str, list[float]] = {}
        for sample in samples:
            moments.setdefault(sample.moment, []).append(sample.value)
        points = [Sample(moment, reduce(moments[moment])) for moment in sorted(moments, reverse=True)]
        made.append(replace(head, points=points))
    return made


def _head(series: Series, how: Aggregation) -> Series:
    """Return a series without points, and with the labels of its group alone; the project stays."""
    kept = {("resource", "project_id"), *how.groups}
    metric, resource = (
        {name: value for name, value in labels.items() if (part, name) in kept}
        for part, labels in (("metric", series.metric_labels), ("resource", series.resource_labels))
    )
    whole = how.reducer == "REDUCE_COUNT" or (series.whole and how.reducer != "REDUCE_MEAN")
    return replace(series, metric_labels=metric, resource_labels=resource, points=(), whole=whole)


def aligned(series: Series, how: Aggregation, end: str) -> Series:
    """Return a series with one point for each period that has any."""
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
