"""One sweep from its plan to its accepted runs: what is left of it, an offer for each group, and the sending."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import PolicyError
from slipway.labels import REQUEST_LABEL
from slipway.submission.candidates import Candidate
from slipway.submission.choice import Choice, choose
from slipway.submission.experiment_run import create_run
from slipway.submission.journal import state_folder
from slipway.submission.preflight import Preflight, offline
from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy
from slipway.sweep.rate_limit import RateLimiter
from slipway.sweep.runs import RemainingRuns, Run, known_runs, remaining_runs, sweep_filter
from slipway.sweep.sweep_journal import SweepHeader, SweepJournal
from slipway.sweep.sweep_plan import SweepPlan
from slipway.sweep.sweep_sender import SendingProgress, SendingResult, SweepSender

WIDTH = 64
"""Requests under way at once: enough to use any permitted rate at a second's latency."""
_ONE_BY_ONE = 8
_PAGE = 100


class SweepDisplay(Protocol):
    """Where a sweep tells what it does."""

    def chosen(self, choices: Sequence[Choice], left: RemainingRuns, begun_at: str) -> None:
        """`begun_at`: the commit whose templates the sweep began with."""

    def sending(self, progress: SendingProgress) -> AbstractContextManager[Callable[[SendingProgress], None]]:
        """Takes the progress after every change."""


@dataclass(frozen=True)
class SubmittedSweep:
    """What came of sending what was `left`; `listed` reads the sweep's jobs from the service."""

    id: str
    count: int
    left: RemainingRuns
    result: SendingResult
    listed: Callable[[], Sequence[VertexJob]]


class SweepJobs:
    """The jobs of one sweep: made, and listed by the service. May be shared by threads."""

    def __init__(self, context: Context, plan: SweepPlan) -> None:
        self._vertex, self._metadata = context.vertex, context.connection.metadata(context.catalog.region)
        self._kind, self._filter = plan.groups[0].prepared.kind, sweep_filter(context.catalog.stack, plan.id)

    def create(self, request: Request) -> VertexJob:
        """With the run of an experiment that the request names. What fails there has made no job all the same."""
        create_run(self._metadata, request)
        return self._vertex.create(request.kind, request.body)

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        """Names by request id, of those that are listed, and how many calls it took. A few are asked for one by one;
        many by reading the whole sweep."""
        wanted = [request.id for request in requests]
        if len(wanted) > _ONE_BY_ONE:
            jobs = self.all()
            found = {job.labels.get(REQUEST_LABEL, ""): job.name for job in reversed(jobs)}
            return {id_: found[id_] for id_ in wanted if id_ in found}, 1 + len(jobs) // _PAGE
        listed = {
            id_: job.name
            for id_ in wanted
            for job in self._vertex.jobs(self._kind, f'{self._filter} AND labels.{REQUEST_LABEL}="{id_}"')
        }
        return listed, len(wanted)

    def all(self) -> tuple[VertexJob, ...]:
        """Every job of the sweep that is listed."""
        return tuple(self._vertex.jobs(self._kind, self._filter))


class SweepSubmitter:
    """`rate`: submissions a minute, 0 for no limit."""

    def __init__(self, context: Context, plan: SweepPlan, rate: int, show: SweepDisplay) -> None:
        self._context, self._plan, self._rate, self._show = context, plan, rate, show

    def submit(self, *, retry: bool) -> SubmittedSweep:
        """Sends what is left of it; with `retry` its failed runs once more.

        Raises PolicyError when some run can go nowhere, and SlipwayError.
        """
        context, plan = self._context, self._plan
        with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads, self._journal() as journal:
            context.connection.session.widen(WIDTH)
            jobs = SweepJobs(context, plan)
            listing = threads.submit(jobs.all)
            choices = self._choices(threads)
            candidate = cache(lambda run: plan.candidate(run, choices))
            self._check(candidate)
            journal.begin(self._header())
            known = known_runs(plan.id, journal.jobs, journal.open, listing.result())
            left = remaining_runs(plan.count, known, retry=retry)
            self._show.chosen(choices, left, journal.commit)
            progress = SendingProgress(total=left.done + len(left.send) + len(left.look), before=left.done)
            policy, limiter = RetryPolicy(look_for=context.look_for), RateLimiter(self._rate)
            with self._show.sending(progress) as tell:
                sender = SweepSender(
                    jobs.create,
                    jobs.look,
                    lambda run: candidate(run).request,
                    journal,
                    limiter,
                    threads,
                    WIDTH,
                    tell,
                    policy,
                    context.clock,
                )
                result = sender.send(left.send, left.look, progress, insist=retry)
        return SubmittedSweep(plan.id, plan.count, left, result, jobs.all)

    def _journal(self) -> SweepJournal:
        catalog = self._context.catalog
        folder = state_folder(self._context.folder, self._context.environ) / "sweeps"
        return SweepJournal(folder / catalog.project / catalog.stack / f"{self._plan.id}.jsonl")

    def _header(self) -> SweepHeader:
        plan, commit, when = self._plan, self._context.catalog.revision.short, self._context.now.isoformat()
        return SweepHeader(plan.id, plan.groups[0].prepared.template.name, plan.digest, plan.count, commit, when)

    def _choices(self, threads: ThreadPoolExecutor) -> list[Choice]:
        """A candidate for each group of runs. Raises PolicyError when one has none."""
        every = [group.prepared for group in self._plan.groups]
        preflight = Preflight(self._context, [candidate for one in every for candidate in one.candidates], threads)
        return [choose(one.template.name, preflight.judge(one.candidates), settle=True) for one in every]

    def _check(self, candidate: Callable[[Run], Candidate]) -> None:
        """Raises PolicyError when a run breaks a rule of the service."""
        count, region = self._plan.count, self._context.catalog.region
        judged = ((index, offline(candidate(Run(index)), region)) for index in range(count))
        broken = [f"run {index}: {'; '.join(one.reasons)}" for index, one in judged if one]
        if broken:
            raise PolicyError(
                f"{len(broken):,} of {count:,} runs can never run", why="\n".join(broken[:10]), fix="correct them"
            )
