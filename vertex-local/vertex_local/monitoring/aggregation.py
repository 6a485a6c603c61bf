"""Aggregation of series: points at equal distances."""

import math
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


@dataclass(frozen=True)
class Aggregation:
    """An aggregation of points."""

    aligner: str
    #: It counts back from the interval's end.
    period_s: float


def asked(call: Call) -> Aggregation | None:
    """Return the aggregation that a call asks for, None for raw points. Raises 400, 501."""
    aligner = call.query.get("aggregation.perSeriesAligner", "ALIGN_NONE")
    for name in call.query:
        if name.startswith(("secondaryAggregation.", "aggregation.crossSeriesReducer", "aggregation.groupByFields")):
            raise unimplemented(f"{name} is not implemented by the local cloud, which aligns each series alone.")
    if aligner == "ALIGN_NONE":
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
    return Aggregation(aligner, period)


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
