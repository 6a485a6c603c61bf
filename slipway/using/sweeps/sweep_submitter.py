"""A sweep from its plan to its accepted runs: the runs left of it, an offer for each group, and the sending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from slipway.base.errors import ResourceError, SlipwayError
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.using.context import Context
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import Choice
from slipway.using.submission.confirming import confirm
from slipway.using.submission.costs import Spending, spending_at_once
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.sweeps.cancel_watch import CancelWatch, cancelled
from slipway.using.sweeps.cancelling import cancel_all
from slipway.using.sweeps.catalog_watch import CatalogWatch
from slipway.using.sweeps.forecast import Forecast, Share, share
from slipway.using.sweeps.hold_watch import HoldWatch
from slipway.using.sweeps.rate_limit import seconds_to_send
from slipway.using.sweeps.runs import RemainingRuns, Run, RunsAgain
from slipway.using.sweeps.sweep_choice import SoonerChoice, check_rules, choose_groups, sooner_choice
from slipway.using.sweeps.sweep_jobs import SweepJobs
from slipway.using.sweeps.sweep_journal import SweepHeader, SweepJournal, journal_of_sweep
from slipway.using.sweeps.sweep_plan import SweepPlan
from slipway.using.sweeps.sweep_reading import WIDTH, SweepReading, by_earlier_name, choose_code, runs_left
from slipway.using.sweeps.sweep_sender import SendingProgress, SendingResult, SweepSender


@dataclass(frozen=True)
class ChosenSweep:
    """A sweep before its sending."""

    #: The plan as it is sent, possibly under another id.
    plan: SweepPlan
    choices: Mapping[int, Choice]
    left: RemainingRuns
    #: The number of runs that are left of each group.
    counts: Counter[int]
    #: The commit of the templates that the sweep began with.
    begun_at: str
    #: None where no run is left.
    forecast: Forecast | None
    candidate: Callable[[Run], Candidate]
    #: The choice that could run now and was not taken, None where nothing could.
    sooner: SoonerChoice | None = None

    @property
    def spending(self) -> Spending | None:
        """The costs of all runs at once; None where nobody has to confirm them."""
        taken = [(self.choices[group].taken.candidate, count) for group, count in self.counts.items()]
        return spending_at_once(self.plan.groups[0].catalog, self.plan.template.name, taken)


class SweepDisplay(Protocol):
    def note(self, text: str) -> None: ...

    def takes_sooner(self, sooner: SoonerChoice) -> bool:
        """Ask whether runs that would wait go where they could run now. Raises PolicyError where that is confirmed
        without being named, and costs too much for it."""

    def chosen(self, chosen: ChosenSweep) -> None: ...

    def confirm(self, costs: Spending) -> None:
        """Ask for a confirmation. Raises PolicyError where nobody can be asked, and KeyboardInterrupt where the answer
        is no."""

    def sending(self, progress: SendingProgress) -> AbstractContextManager[Callable[[SendingProgress], None]]:
        """Return a context with a function that takes the progress after every change."""


@dataclass(frozen=True)
class SubmittedSweep:
    """A sweep after the sending."""

    id: str
    count: int
    left: RemainingRuns
    result: SendingResult
    jobs: SweepJobs
    #: Made before the sending, None where no run was left.
    forecast: Forecast | None

    @property
    def accepted(self) -> dict[Run, str]:
        """The names of the jobs of each run's last attempt, without those that are gone."""
        return {**self.left.jobs, **self.result.accepted}


def send_sweep(context: Context, plan: SweepPlan, rate: int, show: SweepDisplay, asks: RunsAgain) -> SubmittedSweep:
    """Send the runs left of a sweep at `rate` submissions a minute and region, 0 for no limit, and once more the runs
    that `asks` names; cancelled ones among these are waited for until they have ended. The sending stops when a cluster
    that it sends to is replaced.

    Raises ConfigError when its name, or the same runs, were sent as another sweep, CodeChangedError when its code has
    changed and somebody has to decide, PolicyError when a run to be sent can go nowhere, and SlipwayError.
    """
    catalog, began = context.catalog, context.clock.monotonic()
    plan = by_earlier_name(context, plan, show.note)
    with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads:
        reading = SweepReading(context, plan, show.note, threads)
        jobs = reading.jobs
        with _journal(reading) as journal:
            journal.begin(_head(context, plan))
            chosen = _chosen(reading, journal, rate, show, asks)
            show.chosen(chosen)
            _check(reading, chosen, show)
            if costs := chosen.spending:
                confirm(context, show, costs)
            left = chosen.left
            jobs.begin(left.send, chosen.plan.code)
            progress = SendingProgress(total=left.done + len(left.going), before=left.done)
            names = sorted({choice.taken.candidate.offer.cluster for choice in chosen.choices.values()} - {""})
            clusters = {name: catalog.clusters[name].id for name in names}
            watch = CatalogWatch(lambda: context.anew().catalog, clusters, threads, began)
            cancels = CancelWatch(reading.read_cancels, reading.cancels, threads)
            holds = HoldWatch(context, chosen.candidate, names, threads, lambda: (watch.catalog or catalog).shares)

            def outdated(now: float) -> SlipwayError | None:
                if cancels.came(now):
                    return cancelled(plan.id, len(left.going))
                taken = (choice.taken.candidate for choice in chosen.choices.values())
                ended = reading.preflight.ended(taken, context.now)
                return _closed(ended) if ended else watch.problem(now)

            with show.sending(progress) as tell:
                sender = SweepSender(
                    create=jobs.create,
                    look=jobs.look,
                    request=lambda run: chosen.candidate(run).request,
                    journal=journal,
                    rate=rate,
                    threads=threads,
                    width=WIDTH,
                    tell=tell,
                    policy=RetryPolicy(look_for=context.look_for, no_contact=context.no_contact),
                    clock=context.clock,
                    outdated=outdated,
                    cluster=lambda run: chosen.candidate(run).offer.cluster,
                    hold=holds.why,
                )
                result = sender.send(left.send, left.look, progress, insist=asks.failed)
            _end_cancelled(context, plan.id, cancels, result, len(left.going), show)
        return SubmittedSweep(
            id=plan.id, count=plan.count, left=left, result=result, jobs=jobs, forecast=chosen.forecast
        )


def _closed(why: str) -> ResourceError:
    what, fix = (
        "a reservation ended while the sweep was being sent",
        "the same command or call sends the rest elsewhere",
    )
    return ResourceError(what, why=why, fix=f"{fix}, where the template has another capacity type")


def _end_cancelled(
    context: Context, sweep: str, cancels: CancelWatch, result: SendingResult, count: int, show: SweepDisplay
) -> None:
    """End what was sent of a sweep that was cancelled meanwhile: the cancel may not have seen the last jobs."""
    try:
        came = cancels.came_by_now()
    except CloudError as problem:
        show.note(f"! not known whether sweep {sweep} was cancelled meanwhile: {problem.message}")
        return
    if came:
        cancel_all(context, result.accepted.values())
        result.stopped = cancelled(sweep, count - len(result.accepted))


def dry_run_sweep(
    context: Context,
    plan: SweepPlan,
    rate: int,
    show: SweepDisplay,
    asks: RunsAgain,
    tell: Callable[[ChosenSweep], None],
) -> None:
    """Tell the sweep as `send_sweep` would send it now. Raises its errors, but for those of a confirmation."""
    plan = by_earlier_name(context, plan, show.note)
    with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads:
        reading = SweepReading(context, plan, show.note, threads)
        with _journal(reading) as journal:
            journal.read(_head(context, plan))
            chosen = _chosen(reading, journal, rate, show, replace(asks, waits=False))
            tell(chosen)
            _check(reading, chosen, show)


def _journal(reading: SweepReading) -> SweepJournal:
    skip = reading.note if reading.jobs.any_request.runs_once else None
    return SweepJournal(journal_of_sweep(reading.context, reading.plan.id), skip)


def _head(context: Context, plan: SweepPlan) -> SweepHeader:
    return SweepHeader(
        sweep=plan.id,
        template=plan.template.name,
        digest=plan.digest,
        count=plan.count,
        commit=context.catalog.revision.short,
        when=context.now.isoformat(),
        bucket=context.catalog.work_bucket,
        by_code=plan.by_code,
    )


def _chosen(
    reading: SweepReading, journal: SweepJournal, rate: int, show: SweepDisplay, asks: RunsAgain
) -> ChosenSweep:
    context = reading.context
    left = runs_left(reading, journal, asks)
    choose_code(reading, journal, left, asks)
    plan, prepared = reading.plan, reading.prepared
    if left.going and reading.cancels and not asks.any:
        raise cancelled(plan.id, len(left.going))
    counts = Counter(plan.of_group[run.index] for run in left.going)
    choices, sooner = _choices(reading, left.going, counts, show)
    taken = _taken(choices)

    @cache
    def candidate(run: Run) -> Candidate:
        offer = taken[plan.of_group[run.index]].offer
        return next(candidate for candidate in prepared(run).candidates if candidate.offer is offer)

    check_rules(plan, {run: candidate(run) for run in left.going}, context.catalog)
    forecast = _forecast(reading, taken, counts, rate) if left.going else None
    return ChosenSweep(
        plan=plan,
        choices=choices,
        left=left,
        counts=counts,
        begun_at=journal.commit,
        forecast=forecast,
        candidate=candidate,
        sooner=sooner,
    )


def _check(reading: SweepReading, chosen: ChosenSweep, show: SweepDisplay) -> None:
    if sent := chosen.left.send:
        candidates = [chosen.candidate(sent[0]), *_taken(chosen.choices).values()]
        reading.checks.check(candidates, show.note, [run.index for run in sent])


def _choices(
    reading: SweepReading, runs: Sequence[Run], counts: Counter[int], show: SweepDisplay
) -> tuple[dict[int, Choice], SoonerChoice | None]:
    """Return the choice for each group of these runs: its first capacity type that can ever run it, or one that could
    run now, where that is named or answered for; where it is not, also return that one."""
    plan = reading.plan
    groups = choose_groups(plan, runs, reading.preflight.judge)
    sooner = sooner_choice(plan, groups, counts, lambda choices: _shares(reading, _taken(choices), counts))
    moved = sooner.choices if sooner and (plan.then or show.takes_sooner(sooner)) else {}
    chosen: dict[int, Choice] = {}
    for group, of_group in groups.items():
        choice = moved.get(group, of_group.first)
        if isinstance(choice, SlipwayError):
            raise sooner.in_place_of(choice) if sooner else choice
        chosen[group] = choice
    return chosen, None if moved else sooner


def _taken(choices: Mapping[int, Choice]) -> dict[int, Candidate]:
    return {group: choice.taken.candidate for group, choice in choices.items()}


def _forecast(reading: SweepReading, taken: Mapping[int, Candidate], counts: Counter[int], rate: int) -> Forecast:
    """Return the forecast of the runs that are left, by the candidate that each group has `taken`."""
    earlier = reading.earlier.result()
    unread = f"earlier runs can't be read ({earlier.why})" if isinstance(earlier, Unknown) else ""
    of_region = Counter[str]()
    for group, runs in counts.items():
        of_region[taken[group].region] += runs
    slowest = max((seconds_to_send(runs, rate) for runs in of_region.values()), default=0.0)
    shares = _shares(reading, taken, counts)
    return Forecast(runs=counts.total(), shares=shares, seconds_to_send=slowest, unread=unread)


def _shares(reading: SweepReading, taken: Mapping[int, Candidate], counts: Counter[int]) -> tuple[Share, ...]:
    earlier, context = reading.earlier.result(), reading.context
    known: Sequence[VertexJob] = () if isinstance(earlier, Unknown) else earlier
    return tuple(
        share(context.catalog, candidate, counts[group], known, context.now) for group, candidate in taken.items()
    )
