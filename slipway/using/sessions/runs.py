"""The runs of a session: what was sent, how each ended, and the metrics that it wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from slipway.authoring.packages.slipway_exchange import Part, Request, request_name
from slipway.base.codec import or_null
from slipway.base.errors import ConfigError, ResourceError
from slipway.base.formatting import join
from slipway.google.failures import CloudError, NotFound
from slipway.google.storage import Location, Storage, StoredObject
from slipway.model.catalog.parameter_types import Value
from slipway.model.job_state import JobState
from slipway.using.context import Context
from slipway.using.jobs.comparison import ComparedField
from slipway.using.jobs.metrics import FILE, MOST_BYTES, Metrics, parse_metrics
from slipway.using.jobs.results import Goal, end_rank
from slipway.using.sessions.following import INTERRUPTED, exit_code_of
from slipway.using.sessions.session import Session

NEWEST = 20
"""The default number of runs listed."""
_AT_ONCE = 8
_KILLED = 137
_GOES_ON = (JobState.QUEUED, JobState.RUNNING)
_MOST_FILES = 20
"""The most files that a comparison names."""


@dataclass(frozen=True)
class RunRecord:
    """A run of a session. Fields have the names and meanings of the attributes of `slipway.Job`."""

    #: `SESSION/NUMBER`, which `slipway submit --like` takes.
    name: str
    number: int
    user: str
    command: str
    state: JobState
    #: None while it runs, and for a run that was lost.
    exit_code: int | None
    failure_reason: str
    created: datetime | None
    #: Seconds, up to now while it runs.
    ran: float | None
    metrics: Metrics = field(default_factory=Metrics)
    #: The digest of each file that the run had, by path.
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "number": self.number,
            "user": or_null(self.user),
            "command": self.command,
            "state": self.state,
            "exitCode": self.exit_code,
            "failureReason": or_null(self.failure_reason),
            "created": self.created,
            "ranSeconds": self.ran,
            "metrics": dict(self.metrics),
            "metricsNotFinite": self.metrics.not_finite,
            "metricsWhy": or_null(self.metrics.why),
        }


_ENDS: tuple[tuple[str, Callable[[RunRecord], Value | None]], ...] = (
    ("state", lambda run: run.state.value),
    ("exit code", lambda run: run.exit_code),
    ("failure reason", lambda run: or_null(run.failure_reason)),
    ("ran", lambda run: run.ran),
)


@dataclass(frozen=True)
class RunObjects:
    """The times of a run's objects."""

    number: int
    sent: datetime | None = None
    started: datetime | None = None
    #: None before all replicas have ended.
    ended: datetime | None = None
    #: Somebody asked for its kill.
    is_killed: bool = False
    #: The newest part of the output of each replica.
    parts: tuple[Location, ...] = ()
    #: The names of the objects with the metrics.json of each replica.
    metrics: tuple[str, ...] = ()


def read_runs(context: Context, session: Session, numbers: Sequence[int] = (), limit: int = NEWEST) -> list[RunRecord]:
    """Read the runs of these numbers, or the newest ones, the oldest first. Raises ResourceError for a number that the
    session has no run of, and CloudError."""
    storage = context.connection.storage
    known = _objects(storage, session)
    if missing := [number for number in numbers if number not in known]:
        raise ResourceError(
            f"{session.name} has no run {join(map(str, missing))}",
            why=f"its runs are 1 to {max(known)}" if known else "it has none, or they were deleted after a while",
            fix=f"slipway session runs {session.name}",
        )
    chosen = list(dict.fromkeys(numbers)) or sorted(known)[-limit:]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="runs") as threads:
        found = threads.map(lambda number: _read(storage, session, known[number], context.now), chosen)
        return list(filter(None, found))


def sorted_runs(runs: Iterable[RunRecord], goal: Goal) -> list[RunRecord]:
    """Sort runs by a metric, as the results of jobs are: the best that succeeded first."""

    def place(run: RunRecord) -> tuple[int, int, float]:
        return end_rank(run.state, ended=run.state not in _GOES_ON), *goal.place(run.metrics, run.metrics.not_finite)

    return sorted(runs, key=place)


def compare_runs(runs: Sequence[RunRecord]) -> tuple[ComparedField, ...]:
    """Compare runs: commands, files that differ, metrics and ends. Raises ConfigError for fewer than two."""
    if len(runs) < 2:
        raise ConfigError("one run alone can't be compared", fix="name two runs or more: slipway session compare 1 2")
    fields = [
        _compared("code", "command", runs, lambda run: run.command),
        *_compared_files(runs),
        *_compared_metrics(runs),
        *(_compared("outcome", name, runs, value) for name, value in _ENDS),
    ]
    return tuple(each for each in fields if any(value is not None for value in each.values))


def _compared(
    group: str, name: str, runs: Iterable[RunRecord], value: Callable[[RunRecord], Value | None]
) -> ComparedField:
    return ComparedField(group, name, tuple(map(value, runs)))


def _compared_files(runs: Sequence[RunRecord]) -> list[ComparedField]:
    """Return the first files that differ, each with the beginning of its digest."""
    paths = sorted({path for run in runs for path in run.files})
    fields = [ComparedField("file", path, _versions(path, runs)) for path in paths]
    return [each for each in fields if not each.alike][:_MOST_FILES]


def _compared_metrics(runs: Sequence[RunRecord]) -> list[ComparedField]:
    measured = [run.metrics.as_shown for run in runs]
    names = dict.fromkeys(name for of_run in measured for name in of_run)
    return [ComparedField("metric", name, tuple(of_run.get(name) for of_run in measured)) for name in names]


def _versions(path: str, runs: Sequence[RunRecord]) -> tuple[str | None, ...]:
    """Return the beginning of the digest that a file has in each run, None where it has no such file."""
    digests = (run.files.get(path) for run in runs)
    return tuple(digest[:8] if digest else None for digest in digests)


def _objects(storage: Storage, session: Session) -> dict[int, RunObjects]:
    """Return the objects of each run by its number. Number 0 is the folder that the session began with."""
    times: dict[int, dict[str, datetime | None]] = {}
    for stored in storage.objects(session.object("runs/")):
        digits, _, what = stored.at.name.rpartition("/")[2].partition(".")
        times.setdefault(int(digits), {})[what] = stored.created
    parts = _newest_parts(storage.objects(session.object("output/")))
    replicas = len(session.replicas)
    sent = [number for number, of_run in times.items() if number and "request" in of_run]
    return {number: _run_objects(number, times[number], parts.get(number, ()), replicas) for number in sent}


def _run_objects(
    number: int, times: Mapping[str, datetime | None], parts: tuple[Location, ...], replicas: int
) -> RunObjects:
    started = [time for what, time in times.items() if what.startswith("started.")]
    ended = [time for what, time in times.items() if what.startswith("ended.")]
    return RunObjects(
        number,
        sent=times["request"],
        started=min(filter(None, started), default=None),
        ended=max(filter(None, ended), default=None) if len(ended) >= replicas else None,
        is_killed="stop-2" in times,
        parts=parts,
        metrics=tuple(f"runs/{number:06}.{what}" for what in sorted(times) if what.startswith("metrics.")),
    )


def _newest_parts(stored: Iterable[StoredObject]) -> dict[int, tuple[Location, ...]]:
    """Return the last part of each replica's output, by the run's number. Objects are listed by name."""
    newest: dict[tuple[int, str], Location] = {}
    for each in stored:
        digits, replica, _ = each.at.name.rpartition("/")[2].split(".")
        newest[int(digits), replica] = each.at
    parts: dict[int, tuple[Location, ...]] = {}
    for (number, _), at in newest.items():
        parts[number] = (*parts.get(number, ()), at)
    return parts


def _read(storage: Storage, session: Session, run: RunObjects, now: datetime) -> RunRecord | None:
    """Read a run; None for the request that closed the session."""
    request = Request.read(storage.read(session.object(request_name(run.number))))[0]
    if request.closed:
        return None
    ends = [part for at in run.parts if (part := Part.read(storage.read(at))).code is not None]
    record = RunRecord(
        name=f"{session.job.typed}/{run.number}",
        number=run.number,
        user=request.by,
        command=request.command,
        state=JobState.RUNNING,
        exit_code=None,
        failure_reason="",
        created=run.sent,
        ran=_seconds(run, now),
        metrics=_metrics(storage, session, run),
        files=request.files,
    )
    if len(ends) >= len(session.replicas):
        return _ended(record, ends, is_killed=run.is_killed)
    if run.ended or session.job.ended:
        return replace(record, state=JobState.FAILED, failure_reason="its end is not known: the session ended first")
    return record


def _ended(record: RunRecord, ends: Sequence[Part], *, is_killed: bool) -> RunRecord:
    if lost := next((part.lost for part in ends if part.lost), ""):
        return replace(record, state=JobState.FAILED, failure_reason=lost)
    code = exit_code_of(ends)
    if code == 0:
        return replace(record, state=JobState.SUCCEEDED, exit_code=0)
    if code == INTERRUPTED or (code == _KILLED and is_killed):
        return replace(record, state=JobState.CANCELLED, exit_code=code)
    return replace(record, state=JobState.FAILED, exit_code=code, failure_reason=f"the command ended with {code}")


def _seconds(run: RunObjects, now: datetime) -> float | None:
    begin = run.started
    if begin is None:
        return None
    return max(0.0, ((run.ended or now) - begin).total_seconds())


def _metrics(storage: Storage, session: Session, run: RunObjects) -> Metrics:
    """Return the metrics that a run has sent as it ended, or those in its output."""
    if not session.job.output:
        return Metrics(why="the session has no output directory")
    in_output = Location.parse(f"{session.job.output.rstrip('/')}/run-{run.number}/{FILE}")
    at = next((session.object(name) for name in run.metrics), in_output)
    try:
        return parse_metrics(storage.beginning(at, MOST_BYTES + 1))
    except NotFound:
        return Metrics(why=f"no {FILE} in its $SLIPWAY_OUTPUT")
    except CloudError as problem:
        return Metrics(why=f"not read: {problem.brief}")
