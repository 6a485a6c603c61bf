"""What a replay of a stack's past comes to, as a table and a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from slipway.cli.terminal import screen
from slipway.formatting import counted, few, join, span
from slipway.history.waits import Waits
from slipway.prices import Price, bounded
from slipway.whatif.calibration import TOLERATED, Calibration
from slipway.whatif.comparison import Comparison, jobs_of
from slipway.whatif.delays import MeasuredDelay
from slipway.whatif.outcome import NeverRun, Outcome
from slipway.whatif.suggestion import Suggestion

UNKNOWN_HERE = "stock-outs, quota and how often Spot machines are taken away"
_MOST_TEMPLATES = 10


@dataclass(frozen=True)
class BoundsChange:
    """A pool's bounds, as a suggestion changes them."""

    cluster: str
    pool: str
    min: int
    max: int


@dataclass(frozen=True)
class ComparisonDocument:
    """A comparison for programs: seconds, and USD of the whole time as text. `before` and `after` are null where the
    replay is too far off what happened; `neverRan` needs no clock, and is told all the same."""

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


def changes(found: Suggestion) -> tuple[BoundsChange, ...]:
    return tuple(BoundsChange(*name, *bounds) for name, bounds in found.bounds.items())


def headline(found: Comparison) -> str:
    """`with the last 30 days' 412 jobs (the same replay of the stack as it was is 6 % off what happened)`"""
    off = found.calibration.words
    words = off if found.calibration.error is None else f"the same replay of the stack as it was is {off}"
    return f"with {jobs_of(found.jobs, (found.until - found.since).total_seconds())} ({words})"


def show(found: Comparison, heads: tuple[str, str]) -> None:
    """Print the outcomes side by side under these heads, or that nobody can tell."""
    screen.prose(headline(found))
    rows = [] if not found.calibration.trusted else list(_rows(found.before, found.after))
    never = [("never run", str(found.before.never_ran), str(found.after.never_ran), _why(found.after.never))]
    screen.table(("", *heads, ""), [*rows, *never], wraps=("",))
    if found.calibration.trusted:
        _show_templates(found.before, found.after, heads)
    else:
        limit = f"{TOLERATED:.0%}".replace("%", " %")
        why = f"more than {limit} off" if found.calibration.error is not None else "too few jobs"
        screen.prose(f"what waits and dollars would be can't be told: {why}")
    for line in notes(found):
        screen.note(line)


def _rows(before: Outcome, after: Outcome) -> Iterable[tuple[str, str, str, str]]:
    parts = f"pools {_both(before.pools_cost, after.pools_cost)}"
    if before.beside_cost != after.beside_cost or before.beside_cost.known:
        parts += f", beside {_both(before.beside_cost, after.beside_cost)}"
    yield "wait p50 / p95", _waits(before.waits), _waits(after.waits), ""
    yield "longest wait", _span(before.waits.longest), _span(after.waits.longest), ""
    yield "dollars", _dollars(before.cost), _dollars(after.cost), parts
    yield "idle", _share(before.idle), _share(after.idle), ""


def _show_templates(before: Outcome, after: Outcome, heads: tuple[str, str]) -> None:
    """Print the templates whose waits change most, where there are several."""
    were = {one.template: one.waits for one in before.templates}
    changed = [one for one in after.templates if one.waits != were.get(one.template)]
    if len(after.templates) < 2 or not changed:
        return
    changed.sort(key=lambda one: -abs((one.waits.p95 or 0) - (were.get(one.template, Waits()).p95 or 0)))
    rows = [
        (one.template or "(none)", str(one.waits.jobs), _waits(were.get(one.template, Waits())), _waits(one.waits))
        for one in changed[:_MOST_TEMPLATES]
    ]
    screen.out("")
    screen.table(("TEMPLATE", "JOBS", *(f"WAIT {head}" for head in heads)), rows, right=("JOBS",))
    if len(changed) > _MOST_TEMPLATES:
        screen.note(f"and {len(changed) - _MOST_TEMPLATES} more templates")


def notes(found: Comparison) -> Iterable[str]:
    """Yield what the figures rest on, a line each."""
    delays = (("a start", found.delays.start), ("growing", found.delays.scale_up), ("shrinking", found.delays.idle))
    measured = (f"{name} takes {span(one.seconds)} ({_cases(one)})" for name, one in delays)
    yield "assumed: first come, first served on a full pool, as Google documents no order; jobs sent as they were"
    yield f"pools: {join(measured)}"
    if found.assumed:
        yield f"no earlier job tells how long machines take by {join(found.assumed)}: taken as {span(300)}"
    if found.never_started:
        yield f"left out: {counted(found.never_started, 'job')} that never started, and so had no run time"
    if not (found.before.complete and found.after.complete):
        yield "dollars are without what has no known price"
    yield f"not in it: {UNKNOWN_HERE}"
    yield from found.unread


def _cases(one: MeasuredDelay) -> str:
    return f"{one.count} times here" if one.count else "assumed"


def _why(never: tuple[NeverRun, ...]) -> str:
    """`tune-27b and eval: needs 4 a3-highgpu-8g, and h100/workers has 2 at most`"""
    by_reason: dict[str, list[str]] = {}
    for one in never:
        by_reason.setdefault(one.why, []).append(one.template or "(none)")
    words = [f"{few(templates)}: {why}" for why, templates in by_reason.items()]
    return "; ".join([*words[:2], *([f"and {len(words) - 2} more"] if len(words) > 2 else [])])


def _waits(waits: Waits) -> str:
    return f"{_span(waits.median)} / {_span(waits.p95)}"


def _span(seconds: float | None) -> str:
    return "–" if seconds is None else span(seconds)


def _dollars(price: Price) -> str:
    return "?" if price.unknown else bounded(f"{price.known:,.0f}", price)


def _both(before: Price, after: Price) -> str:
    return f"{_dollars(before)} → {_dollars(after)}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}".replace("%", " %")
