"""Series as rows of small columns. The scale is always 0 to 100 %; where nothing was measured there is a gap."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median

from slipway.cli import screen
from slipway.cloud.monitoring import Point
from slipway.formatting import span
from slipway.jobs.utilization import Utilization

_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", ".:-=+*#@"
_WIDEST, _NARROWEST = 60, 8
_MOST_ROWS = 24


def show_usage(usage: Utilization) -> None:
    """The chart, as wide as the terminal has room, or why there is none."""
    if not usage.rows:
        screen.out(f"usage      {usage.why}")
        return
    rows = usage.rows[:_MOST_ROWS]
    words = max(len(row.who) for row in rows) + max(len(row.what) for row in rows)
    room = shutil.get_terminal_size((80, 24)).columns - words - len("      ") - 3 * len("  100 %")
    first, last = ends(row.points for row in rows)
    length = f"{span((last - first).total_seconds())} OF SAMPLES" if last > first else "ONE SAMPLE"
    charts = sparks([row.points for row in rows], min(_WIDEST, room)) if room >= _NARROWEST else [""] * len(rows)
    screen.out("")
    screen.table(
        ("REPLICA", "USE OF", length if room >= len(length) else "", "LAST", "MEAN", "MAX"),
        [
            (row.who, row.what, chart, percent(row.last), percent(row.mean), percent(row.max))
            for row, chart in zip(rows, charts, strict=True)
        ],
        right=("LAST", "MEAN", "MAX"),
    )
    if usage.period:
        screen.note(f"each point is the mean of {span(usage.period)}")
    if len(usage.rows) > len(rows):
        screen.note(f"{len(usage.rows) - len(rows)} more rows: --output json")


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def ends(all_points: Iterable[Sequence[Point]]) -> tuple[datetime, datetime]:
    """The first and the last moment of all; there is at least one."""
    times = [point.at for points in all_points for point in points]
    return min(times), max(times)


def sparks(all_points: Sequence[Sequence[Point]], width: int) -> list[str]:
    """A text for each series, all on one axis of time: a column a sample, or the mean of several where they are more
    than `width`."""
    first, last = ends(all_points)
    length = (last - first).total_seconds()
    steps = [(after.at - before.at).total_seconds() for points in all_points for before, after in pairwise(points)]
    step = max(median(steps) if steps else 0.0, length / (width - 1) if width > 1 else length)
    levels = _levels()
    return [_spark(points, first, step, levels) for points in all_points]


def _spark(points: Sequence[Point], first: datetime, step: float, levels: str) -> str:
    columns: dict[int, list[float]] = {}
    for point in points:
        column = round((point.at - first).total_seconds() / step) if step else 0
        columns.setdefault(column, []).append(point.value)
    means = {column: sum(values) / len(values) for column, values in columns.items()}
    return "".join(_level(means[n], levels) if n in means else " " for n in range(max(means) + 1))


def _level(share: float, levels: str) -> str:
    return levels[min(len(levels) - 1, max(0, int(share * len(levels))))]


def _levels() -> str:
    """Blocks where the terminal can write them."""
    try:
        _BLOCKS.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return _ASCII
    return _BLOCKS
