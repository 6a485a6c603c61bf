"""The chart of a job's utilization: rows of small columns, and in short behind its state line.

The scale is always 0 to 100 %; unmeasured times are gaps.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from slipway.base.formatting import percent, span
from slipway.front.cli.terminal import screen
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import ACCELERATOR, CPU, MEMORY, Point
from slipway.using.context import Context
from slipway.using.jobs.cost import JobCost
from slipway.using.jobs.idle import idle_accelerators, idle_words
from slipway.using.jobs.utilization import Utilization, UtilizationRow, read_utilization

_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDEST, _NARROWEST = 60, 8
_HEADS = ("REPLICA", "USE OF")
_MOST_ROWS = 24
_EVERY = 20.0
_RECENT = timedelta(minutes=15)
_SHORT, _OF_A_LINE = 10, 30
_WORDS = {ACCELERATOR: "gpu", CPU: "cpu", MEMORY: "mem"}


def show_usage(usage: Utilization) -> None:
    """Print the chart of some rows, as wide as the terminal."""
    rows = usage.rows[:_MOST_ROWS]
    words = sum(max(map(len, column)) for column in zip(*[(row.role, row.what) for row in rows], _HEADS, strict=True))
    room = (screen.columns() or shutil.get_terminal_size().columns) - words - len("    ") - 3 * len("  100 %")
    first, last = ends(row.points for row in rows)
    length = f"OVER {span((last - first).total_seconds())}" if last > first else "ONE SAMPLE"
    charts = sparks([row.points for row in rows], min(_WIDEST, room) - 1) if room >= _NARROWEST else [""] * len(rows)
    screen.out("")
    screen.table(
        (*_HEADS, length if room >= len(length) else "", "LAST", "MEAN", "MAX"),
        [
            (row.role, row.what, chart, percent(row.last), percent(row.mean), percent(row.max))
            for row, chart in zip(rows, charts, strict=True)
        ],
        right=("LAST", "MEAN", "MAX"),
    )
    if usage.period:
        screen.note(f"each point is the mean of {span(usage.period)}")
    if len(usage.rows) > len(rows):
        screen.note(f"{len(usage.rows) - len(rows)} more rows: --output json")


def accelerator_line(context: Context, job: VertexJob, account: JobCost) -> str:
    """Return a job's use of its accelerators, in one line: `gpu ▁▁▁▇██  8 H100 idle for 31 of 58 min (53 %): $52 of
    $98`. Empty for a job without any, and where nothing was measured."""
    if job.start_time is None or not any(pool.machine.accelerator for pool in job.worker_pools):
        return ""
    usage = read_utilization(context.brief.monitoring(context.catalog.project), job, context.now)
    if (idle := idle_accelerators(usage, job, account)) is None:
        return ""
    means = _means(usage.rows)[ACCELERATOR]
    return f"{_WORDS[ACCELERATOR]} {sparks([means], _OF_A_LINE)[0]}  {idle_words(idle)}"


def ends(all_points: Iterable[Sequence[Point]]) -> tuple[datetime, datetime]:
    """Return the first and the last moment of all; there is at least one."""
    times = [point.at for points in all_points for point in points]
    return min(times), max(times)


def sparks(all_points: Sequence[Sequence[Point]], width: int) -> list[str]:
    """Return a text for each series, on one axis of time: a column a sample, or the mean of several beyond `width`."""
    first, last = ends(all_points)
    length = (last - first).total_seconds()
    steps = [(after.at - before.at).total_seconds() for points in all_points for before, after in pairwise(points)]
    step = max(median(steps) if steps else 0.0, length / (width - 1) if width > 1 else length)
    highest, texts = len(_BLOCKS) - 1, []
    for points in all_points:
        columns: dict[int, list[float]] = defaultdict(list)
        for point in points:
            columns[round((point.at - first).total_seconds() / step) if step else 0].append(point.value)
        means = {column: sum(values) / len(values) for column, values in columns.items()}
        blocks = {column: _BLOCKS[min(highest, max(0, int(mean * len(_BLOCKS))))] for column, mean in means.items()}
        texts.append("".join(blocks.get(column, " ") for column in range(max(blocks) + 1)))
    return texts


class UtilizationLine:
    """The use of a running job: `gpu ▂▅▇█ 97 %  cpu ▂▃▃▂ 20 %`, read beside the display, which never waits."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._monitoring = context.brief.monitoring(context.catalog.project)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="utilization")
        self._reading: Future[str] | None = None
        self._next, self._words = 0.0, ""

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def words(self, job: VertexJob) -> str:
        """Return the newest known use; empty for a job that does not run."""
        if job.waits or job.ended:
            return ""
        if self._reading and self._reading.done():
            self._words, self._reading = self._reading.result(), None
        now = self._context.clock.monotonic()
        if self._reading is None and now >= self._next:
            self._next = now + _EVERY
            self._reading = self._thread.submit(self._read, job)
        return self._words

    def _read(self, job: VertexJob) -> str:
        now = self._context.now
        recent = replace(job, start_time=max(job.start_time or now, now - _RECENT))
        return in_short(read_utilization(self._monitoring, recent, now).rows)


def in_short(rows: Iterable[UtilizationRow]) -> str:
    """Return the mean of all replicas and accelerators, for each metric that has samples."""
    by_metric = _means(rows)
    return "  ".join(
        f"{word} {sparks([by_metric[metric]], _SHORT)[0]} {percent(by_metric[metric][-1].value)}"
        for metric, word in _WORDS.items()
        if metric in by_metric
    )


def _means(rows: Iterable[UtilizationRow]) -> dict[str, tuple[Point, ...]]:
    """Return the mean of all replicas and accelerators at each moment, by metric."""
    by_metric: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for point in row.points:
            by_metric[row.metric][round(point.at.timestamp())].append(point.value)
    return {
        metric: tuple(
            Point(datetime.fromtimestamp(second, UTC), sum(values) / len(values))
            for second, values in sorted(moments.items())
        )
        for metric, moments in by_metric.items()
    }
