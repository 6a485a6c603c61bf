"""Runs that were sent and that no list shows. The job of one may be younger than the list; or somebody deleted it. Then
the claim tells whether it had started: a job sent for one that had would end well at once without having run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future

from slipway.cloud.answers import region_of
from slipway.cloud.failures import Denied, NotFound
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.jobs.claim import Claim, holder, read_claim
from slipway.submission.request import Request
from slipway.sweeps.runs import CANCELLED, FAILED, GONE, KnownRuns, Run
from slipway.sweeps.sweep_sender import SECONDS_PER_CALL

_SENT_ONCE_MORE = FAILED | {CANCELLED, GONE}
_SAMPLE = 8
_LOOK_EVERY = 2.0
_AT_ONCE = 100
"""So many jobs are asked for one by one before the calls are spread over time."""
_CLAIM_STAYS = 20 * 24 * 3600.0
"""For so many seconds after a run was sent its claim is there if it has started: the workspace deletes claims after 30
days, from when they were made."""

Started = Future[bool]


def ask_first(
    context: Context, count: int, request: Callable[[Run], Request], threads: Executor
) -> tuple[Started, ...]:
    """Begins to ask whether the first few of `count` runs have started."""
    return tuple(threads.submit(_has_started, context, request(Run(index))) for index in range(min(_SAMPLE, count)))


def with_unlisted(
    context: Context,
    known: KnownRuns,
    sent_at: Mapping[Run, float],
    skipped: Collection[str],
    request: Callable[[Run], Request],
    threads: Executor,
    say: Callable[[int], None],
) -> KnownRuns:
    """`known`, with what became of the jobs that were accepted here and that no list shows: their states, or that they
    are gone; a run is forgotten whose job was deleted before it started, so that it is sent again, under the same id.

    `sent_at`: in seconds of the wall clock; of one that was sent so long ago that its claim may be deleted too, nobody
    can tell whether it started. Nothing is asked of the regions that are `skipped`. `say` is told how many are asked
    for. Raises CloudError.
    """
    asked, since = 0, context.clock.now().timestamp() - _CLAIM_STAYS
    while unlisted := [run for run in known.last if _is_to_be_asked_for(run, known, skipped)]:
        if not asked:
            say(len(unlisted))
        elif asked % _AT_ONCE == 0:
            context.clock.sleep(_AT_ONCE * SECONDS_PER_CALL)
        some = unlisted[: _AT_ONCE - asked % _AT_ONCE]
        asked += len(some)
        jobs = threads.map(lambda name: _job(context, name), [known.jobs[run] for run in some])
        found = dict(zip(some, jobs, strict=True))
        missing = [run for run, job in found.items() if job is None]
        # The claim is asked for last: a job that is deleted takes none any more.
        recent = [run for run in missing if sent_at.get(run, 0.0) > since]
        fresh = threads.map(lambda run: _never_started(context, request(run)), recent)
        never = {run for run, is_so in zip(recent, fresh, strict=True) if is_so}
        known = known.with_found({run: job for run, job in found.items() if job}).without(never)
        known = known.with_gone(run for run in missing if run not in never)
    return known


def with_gone(
    context: Context,
    count: int,
    known: KnownRuns,
    first: Iterable[Started],
    request: Callable[[Run], Request],
    threads: Executor,
    *,
    say: Callable[[int], None],
    checked: Callable[[Iterable[VertexJob]], object],
) -> KnownRuns:
    """`known`, with the jobs of those of `count` runs that might be sent and whose claim is taken; as gone where there
    is no such job.

    Of a sweep of which nothing else is known all are asked about only where one of the `first` has started. `say` is
    told how many have, and are looked for as no list shows their jobs yet. Raises CloudError, and what `checked` does
    for a job of another run.
    """
    if not known.jobs and not known.open and not any(one.result() for one in first):
        return known
    asked: set[Run] = set()
    while runs := [run for run in _next(count, known) if run not in asked]:
        asked.update(runs)
        has = threads.map(lambda run: _has_started(context, request(run)), runs)
        started = {run: request(run) for run, is_so in zip(runs, has, strict=True) if is_so}
        found = _runners(context, started, known.open, say)
        checked(job for job in found.values() if job)
        known = known.with_found({run: job for run, job in found.items() if job})
        known = known.with_gone(run for run, job in found.items() if job is None)
    return known


def _is_to_be_asked_for(run: Run, known: KnownRuns, skipped: Collection[str]) -> bool:
    return run in known.jobs and run not in known.states and region_of(known.jobs[run]) not in skipped


def _next(count: int, known: KnownRuns) -> Iterator[Run]:
    """The attempts that might be sent."""
    last = {run.index: run for run in known.last}
    for index in range(count):
        if index not in last:
            yield Run(index)
            continue
        run = last[index]
        if run in known.open:
            yield run
        elif known.states.get(run) in _SENT_ONCE_MORE:
            yield run.next


def _job(context: Context, name: str) -> VertexJob | None:
    try:
        return context.vertex.job(name)
    except NotFound:
        return None


def _has_started(context: Context, request: Request) -> bool:
    """False where that can't be told: without a launcher, or for who may not read claims."""
    try:
        return bool(request.claim) and read_claim(context.connection.storage, request.claim) is Claim.STARTED
    except Denied:
        return False


def _never_started(context: Context, request: Request) -> bool:
    """False where that can't be told: for an image, a tuning job (its trials have the claims), or who may not look."""
    try:
        return request.runs_once and read_claim(context.connection.storage, request.claim) is Claim.FREE
    except Denied:
        return False


def _runners(
    context: Context, started: Mapping[Run, Request], sent_at: Mapping[Run, float], say: Callable[[int], None]
) -> dict[Run, VertexJob | None]:
    """The jobs that have the claims of these runs, as far as they are there: the list that is known may have been read
    before they were made. One that runs as another is found by a list alone, and looked for while that may hide it."""
    found: dict[Run, VertexJob | None] = {}
    missing, told, begun = list(started), False, context.clock.now().timestamp()
    while missing:
        now = context.clock.now().timestamp()
        found |= {run: _runner(context, started[run]) for run in missing}
        missing = [
            run
            for run in missing
            if found[run] is None
            and not started[run].kind.runs_itself
            and now < sent_at.get(run, begun) + context.look_for
        ]
        if missing:
            if not told:
                say(len(missing))
            told = True
            context.clock.sleep(max(_LOOK_EVERY, len(missing) * SECONDS_PER_CALL))
    return found


def _runner(context: Context, request: Request) -> VertexJob | None:
    return holder(context.vertex, context.connection.storage, request.claim, request.kind, request.id)
