"""The report of a comparison: a document for programs, and sentences on the basis of its figures. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from slipway.base.formatting import counted, join, percent, span
from slipway.google.advice import NO_ADVICE, SpotNeed, SpotReport
from slipway.model.capacity import SPOT
from slipway.operating.history.model import History
from slipway.operating.whatif.calibration import TOLERATED, Calibration
from slipway.operating.whatif.comparison import Comparison, jobs_of
from slipway.operating.whatif.delays import ASSUMED
from slipway.operating.whatif.making_room import CHECKPOINT_S
from slipway.operating.whatif.suggestion import BoundsSuggestion


def document(
    comparison: Comparison, stack: str, suggestion: BoundsSuggestion | None = None, spot: SpotReport = NO_ADVICE
) -> dict[str, Any]:
    """Return a comparison for programs: seconds, and USD of the whole time as text. `spot`: Google's advice."""
    trusted, replayer = comparison.calibration.trusted, comparison.replayer
    delays = replayer.delays
    return {
        "stack": stack,
        "since": replayer.history.until - replayer.time,
        "until": replayer.history.until,
        "jobs": comparison.jobs,
        "neverStarted": replayer.work.never_started,
        "calibration": comparison.calibration,
        "trusted": trusted,
        # Null where the replay's error is too large.
        "before": comparison.before if trusted else None,
        "after": comparison.after if trusted else None,
        # Needs no clock, and is always there.
        "neverRan": comparison.after.never,
        "delays": {"start": delays.start, "scaleUp": delays.scale_up, "idle": delays.idle},
        "assumed": replayer.work.assumed,
        "unknown": replayer.work.unknown,
        "pauses": len(replayer.holds.pauses),
        "unread": replayer.history.unread,
        "googleAdvice": spot.document,
        "suggestion": suggestion
        and [
            {"cluster": cluster, "pool": pool, "min": least, "max": most}
            for (cluster, pool), (least, most) in suggestion.bounds.items()
        ],
    }


def headline(comparison: Comparison) -> str:
    """Return `with the last 30 days' 412 jobs (the same replay of the stack as it was is 6 % off what happened)`."""
    off = comparison.calibration.words
    words = off if comparison.calibration.error is None else f"the same replay of the stack as it was is {off}"
    return f"with {jobs_of(comparison.jobs, comparison.replayer.time.total_seconds())} ({words})"


def why_not(calibration: Calibration) -> str:
    """Return the reason why waits and dollars are not shown where the replay is not trusted."""
    why = f"more than {percent(TOLERATED)} off" if calibration.error is not None else "too few jobs"
    return f"what waits and dollars would be can't be told: {why}"


def spot_needs(history: History) -> list[SpotNeed]:
    """Return the Spot machines that jobs of a history took, those of most jobs first."""
    needs = Counter(
        SpotNeed.of(job.region, used.machine, used.count)
        for job in history.jobs
        if job.capacity_type == SPOT
        for used in job.machines
    )
    return [need for need, _ in needs.most_common()]


def notes(comparison: Comparison, spot: SpotReport = NO_ADVICE) -> Iterable[str]:
    """Yield the basis of the figures, line by line, with Google's advice on Spot machines beside what was seen."""
    work, delays = comparison.replayer.work, comparison.replayer.delays
    named = (("a start", delays.start), ("growing", delays.scale_up), ("shrinking", delays.idle))
    measured = (
        f"{name} takes {span(delay.seconds)} ({f'{delay.count} times here' if delay.count else 'assumed'})"
        for name, delay in named
    )
    yield "assumed: first come, first served on a full pool, as Google documents no order; jobs sent as they were"
    yield f"pools: {join(measured)}"
    if work.assumed:
        types = join(work.assumed)
        yield f"no earlier job tells how long machines take by {types}: taken as {span(ASSUMED.scale_up)}"
    if work.unknown:
        yield f"not known how long machines take by {join(work.unknown)}: a race takes at most what is shown"
    if comparison.after.made_room.jobs or comparison.before.made_room.jobs:
        yield f"who makes room is taken to write a checkpoint every {span(CHECKPOINT_S)}, as no history tells when"
    if pauses := comparison.replayer.holds.pauses:
        times = span(sum(min(pause.until, comparison.replayer.length) - max(pause.since, 0.0) for pause in pauses))
        yield f"nothing is sent in {counted(len(pauses), 'pause')}, {times} in all"
    if comparison.shares or comparison.replayer.holds.pauses:
        yield "what shares or a pause held then is sent when it was sent, as nobody recorded when it was asked for"
    if work.moved:
        yield f"on the machines that their templates ask for by now: {counted(work.moved, 'job')}"
    if work.never_started:
        yield f"left out: {counted(work.never_started, 'job')} that never started, and so had no run time"
    if not (comparison.before.complete and comparison.after.complete):
        yield "dollars are without what has no known price"
    yield "not in it: stock-outs, quota and how often Spot machines are taken away"
    told = [job for job in comparison.replayer.history.jobs if job.capacity_type == SPOT and job.lost is not None]
    if told:
        times = counted(sum(len(job.preemptions) for job in told), "time")
        yield f"seen here: {counted(len(told), 'Spot job')}, preempted {times}"
    yield from spot.lines
    yield from comparison.replayer.history.unread
