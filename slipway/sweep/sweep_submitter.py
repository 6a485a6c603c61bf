"""One sweep from its plan to its accepted runs: what is left of it, an offer for each group, and the sending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from slipway.cloud.resources import CustomJob
from slipway.context import Context
from slipway.errors import PolicyError
from slipway.submission.choice import Choice, choose
from slipway.submission.journal import state_folder
from slipway.submission.preflight import Preflight, offline
from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy
from slipway.sweep.rate_limit import RateLimiter
from slipway.sweep.runs import RemainingRuns, Run, known_runs, remaining_runs
from slipway.sweep.service import VertexSweepService
from slipway.sweep.sweep_journal import SweepHeader, SweepJournal
from slipway.sweep.sweep_plan import SweepPlan
from slipway.sweep.sweep_sender import SendingProgress, SendingResult, SweepSender

WIDTH = 64
"""Requests under way at once: enough to use any permitted rate at a second's latency."""


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
    listed: Callable[[], Sequence[CustomJob]]


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
            metadata = context.connection.metadata(context.catalog.region)
            kind = plan.groups[0].prepared.kind
            service = VertexSweepService(context.vertex, metadata, kind, context.catalog.stack, plan.id)
            listing = threads.submit(service.all)
            choices = self._choices(threads)
            journal.begin(self._header())
            known = known_runs(plan.id, journal.jobs, journal.open, listing.result())
            left = remaining_runs(plan.count, known, retry=retry)
            self._show.chosen(choices, left, journal.commit)
            result = self._deliver(journal, threads, service, choices, left, insist=retry)
        return SubmittedSweep(plan.id, plan.count, left, result, service.all)

    def _deliver(
        self,
        journal: SweepJournal,
        threads: ThreadPoolExecutor,
        service: VertexSweepService,
        choices: list[Choice],
        left: RemainingRuns,
        *,
        insist: bool,
    ) -> SendingResult:
        made: dict[Run, Request] = {}

        def request(run: Run) -> Request:
            if run not in made:
                made[run] = self._plan.request(run, choices[self._plan.of_group[run.index]].taken.candidate)
            return made[run]

        progress = SendingProgress(total=left.done + len(left.send) + len(left.look), before=left.done)
        policy, clock = RetryPolicy(look_for=self._context.look_for), self._context.clock
        with self._show.sending(progress) as tell:
            limiter = RateLimiter(self._rate)
            sender = SweepSender(service, request, journal, limiter, threads, WIDTH, tell, policy, clock)
            return sender.send(left.send, left.look, progress, insist=insist)

    def _journal(self) -> SweepJournal:
        catalog = self._context.catalog
        folder = state_folder(self._context.folder, self._context.environ) / "sweeps"
        return SweepJournal(folder / catalog.project / catalog.stack / f"{self._plan.id}.jsonl")

    def _header(self) -> SweepHeader:
        plan, commit, when = self._plan, self._context.catalog.revision.short, self._context.now.isoformat()
        return SweepHeader(plan.id, plan.groups[0].prepared.template.name, plan.digest, plan.count, commit, when)

    def _choices(self, threads: ThreadPoolExecutor) -> list[Choice]:
        """A candidate for each group of runs. Raises PolicyError when one has none, or a run breaks a rule of the
        service."""
        plan = self._plan
        candidates = [candidate for group in plan.groups for candidate in group.prepared.candidates]
        preflight = Preflight(self._context.hurried, self._context.catalog, candidates, self._context.now, threads)
        found = [
            choose(group.prepared.template.name, preflight.judge(group.prepared.candidates), settle=True)
            for group in plan.groups
        ]
        broken = []
        for run in map(Run, range(plan.count)):
            candidate = plan.candidate(run, found[plan.of_group[run.index]].taken.candidate)
            if judged := offline(candidate, self._context.catalog.region):
                broken.append(f"run {run.index}: {'; '.join(judged.reasons)}")
        if broken:
            raise PolicyError(
                f"{len(broken):,} of {plan.count:,} runs can never run",
                why="\n".join(broken[:10]),
                fix="correct them",
            )
        return found
