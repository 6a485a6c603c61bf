"""What a running job uses now, in a few columns behind its state line: `gpu ▂▅▇█ 97 %  cpu ▂▃▃▂ 20 %`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from slipway.cli.chart import percent, sparks
from slipway.cli.context import Context
from slipway.cloud.monitoring import ACCELERATOR, CPU, MEMORY, Point
from slipway.cloud.resources import CustomJob
from slipway.jobs.utilization import Row, read_utilization
from slipway.jobs.waiting import waits

_EVERY = 20.0
_SPAN = timedelta(minutes=15)
_WIDTH = 10
_WORDS = {ACCELERATOR: "gpu", CPU: "cpu", MEMORY: "mem"}


class UtilizationLine:
    """Reads Monitoring beside whoever follows, who never waits for it. What can't be read is not there."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._monitoring = context.brief.monitoring(context.catalog.project)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="utilization")
        self._reading: Future[str] | None = None
        self._next, self._words = 0.0, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def words(self, job: CustomJob) -> str:
        """The newest that is known; empty for a job that does not run."""
        if waits(job) or job.ended:
            return ""
        if self._reading and self._reading.done():
            self._words, self._reading = self._reading.result(), None
        now = self._context.clock.monotonic()
        if self._reading is None and now >= self._next:
            self._next = now + _EVERY
            self._reading = self._thread.submit(self._read, job)
        return self._words

    def _read(self, job: CustomJob) -> str:
        now = self._context.now
        recent = replace(job, start_time=max(job.start_time or now, now - _SPAN))
        return in_short(read_utilization(self._monitoring, recent, (), now).rows)


def in_short(rows: Iterable[Row]) -> str:
    """The mean of all replicas and accelerators, for each metric that has samples."""
    by_metric: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for point in row.points:
            by_metric[row.series.metric][round(point.at.timestamp())].append(point.value)
    shown = []
    for metric, word in _WORDS.items():
        means = tuple(
            Point(datetime.fromtimestamp(second, UTC), sum(values) / len(values))
            for second, values in sorted(by_metric[metric].items())
        )
        if means:
            shown.append(f"{word} {sparks([means], _WIDTH)[0]} {percent(means[-1].value)}")
    return "  ".join(shown)
