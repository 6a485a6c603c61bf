"""Runs that have started and whose jobs are gone, as somebody deleted them. The claim of such a run is taken: a job
sent for it would end well at once without having run, also where the run had failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future

from slipway.cloud.failures import Denied
from slipway.context import Context
from slipway.jobs.claim import Claim, holder, read_claim
from slipway.submission.request import Request
from slipway.sweeps.runs import FAILED, GONE, KnownRuns, Run

_SAMPLE = 8


Started = Future[bool]


def ask_first(
    context: Context, count: int, request: Callable[[Run], Request], threads: Executor
) -> tuple[Started, ...]:
    """Begins to ask whether the first few of `count` runs have started."""
    return tuple(threads.submit(_has_started, context, request(Run(index))) for index in range(min(_SAMPLE, count)))


def with_gone(
    context: Context,
    count: int,
    known: KnownRuns,
    first: Iterable[Started],
    request: Callable[[Run], Request],
    threads: Executor,
) -> KnownRuns:
    """`known`, with those of `count` runs as gone that no list shows, whose claim is taken, and whose job is not there.

    Of a sweep of which nothing else is known all are asked about only where one of the `first` has started. Raises
    CloudError.
    """
    if not known.jobs and not any(one.result() for one in first):
        return known
    asked: set[Run] = set()
    while runs := [run for run in _unlisted(count, known) if run not in asked]:
        asked.update(runs)
        started = threads.map(lambda run: _has_started(context, request(run)), runs)
        gone = [run for run, has in zip(runs, started, strict=True) if has and not _is_there(context, request(run))]
        known = known.with_gone(gone)
    return known


def _unlisted(count: int, known: KnownRuns) -> Iterator[Run]:
    """The attempts that might be sent, or were sent from here and are not listed."""
    last: dict[int, Run] = {}
    for run in (*known.jobs, *known.open):
        last[run.index] = max(run, last.get(run.index, run))
    for index in range(count):
        if index not in last:
            yield Run(index)
            continue
        run = last[index]
        state = known.states.get(run)
        if state in FAILED or state == GONE:
            yield run.next
        elif state is None and run not in known.open:
            yield run


def _has_started(context: Context, request: Request) -> bool:
    """False where that can't be told: without a launcher, or for who may not read claims."""
    try:
        return bool(request.claim) and read_claim(context.connection.storage, request.claim) is Claim.STARTED
    except Denied:
        return False


def _is_there(context: Context, request: Request) -> bool:
    """The list may have been read before the job was made."""
    found = holder(context.vertex, context.connection.storage, request.claim, request.kind, request.id)
    return found is not None
