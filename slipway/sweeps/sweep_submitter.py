"""One sweep from its plan to its accepted runs: what is left of it, an offer for each group, and the sending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Protocol

from slipway.catalog.model import Catalog
from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import PolicyError, ResourceError, SlipwayError
from slipway.jobs.earlier_waits import EARLIER, earlier_filter
from slipway.live import Unknown
from slipway.submission.candidates import Candidate
from slipway.submission.choice import Choice, choose
from slipway.submission.journal import state_folder
from slipway.submission.preflight import Preflight, offline
from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy
from slipway.sweeps.catalog_watch import CatalogWatch
from slipway.sweeps.forecast import Forecast, share
from slipway.sweeps.gone_runs import ask_first, with_gone, with_unlisted
from slipway.sweeps.rate_limit import seconds_to_send
from slipway.sweeps.runs import (
    RemainingRuns,
    Run,
    RunsAgain,
    being_cancelled,
    known_runs,
    remaining_runs,
    runs_in_words,
)
from slipway.sweeps.sweep_jobs import SweepJobs
from slipway.sweeps.sweep_journal import SweepHeader, SweepJournal, journal_file
from slipway.sweeps.sweep_plan import SweepPlan
from slipway.sweeps.sweep_sender import SendingProgress, SendingResult, SweepSender

WIDTH = 128
"""Requests under way at once: enough to use any permitted rate at a second's latency."""
_LOOK_EVERY = 2.0


class SweepDisplay(Protocol):
    """Where a sweep tells what it does."""

    def note(self, text: str) -> None: ...

    def ending(self, count: int) -> None:
        """So many runs are being cancelled, and are waited for."""

    def missing(self, count: int) -> None:
        """So many runs were sent before and are not listed, and are looked for."""

    def chosen(self, choices: Sequence[Choice], left: RemainingRuns, begun_at: str, forecast: Forecast | None) -> None:
        """`begun_at`: the commit whose templates the sweep began with. `forecast`: None where nothing is sent."""

    def sending(self, progress: SendingProgress) -> AbstractContextManager[Callable[[SendingProgress], None]]:
        """Takes the progress after every change."""


@dataclass(frozen=True)
class SubmittedSweep:
    """What came of sending what was `left`; `jobs` reads the sweep's from the service. `forecast` is what was to be
    expected before, None where nothing was left."""

    id: str
    count: int
    left: RemainingRuns
    result: SendingResult
    jobs: SweepJobs
    forecast: Forecast | None

    @property
    def accepted(self) -> dict[Run, str]:
        """The name of the job of each run's last attempt, but for those that are gone."""
        return {**self.left.jobs, **self.result.accepted}


def send_sweep(context: Context, plan: SweepPlan, rate: int, show: SweepDisplay, asks: RunsAgain) -> SubmittedSweep:
    """Sends what is left of it at `rate` submissions a minute and region, 0 for no limit, and once more the runs that
    are asked for. Those that are being cancelled are waited for, where cancelled ones are. It stops when a cluster that
    it sends to is replaced.

    Raises PolicyError when some run can go nowhere, and SlipwayError.
    """
    catalog, began = context.catalog, context.clock.monotonic()
    state = state_folder(context.folder, context.environ)
    with (
        ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads,
        SweepJournal(journal_file(state, catalog.project, catalog.stack, plan.id)) as journal,
    ):
        context.connection.session.widen(WIDTH)
        jobs = SweepJobs(context, plan, show.note)
        listing, earlier = threads.submit(jobs.all), threads.submit(earlier_jobs, context, plan)
        prepared = cache(plan.prepared)
        # Before it is known where the runs go, for this is a round trip: a run's claim is the same wherever it goes.
        started = ask_first(context, plan.count, lambda run: prepared(run).candidates[0].request, threads)
        choices = _choices(context, plan, threads)
        candidate = cache(lambda run: plan.candidate(run, prepared(run), choices))

        def request(run: Run) -> Request:
            return candidate(run).request

        _check(candidate, plan.count, catalog)
        template, commit, when = plan.groups[0].prepared.template.name, catalog.revision.short, context.now.isoformat()
        journal.begin(SweepHeader(plan.id, template, plan.digest, plan.count, commit, when))
        known = known_runs(plan.id, journal.jobs, journal.open, listing.result(), jobs.settle)
        if asks.cancelled and (ending := being_cancelled(known)):
            show.ending(ending)
            while being_cancelled(known):
                context.clock.sleep(_LOOK_EVERY)
                known = known_runs(plan.id, journal.jobs, journal.open, jobs.all(), jobs.settle)
        known = with_unlisted(context, known, journal.sent_at, jobs.skipped, request, threads, show.missing)
        known = with_gone(context, plan.count, known, started, request, threads, show.missing)
        left = remaining_runs(plan.count, known, retry=asks.failed, recall=asks.cancelled)
        taken = [choice.taken.candidate for choice in choices]
        forecast = forecast_of(context, plan, taken, left.send, rate, earlier.result()) if left.send else None
        show.chosen(choices, left, journal.commit, forecast)
        progress = SendingProgress(total=left.done + len(left.send) + len(left.look), before=left.done)
        groups = {plan.of_group[run.index] for run in (*left.send, *left.look)}
        names = sorted({taken[group].offer.cluster for group in groups} - {""})
        clusters = {name: catalog.clusters[name].id for name in names}
        watch = CatalogWatch(lambda: context.anew().catalog, clusters, threads, began)
        with show.sending(progress) as tell:
            sender = SweepSender(
                jobs.create,
                jobs.look,
                request,
                journal,
                rate,
                threads,
                WIDTH,
                tell,
                RetryPolicy(look_for=context.look_for, no_contact=context.no_contact),
                context.clock,
                watch.problem,
            )
            result = sender.send(left.send, left.look, progress, insist=asks.failed)
    return SubmittedSweep(plan.id, plan.count, left, result, jobs, forecast)


def earlier_jobs(context: Context, plan: SweepPlan) -> tuple[VertexJob, ...] | Unknown:
    """The newest jobs of the template."""
    prepared, catalog = plan.groups[0].prepared, context.catalog
    vertex = context.vertex_by(context.hurried)
    wanted = earlier_filter(catalog.stack, prepared.template.name)
    try:
        return tuple(islice(vertex.jobs(prepared.kind, wanted, page_size=EARLIER), EARLIER))
    except CloudError as problem:  # A sweep must not hang on what it is going to take.
        return Unknown(problem.message, "", "")


def forecast_of(
    context: Context,
    plan: SweepPlan,
    taken: Sequence[Candidate],
    send: Sequence[Run],
    rate: int,
    earlier: Sequence[VertexJob] | Unknown,
) -> Forecast:
    """Of the runs that are sent now, by the candidate that each group has `taken`."""
    groups = sorted(Counter(plan.of_group[run.index] for run in send).items())
    known, unread = (
        ((), f"earlier runs can't be read ({earlier.why})") if isinstance(earlier, Unknown) else (earlier, "")
    )
    shares = tuple(share(context.catalog, taken[group], runs, known, context.now) for group, runs in groups)
    of_region = Counter[str]()
    for group, runs in groups:
        of_region[taken[group].region] += runs
    slowest = max((seconds_to_send(runs, rate) for runs in of_region.values()), default=0.0)
    return Forecast(len(send), shares, slowest, unread)


def _choices(context: Context, plan: SweepPlan, threads: ThreadPoolExecutor) -> list[Choice]:
    """A candidate for each group of runs. Raises PolicyError, or ResourceError for what is broken, with the reasons of
    every group that has none."""
    every = [group.prepared for group in plan.groups]
    preflight = Preflight(context, [candidate for one in every for candidate in one.candidates], threads)
    chosen: list[Choice] = []
    refused: list[tuple[str, SlipwayError]] = []
    for index, one in enumerate(every):
        try:
            chosen.append(choose(one.template.name, preflight.judge(one.candidates), settle=True))
        except (PolicyError, ResourceError) as problem:
            refused.append((runs_in_words(plan.runs_of(index)), problem))
    if refused:
        first = refused[0][1]
        if len(every) > 1:
            first.why = "\n".join("\n  ".join([f"{runs}: {one.what}", *one.why.splitlines()]) for runs, one in refused)
            first.what = f"{every[0].template.name}: nothing is sent, as some of {plan.count:,} runs can't be"
        raise first
    return chosen


def _check(candidate: Callable[[Run], Candidate], count: int, catalog: Catalog) -> None:
    """Raises PolicyError when a run breaks a rule of the service, with each reason once."""
    broken: dict[str, list[int]] = {}
    for index in range(count):
        if judged := offline(candidate(Run(index)), reserved=catalog.reservations):
            for reason in judged.reasons:
                broken.setdefault(reason, []).append(index)
    if broken:
        runs = {index for those in broken.values() for index in those}
        raise PolicyError(
            f"{len(runs):,} of {count:,} runs can never run",
            why="\n".join(f"{runs_in_words(those)}: {reason}" for reason, those in broken.items()),
            fix="correct them",
        )
