"""Metrics that jobs report: `metrics.json` in a job's output, its run in an experiment, or its best trial.

`metrics.json` is one JSON document: an object of numbers by name, `{"accuracy": 0.98, "loss": 0.07}`, or a list of such
objects, each with its `step`, a whole number: `[{"step": 1, "loss": 0.9}, {"step": 2, "loss": 0.4}]`. Values that are
not numbers are passed over; NaN and infinite ones are kept apart. The job is free to write anything, so nothing in the
document is trusted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeGuard

from slipway.base.errors import ConfigError
from slipway.base.formatting import few, size, unfit
from slipway.google.answers import region_of
from slipway.google.failures import CloudError, Denied, NotFound, Unauthenticated, Unreachable
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.labels import SESSION_LABEL
from slipway.using.context import BRIEF, Context

FILE = "metrics.json"
MOST_BYTES = 1_000_000
MOST_NAMES, LONGEST_NAME = 200, 128
MOST_STEPS = 1_000
"""The number of steps kept of a longer series: evenly chosen, with the first and the last among them."""

_STEP = "step"
_LARGEST_STEP = 2**53
"""The largest step: beyond it two steps are the same number to readers of JSON, and to charts."""
_RUN_METRICS = "_metrics"
"""The key of a run's metadata under which the Vertex SDK keeps logged metrics."""
_AT_ONCE = 32
_WITHIN = 60.0
"""Seconds after which no further job's metrics are asked for."""


@dataclass(frozen=True)
class MetricStep:
    """Metrics by name at one step."""

    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Metrics(Mapping[str, float]):
    """A job's metrics by name."""

    #: The last values where there are steps.
    numbers: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[MetricStep, ...] = ()
    #: Metrics whose last value is no finite number: `NaN`, `Infinity` or `-Infinity`, by name.
    not_finite: Mapping[str, str] = field(default_factory=dict)
    #: Their origin: `metrics.json`, `experiment digits, run mine`, `trial 3`.
    source: str = ""
    why: str = ""

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    @property
    def as_shown(self) -> Mapping[str, float | str]:
        """Each metric by name, one that is no finite number as its text."""
        return {**self.numbers, **self.not_finite}

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


def parse_metrics(content: bytes) -> Metrics:
    """Parse the document; `why` tells the mistake in a document without numbers. Pure; raises nothing."""
    if len(content) > MOST_BYTES:
        return Metrics(why=f"{FILE} is larger than {size(MOST_BYTES)}")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):  # Numbers of thousands of digits and bytes that are not text are ValueErrors.
        return Metrics(why=f"{FILE} is not JSON")
    if isinstance(document, list):
        merged = _merged(document)
        last = {name: value for step in sorted(merged) for name, value in merged[step].items()}
        values = dict(islice(last.items(), MOST_NAMES))
        metrics = Metrics(_finite(values), _steps(merged), _not_finite(values), FILE)
    else:
        values = _measured(document)
        metrics = Metrics(_finite(values), not_finite=_not_finite(values), source=FILE)
    if metrics:
        return metrics
    if metrics.not_finite:
        names = few((f"{name} is {value}" for name, value in metrics.not_finite.items()), 3)
        return replace(metrics, steps=(), why=f"{FILE} has no finite number: {names}")
    return Metrics(why=f"{FILE} has no numbers by name")


def _measured(body: Any) -> dict[str, float]:
    """Return the numbers by name, NaN and infinite ones among them."""
    if not isinstance(body, Mapping):
        return {}
    named = ((name, value) for name, value in body.items() if 0 < len(name) <= LONGEST_NAME and not unfit(name))
    return dict(islice(((name, value) for name, value in named if _is_measured(value)), MOST_NAMES))


def _numbers(body: Any) -> dict[str, float]:
    return _finite(_measured(body))


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if _is_number(value)}


def _not_finite(values: Mapping[str, float]) -> dict[str, str]:
    return {name: json.dumps(value) for name, value in values.items() if not _is_number(value)}


def _is_measured(value: object) -> TypeGuard[float]:
    return isinstance(value, float) or _is_number(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and not unfit(value)


def _merged(entries: Sequence[Any]) -> dict[int, dict[str, float]]:
    """Return the numbers by step; among entries of one step the later one's numbers count."""
    merged: dict[int, dict[str, float]] = {}
    for entry in entries:
        at = entry.get(_STEP) if isinstance(entry, Mapping) else None
        if not _is_number(at) or at != int(at) or abs(at) > _LARGEST_STEP:
            continue
        numbers = _measured({name: value for name, value in entry.items() if name != _STEP})
        if numbers:
            merged.setdefault(int(at), {}).update(numbers)
    return merged


def _steps(merged: Mapping[int, Mapping[str, float]]) -> tuple[MetricStep, ...]:
    finite = (MetricStep(step, _finite(merged[step])) for step in sorted(merged))
    return _thinned(tuple(step for step in finite if step.values))


def _thinned(steps: tuple[MetricStep, ...]) -> tuple[MetricStep, ...]:
    if len(steps) <= MOST_STEPS:
        return steps
    last = len(steps) - 1
    return tuple(steps[round(number * last / (MOST_STEPS - 1))] for number in range(MOST_STEPS))


def newest_run(names: Iterable[str], file: str) -> str:
    """Return the file that a session's newest run has written, of the names of objects; `file` where none has. Pure."""
    pattern = re.compile(rf"{re.escape(file.removesuffix(FILE))}run-(\d+)/{re.escape(FILE)}")
    runs = (found for name in names if (found := pattern.fullmatch(name)))
    return max(((int(found[1]), found[0]) for found in runs), default=(0, file))[1]


def read_metrics(context: Context, jobs: Sequence[VertexJob]) -> dict[str, Metrics]:
    """Read the metrics of all jobs at once, by the jobs' full names. A failure to read is told in `why`, not raised;
    after a minute no further job's metrics are asked for."""
    if not jobs:
        return {}
    reader = _Reader(context)
    context.connection.session.widen(_AT_ONCE)
    with ThreadPoolExecutor(min(_AT_ONCE, len(jobs)), thread_name_prefix="metrics") as threads:
        return dict(zip((job.name for job in jobs), threads.map(reader.read, jobs), strict=True))


class _Reader:
    """A reader shared by threads. A bucket or store that refuses one job's metrics is not asked for another's."""

    def __init__(self, context: Context) -> None:
        self._clock, self._brief = context.clock, context.connection.with_policy(BRIEF)
        self._end = self._clock.monotonic() + _WITHIN
        self._refused: dict[str, str] = {}

    def read(self, job: VertexJob) -> Metrics:
        if job.kind.has_trials:
            return _of_trials(job)
        if job.start_time is None:
            return Metrics(why="it has not started" if not job.ended else "it never started")
        of_file = self._of_file(job)
        of_run = self._of_run(job) if job.experiment_run else Metrics()
        if of_run and (of_file or of_file.not_finite):
            source = f"{of_file.source} and {of_run.source}"
            own = {name: value for name, value in of_run.items() if name not in of_file.not_finite}
            return Metrics({**own, **of_file}, of_file.steps, of_file.not_finite, source)
        if of_file.not_finite:
            return of_file
        return of_run or of_file or Metrics(why="; ".join(filter(None, (of_file.why, of_run.why))))

    def _of_file(self, job: VertexJob) -> Metrics:
        if not job.output:
            return Metrics(why="it has no output directory")
        try:
            at = Location.parse(f"{job.output.rstrip('/')}/{FILE}")
        except ConfigError:  # The job may be anybody's.
            return Metrics(why="its output directory is no address of Cloud Storage")
        storage = self._brief.storage

        def file() -> Metrics:
            below = storage.objects(replace(at, name=at.name.removesuffix(FILE))) if SESSION_LABEL in job.labels else ()
            of_run = newest_run((each.at.name for each in below), at.name)
            return parse_metrics(storage.beginning(replace(at, name=of_run), MOST_BYTES + 1))

        return self._asked(at.bucket, f"no {FILE} in its output", file)

    def _of_run(self, job: VertexJob) -> Metrics:
        name = job.experiment_run

        def run() -> Metrics:
            metadata = self._brief.metadata(region_of(name)).context(name).metadata
            numbers = _numbers(metadata.get(_RUN_METRICS))
            return Metrics(numbers, source=f"experiment {job.run_of_experiment}") if numbers else Metrics()

        return self._asked(name.partition("/contexts/")[0], "its run is gone", run)

    def _asked(self, whom: str, missing: str, ask: Callable[[], Metrics]) -> Metrics:
        if whom in self._refused:
            return Metrics(why=self._refused[whom])
        if self._clock.monotonic() > self._end:
            return Metrics(why=f"not read: the others took longer than {_WITHIN:.0f} s")
        try:
            return ask()
        except NotFound:
            return Metrics(why=missing)
        except CloudError as problem:
            why = f"not read: {problem.brief}"
            if isinstance(problem, Denied | Unauthenticated | Unreachable):
                self._refused[whom] = why
            return Metrics(why=why)


def _of_trials(job: VertexJob) -> Metrics:
    chosen = job.best_trial
    if chosen is None:
        several = len(job.goals) > 1
        return Metrics(why="its trials have several goals, and no one best" if several else "no trial has succeeded")
    return Metrics(_numbers(chosen.metrics), source=f"trial {chosen.id}")
