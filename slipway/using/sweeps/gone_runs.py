"""Runs that were sent and that no list shows. Either the job is younger than the list, or somebody deleted it; then the
claim tells whether it had started: a job sent again for a started run would succeed at once without having run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from slipway.google.answers import region_of
from slipway.google.failures import Denied
from slipway.google.jobs import CANCELLED, FAILED, VertexJob
from slipway.using.context import Context
from slipway.using.jobs.claim import Claim, read_claim
from slipway.using.jobs.claimant import holder
from slipway.using.submission.request import Request
from slipway.using.sweeps.runs import GONE, KnownRuns, Run
from slipway.using.sweeps.sweep_sender import SECONDS_PER_CALL

_SENT_ONCE_MORE = FAILED | {CANCELLED, GONE}
_SAMPLE = 8
"""The number of runs that tell whether an unknown sweep has begun."""
_LOOK_EVERY = 2.0  # seconds
_AT_ONCE = 100
"""The number of jobs that are asked for one by one before the calls are spread over time."""
_CLAIM_STAYS = 20 * 24 * 3600.0
"""Seconds for which the claim of a started run surely exists: the workspace deletes claims after 30 days."""


@dataclass(frozen=True)
class GoneRuns:
    """The search for runs that no list shows."""

    context: Context
    #: Returns a run's request, whose claim is the same wherever its job goes.
    request: Callable[[Run], Request]
    threads: Executor
    #: Takes the number of runs to look for.
    say: Callable[[int], None]

    def ask_first(self, count: int) -> tuple[Future[bool], ...]:
        return tuple(self.threads.submit(self._is_taken, Run(index)) for index in range(min(_SAMPLE, count)))

    def with_unlisted(self, known: KnownRuns, sent_at: Mapping[Run, float], skipped: Collection[str]) -> KnownRuns:
        """Add to `known` the fate of jobs that were accepted here and that no list shows. A run whose job was deleted
        before it started is forgotten, so that it is sent again under the same id.

        `sent_at`: in seconds of the wall clock. For a run sent so long ago that its claim may be deleted too, it is not
        known whether it started. Regions in `skipped` are not asked. Raises CloudError.
        """
        asked = 0
        since = self.context.clock.now().timestamp() - _CLAIM_STAYS
        # When a run is forgotten, its attempt before becomes its last one, which no list may show either.
        while unlisted := [
            run
            for run in known.last
            if run in known.jobs and run not in known.states and region_of(known.jobs[run]) not in skipped
        ]:
            if not asked:
                self.say(len(unlisted))
            elif asked % _AT_ONCE == 0:
                self.context.clock.sleep(_AT_ONCE * SECONDS_PER_CALL)
            batch = unlisted[: _AT_ONCE - asked % _AT_ONCE]
            asked += len(batch)
            answers = self.threads.map(self.context.vertex.found, [known.jobs[run] for run in batch])
            jobs = dict(zip(batch, answers, strict=True))
            # The claim is asked for last: a deleted job can't take it any more.
            recent = [run for run, job in jobs.items() if job is None and sent_at.get(run, 0.0) > since]
            fates = self.threads.map(self._never_started, recent)
            never = {run for run, never_started in zip(recent, fates, strict=True) if never_started}
            known = known.with_found({run: job for run, job in jobs.items() if run not in never}).without(never)
        return known

    def with_gone(
        self,
        count: int,
        known: KnownRuns,
        first: Iterable[Future[bool]],
        own: Callable[[Iterable[VertexJob]], object],
    ) -> KnownRuns:
        """Add to `known` the jobs of those of `count` runs that might be sent and whose claim is taken; as gone where
        such a job does not exist, and as cancelled where a cancel has taken it.

        When nothing else is known of a sweep, all runs are asked about only where one of the `first` has started.
        `own` gets these jobs, and keeps in mind those of another sweep. Raises CloudError.
        """
        if not known.jobs and not known.open and not any(answer.result() for answer in first):
            return known
        asked: set[Run] = set()
        # After a failed or deleted attempt the next one might be sent, and may have started as well.
        while runs := [run for run in _next(count, known) if run not in asked]:
            asked.update(runs)
            claims = dict(zip(runs, self.threads.map(self._claim, runs), strict=True))
            known = known.with_cancelled(run for run, claim in claims.items() if claim is Claim.CANCELLED)
            started = {run: self.request(run) for run, claim in claims.items() if claim is Claim.STARTED}
            jobs = self._runners(started, known.open)
            own(job for job in jobs.values() if job)
            known = known.with_found(jobs)
        return known

    def _is_taken(self, run: Run) -> bool:
        """Tell whether a job or a cancel has a run's claim; False where that can't be told: without a launcher, or for
        a caller who may not read claims."""
        return self._claim(run) in (Claim.STARTED, Claim.CANCELLED)

    def _never_started(self, run: Run) -> bool:
        """Tell whether a run's claim is free; False where that can't be told: for an image, a tuning job (its trials
        have the claims), or a caller who may not read claims."""
        return self.request(run).runs_once and self._claim(run) is Claim.FREE

    def _claim(self, run: Run) -> Claim | None:
        claim = self.request(run).claim
        try:
            return read_claim(self.context.connection.storage, claim) if claim else None
        except Denied:
            return None

    def _runners(self, started: Mapping[Run, Request], sent_at: Mapping[Run, float]) -> dict[Run, VertexJob | None]:
        """Return the jobs that have the claims of these runs, as far as they exist: the known list may have been read
        before they were made. A pipeline is found by a list alone, as its claim has the number of the job behind it; it
        is looked for while a list may hide it."""
        context = self.context
        jobs: dict[Run, VertexJob | None] = {}
        missing, begun = list(started), context.clock.now().timestamp()
        while missing:
            now = context.clock.now().timestamp()
            first = not jobs
            for run in missing:
                request = started[run]
                jobs[run] = holder(context.vertex, context.connection.storage, request.claim, request.kind, request.id)
            missing = [
                run
                for run in missing
                if jobs[run] is None
                and not started[run].kind.runs_itself
                and now < sent_at.get(run, begun) + context.look_for
            ]
            if missing:
                if first:
                    self.say(len(missing))
                context.clock.sleep(max(_LOOK_EVERY, len(missing) * SECONDS_PER_CALL))
        return jobs


def _next(count: int, known: KnownRuns) -> Iterator[Run]:
    """Yield each run's attempt that might be sent now: the first, a lost one, or one after a failed or gone one."""
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
