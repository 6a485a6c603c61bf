"""A sweep from its plan to its accepted runs: the runs left of it, an offer for each group, and the sending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Protocol

from slipway.catalog.model import Catalog
from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import ConfigError, PolicyError, ResourceError, SlipwayError
from slipway.formatting import counted
from slipway.jobs.earlier_jobs import EARLIER, earlier_filter
from slipway.live import Unknown
from slipway.submission.budget_check import BudgetCheck
from slipway.submission.candidates import Candidate
from slipway.submission.choice import Choice, choose
from slipway.submission.costs import Spending, spending_at_once
from slipway.submission.preflight import Preflight, offline
from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy
from slipway.sweeps.catalog_watch import CatalogWatch
from slipway.sweeps.forecast import Forecast, share
from slipway.sweeps.gone_runs import GoneRuns
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
from slipway.sweeps.sweep_journal import SweepHeader, SweepJournal, instead, journal_of_sweep, was_begun
from slipway.sweeps.sweep_plan import SweepPlan
from slipway.sweeps.sweep_sender import SendingProgress, SendingResult, SweepSender

WIDTH = 128
"""The number of concurrent requests: enough to use any permitted rate at a second's latency."""
_LOOK_EVERY = 2.0


@dataclass(frozen=True)
class ChosenSweep:
    """A sweep before its sending. `plan`: as it is sent, possibly under another id. `choices`: by group, for those that
    send runs. `begun_at`: the commit of the templates that it began with. `forecast`: None where no run is sent."""

    plan: SweepPlan
    choices: Mapping[int, Choice]
    left: RemainingRuns
    begun_at: str
    forecast: Forecast | None

    @property
    def spending(self) -> Spending | None:
        """The costs of all runs at once; None where nobody has to confirm them."""
        runs = Counter(self.plan.of_group[run.index] for run in self.left.send).items()
        taken = [(self.choices[group].taken.candidate, count) for group, count in runs]
        return spending_at_once(self.plan.groups[0].catalog, self.plan.template.name, taken)


class SweepDisplay(Protocol):
    """A display of a sweep's progress."""

    def note(self, text: str) -> None: ...

    def chosen(self, chosen: ChosenSweep) -> None: ...

    def confirm(self, costs: Spending) -> None:
        """Ask for a confirmation. Raises PolicyError where nobody can be asked, and KeyboardInterrupt where the answer
        is no."""

    def sending(self, progress: SendingProgress) -> AbstractContextManager[Callable[[SendingProgress], None]]:
        """Return a context with a function that takes the progress after every change."""


@dataclass(frozen=True)
class SubmittedSweep:
    """A sweep after sending the runs that were `left`; `jobs` reads the sweep's from the service. `forecast` was made
    before, None where no run was left."""

    id: str
    count: int
    left: RemainingRuns
    result: SendingResult
    jobs: SweepJobs
    forecast: Forecast | None

    @property
    def accepted(self) -> dict[Run, str]:
        """The names of the jobs of each run's last attempt, without those that are gone."""
        return {**self.left.jobs, **self.result.accepted}


def send_sweep(context: Context, plan: SweepPlan, rate: int, show: SweepDisplay, asks: RunsAgain) -> SubmittedSweep:
    """Send the runs left of a sweep at `rate` submissions a minute and region, 0 for no limit, and once more the runs
    that `asks` names; cancelled ones among these are waited for until they have ended. The sending stops when a cluster
    that it sends to is replaced.

    Raises ConfigError when its name, or the same runs, were sent as another sweep, PolicyError when a run to be sent
    can go nowhere, and SlipwayError.
    """
    catalog, began = context.catalog, context.clock.monotonic()
    with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads:
        context.connection.session.widen(WIDTH)
        jobs, prepared = SweepJobs(context, plan, show.note), cache(plan.prepared)
        listing, earlier = threads.submit(jobs.all), threads.submit(earlier_jobs, context, plan)
        found_as = _look_for_ids(context, plan, jobs, threads)

        def anywhere(run: Run) -> Request:
            return prepared(run).candidates[0].request

        def looks_for(count: int) -> None:
            show.note(f"looks for {counted(f'{count:,}', 'run')} sent before and that no list shows")

        gone = GoneRuns(context, anywhere, threads, looks_for)
        started = gone.ask_first(plan.count)
        budget = BudgetCheck.begin(context, threads)
        preflight = Preflight(context, [one for group in plan.groups for one in group.candidates], threads)
        listed, file = listing.result(), journal_of_sweep(context, plan.id)
        if not listed and not was_begun(file) and (other := found_as()):
            return send_sweep(context, plan.under(other), rate, show, asks)
        with SweepJournal(file) as journal:
            commit, when = catalog.revision.short, context.now.isoformat()
            head = SweepHeader(plan.id, plan.template.name, plan.digests[0], plan.count, commit, when)
            journal.begin(head, plan.digests)
            known = known_runs(plan.id, journal.jobs, journal.open, listed, jobs.settle)
            if asks.cancelled and (ending := being_cancelled(known)):
                runs = counted(f"{ending:,}", "run")
                show.note(f"waits for the end of {runs} being cancelled, to send what is left")
                while being_cancelled(known):
                    context.clock.sleep(_LOOK_EVERY)
                    known = known_runs(plan.id, journal.jobs, journal.open, jobs.all(), jobs.settle)
            known = gone.with_unlisted(known, journal.sent_at, jobs.skipped)
            known = gone.with_gone(plan.count, known, started, jobs.checked)
            left = remaining_runs(plan.count, known, retry=asks.failed, recall=asks.cancelled)
            going = (*left.send, *left.look)
            choices = _choices(plan, going, preflight)
            taken = {group: choice.taken.candidate for group, choice in choices.items()}

            @cache
            def candidate(run: Run) -> Candidate:
                offer = taken[plan.of_group[run.index]].offer
                return next(one for one in prepared(run).candidates if one.offer is offer)

            _check(plan, {run: candidate(run) for run in going}, catalog)
            if budget and left.send:
                budget.check(candidate(left.send[0]).body.get("labels", {}), show.note)
            forecast = forecast_of(context, plan, taken, left.send, rate, earlier.result()) if left.send else None
            chosen = ChosenSweep(plan, choices, left, journal.commit, forecast)
            show.chosen(chosen)
            if costs := chosen.spending:
                show.confirm(costs)
            progress = SendingProgress(total=left.done + len(going), before=left.done)
            names = sorted({one.offer.cluster for one in taken.values()} - {""})
            clusters = {name: catalog.clusters[name].id for name in names}
            watch = CatalogWatch(lambda: context.anew().catalog, clusters, threads, began)
            with show.sending(progress) as tell:
                sender = SweepSender(
                    jobs.create,
                    jobs.look,
                    lambda run: candidate(run).request,
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


def _look_for_ids(context: Context, plan: SweepPlan, jobs: SweepJobs, threads: Executor) -> Callable[[], str]:
    """Begin to look for the id under which an earlier version sent the sweep. Return a function that waits for it and
    returns empty where none did; it raises ConfigError where the runs were asked for in another way, as a sibling, and
    CloudError."""

    def begun(id_: str) -> bool:
        return was_begun(journal_of_sweep(context, id_)) or jobs.any_under(id_)

    found = {id_: threads.submit(begun, id_) for id_ in (*plan.earlier, *plan.siblings)}

    def result() -> str:
        if same := next((id_ for id_ in plan.earlier if found[id_].result()), ""):
            return same
        for id_, other in plan.siblings.items():
            if found[id_].result():
                raise ConfigError(
                    f"these runs were sent before, as sweep {id_}",
                    why="asked for in another way they are another sweep, and each would run once more",
                    fix=(
                        "to go on with that one: ",
                        *instead(plan.groups[0].asked, other),
                        "\nto run them all once more: ",
                        {"request_id": "NAME"},
                    ),
                )
        return ""

    return result


def earlier_jobs(context: Context, plan: SweepPlan) -> tuple[VertexJob, ...] | Unknown:
    """Read the newest jobs of the template."""
    vertex = context.vertex_by(context.hurried)
    wanted = earlier_filter(context.catalog.stack, plan.template.name)
    try:
        return tuple(islice(vertex.jobs(plan.kind, wanted, page_size=EARLIER), EARLIER))
    except CloudError as problem:  # A sweep must not fail for want of its forecast.
        return Unknown(problem.message, "", "")


def forecast_of(
    context: Context,
    plan: SweepPlan,
    taken: Mapping[int, Candidate],
    send: Sequence[Run],
    rate: int,
    earlier: Sequence[VertexJob] | Unknown,
) -> Forecast:
    """Return the forecast of the runs that are sent now, by the candidate that each group has `taken`."""
    groups = sorted(Counter(plan.of_group[run.index] for run in send).items())
    known: Sequence[VertexJob] = () if isinstance(earlier, Unknown) else earlier
    unread = f"earlier runs can't be read ({earlier.why})" if isinstance(earlier, Unknown) else ""
    shares = tuple(share(context.catalog, taken[group], runs, known, context.now) for group, runs in groups)
    of_region = Counter(taken[plan.of_group[run.index]].region for run in send)
    slowest = max((seconds_to_send(runs, rate) for runs in of_region.values()), default=0.0)
    return Forecast(len(send), shares, slowest, unread)


def _choices(plan: SweepPlan, runs: Iterable[Run], preflight: Preflight) -> dict[int, Choice]:
    """Choose a candidate for each group of these runs. Raises PolicyError, or ResourceError for a broken cluster, with
    the reasons of every group that has none."""
    groups: dict[int, list[int]] = {}
    for run in runs:
        groups.setdefault(plan.of_group[run.index], []).append(run.index)
    chosen: dict[int, Choice] = {}
    refused: list[tuple[str, SlipwayError]] = []
    for group, numbers in sorted(groups.items()):
        try:
            judged = preflight.judge(plan.groups[group].candidates)
            chosen[group] = choose(plan.template.name, judged, settle=True)
        except (PolicyError, ResourceError) as problem:
            refused.append((runs_in_words(sorted(numbers)), problem))
    if refused:
        first = refused[0][1]
        if len(plan.groups) > 1:
            first.why = "\n".join("\n  ".join([f"{runs}: {one.what}", *one.why.splitlines()]) for runs, one in refused)
            first.what = f"{plan.template.name}: nothing is sent, as some of {plan.count:,} runs can't be"
        raise first
    return chosen


def _check(plan: SweepPlan, candidates: Mapping[Run, Candidate], catalog: Catalog) -> None:
    """Raise PolicyError when a run breaks a rule of the service, with each reason once; quota was judged before."""
    broken: dict[str, list[int]] = {}
    for run, candidate in candidates.items():
        if judged := offline(candidate, reserved=catalog.reservations, limits_follow=True):
            for reason in judged.reasons:
                broken.setdefault(reason, []).append(run.index)
    if broken:
        runs = {index for those in broken.values() for index in those}
        raise PolicyError(
            f"{len(runs):,} of {plan.count:,} runs can never run",
            why="\n".join(f"{runs_in_words(those)}: {reason}" for reason, those in broken.items()),
            fix="correct them",
        )
