"""The report of a comparison: a document for programs, and sentences on the basis of its figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from slipway.base.formatting import counted, join, percent, span
from slipway.operating.whatif.calibration import TOLERATED, Calibration
from slipway.operating.whatif.comparison import Comparison, jobs_of
from slipway.operating.whatif.delays import ASSUMED, MeasuredDelay
from slipway.operating.whatif.outcome import NeverRun, Outcome
from slipway.operating.whatif.suggestion import BoundsSuggestion


@dataclass(frozen=True)
class BoundsChange:
    """A pool's bounds, before and after a suggested change."""

    cluster: str
    pool: str
    min: int
    max: int


@dataclass(frozen=True)
class ComparisonDocument:
    """A comparison for programs: seconds, and USD of the whole time as text. `before` and `after` are null where the
    replay's error is too large; `neverRan` needs no clock, and is always told."""

    stack: str
    since: datetime
    until: datetime
    jobs: int
    never_started: int
    calibration: Calibration
    trusted: bool
    before: Outcome | None
    after: Outcome | None
    never_ran: tuple[NeverRun, ...]
    delays: Mapping[str, MeasuredDelay]
    assumed: tuple[str, ...]
    unread: tuple[str, ...]
    suggestion: tuple[BoundsChange, ...] | None = None


def document(found: Comparison, stack: str, suggestion: Iterable[BoundsChange] | None = None) -> ComparisonDocument:
    trusted = found.calibration.trusted
    return ComparisonDocument(
        stack,
        found.since,
        found.until,
        found.jobs,
        found.never_started,
        found.calibration,
        trusted,
        found.before if trusted else None,
        found.after if trusted else None,
        found.after.never,
        {"start": found.delays.start, "scaleUp": found.delays.scale_up, "idle": found.delays.idle},
        found.assumed,
        found.unread,
        None if suggestion is None else tuple(suggestion),
    )


def changes(found: BoundsSuggestion) -> tuple[BoundsChange, ...]:
    return tuple(BoundsChange(*name, *bounds) for name, bounds in found.bounds.items())


def headline(found: Comparison) -> str:
    """Return `with the last 30 days' 412 jobs (the same replay of the stack as it was is 6 % off what happened)`."""
    off = found.calibration.words
    words = off if found.calibration.error is None else f"the same replay of the stack as it was is {off}"
    return f"with {jobs_of(found.jobs, (found.until - found.since).total_seconds())} ({words})"


def why_not(calibration: Calibration) -> str:
    """Return why waits and dollars are not shown where the replay is not trusted."""
    why = f"more than {percent(TOLERATED)} off" if calibration.error is not None else "too few jobs"
    return f"what waits and dollars would be can't be told: {why}"


def notes(found: Comparison) -> Iterable[str]:
    """Yield the basis of the figures, line by line."""
    delays = (("a start", found.delays.start), ("growing", found.delays.scale_up), ("shrinking", found.delays.idle))
    measured = (f"{name} takes {span(one.seconds)} ({_cases(one)})" for name, one in delays)
    yield "assumed: first come, first served on a full pool, as Google documents no order; jobs sent as they were"
    yield f"pools: {join(measured)}"
    if found.assumed:
        yield f"no earlier job tells how long machines take by {join(found.assumed)}: taken as {span(ASSUMED.scale_up)}"
    if found.never_started:
        yield f"left out: {counted(found.never_started, 'job')} that never started, and so had no run time"
    if not (found.before.complete and found.after.complete):
        yield "dollars are without what has no known price"
    yield "not in it: stock-outs, quota and how often Spot machines are taken away"
    yield from found.unread


def _cases(one: MeasuredDelay) -> str:
    return f"{one.count} times here" if one.count else "assumed"
