"""The data that a sweep needs before it is sent, read at once, and the runs that are left of it by these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import islice

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.using.context import Context
from slipway.using.jobs.claim import bucket_of
from slipway.using.jobs.earlier_jobs import EARLIER, earlier_filter
from slipway.using.submission.checks import Checks
from slipway.using.submission.like import require_code
from slipway.using.submission.preflight import Preflight
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.sweeps.cancel_watch import Cancels, read_cancels
from slipway.using.sweeps.gone_runs import GoneRuns
from slipway.using.sweeps.runs import RemainingRuns, Run, RunsAgain, being_cancelled, known_runs, remaining_runs
from slipway.using.sweeps.sweep_code import SweepCode, code_to_send
from slipway.using.sweeps.sweep_jobs import SweepJobs
from slipway.using.sweeps.sweep_journal import SweepJournal, instead, journal_of_sweep, was_begun
from slipway.using.sweeps.sweep_plan import SweepPlan

WIDTH = 128
"""The number of concurrent requests: enough to use any permitted rate at a second's latency."""
_LOOK_EVERY = 2.0


class SweepReading:
    """The data that a sweep needs before it is sent, read at once: its jobs, the template's earlier ones, whether its
    first runs have started, and what the checks and the verdicts need."""

    def __init__(
        self, context: Context, plan: SweepPlan, note: Callable[[str], None], threads: ThreadPoolExecutor
    ) -> None:
        """Begin to read. Raises ConfigError where the runs were sent as another sweep, and CloudError."""
        context.connection.session.widen(WIDTH)
        self.context, self.plan, self.note = context, plan, note
        self.jobs = SweepJobs(context, plan, note)
        self._as_planned = cache(plan.prepared)
        self._elsewhere: dict[Run, PreparedSubmission] = {}  # Runs whose claims are not in the catalog's bucket.
        self._listing = threads.submit(self.jobs.all)
        self._cancels = threads.submit(self.read_cancels)
        self.earlier = threads.submit(_earlier_jobs, context, plan)
        siblings = {id_: threads.submit(self._begun, id_) for id_ in plan.siblings}
        self.gone = GoneRuns(
            context=context,
            request=lambda run: self.prepared(run).candidates[0].request,
            threads=threads,
            say=lambda count: note(f"looks for {counted(f'{count:,}', 'run')} sent before and that no list shows"),
        )
        self.started = self.gone.ask_first(plan.count)
        self.checks = Checks.begin(context, plan.groups[0], plan.values, threads)
        candidates = [candidate for group in plan.groups for candidate in group.candidates]
        # More runs than fit a pool would wait there, and quota tells where else they could run.
        self.preflight = Preflight(context, candidates, threads, all_at_once=plan.count > 1)
        self._make_requests()
        if not self.listed and not was_begun(journal_of_sweep(context, plan.id)):
            for sweep, begun in siblings.items():
                if begun.result():
                    raise _sent_before(plan, sweep)

    def _make_requests(self) -> None:
        """Make requests, each for the first candidate, as long as nothing else is to do: most are sent like that."""
        for index in range(self.plan.count):
            if self._listing.done():
                return
            with suppress(ConfigError):  # Told where it is needed.
                _ = self._as_planned(Run(index)).candidates[0].request

    def sent_by(self, buckets: Mapping[Run, str]) -> None:
        """Take the buckets where these runs have their claims, as they were sent first, for the catalog's."""
        for run, bucket in buckets.items():
            if bucket not in ("", self.context.catalog.work_bucket) and run.index < self.plan.count:
                planned = self._as_planned(run)
                self._elsewhere[run] = planned.under(planned.request_id, bucket)

    def prepared(self, run: Run) -> PreparedSubmission:
        return self._elsewhere.get(run) or self._as_planned(run)

    @property
    def listed(self) -> tuple[VertexJob, ...]:
        return self._listing.result()

    @property
    def cancels(self) -> Cancels:
        """The cancels of the sweep before it is sent now."""
        return self._cancels.result()

    def read_cancels(self) -> Cancels:
        return read_cancels(self.context.connection.storage, self.context.catalog.work_bucket, self.plan.id)

    def use(self, plan: SweepPlan) -> None:
        """Take another plan of the same runs."""
        self.plan, self._as_planned = plan, cache(plan.prepared)
        self._elsewhere = {
            run: self._as_planned(run).under(there.request_id, there.bucket) for run, there in self._elsewhere.items()
        }

    def _begun(self, sweep: str) -> bool:
        return was_begun(journal_of_sweep(self.context, sweep)) or self.jobs.any_under(sweep)


def by_earlier_name(context: Context, plan: SweepPlan, note: Callable[[str], None]) -> SweepPlan:
    """Return the plan under the name that has the folder's code in it, where the sweep has that: an earlier version
    began it, or all runs were sent again with other code. Raises CloudError."""
    if plan.named or not plan.by_code:
        return plan
    earlier = plan.under(plan.id_by_code)
    if was_begun(journal_of_sweep(context, earlier.id)):
        return earlier
    if was_begun(journal_of_sweep(context, plan.id)):
        return plan
    return earlier if SweepJobs(context, plan, note).any_under(earlier.id) else plan


def choose_code(reading: SweepReading, journal: SweepJournal, left: RemainingRuns, asks: RunsAgain) -> None:
    """Plan the runs that are left with the folder's code, or with that which the sweep began with. Raises
    CodeChangedError where somebody has to decide, the errors of code that is gone, and CloudError."""
    plan, listed = reading.plan, sorted(reading.listed, key=lambda job: Run.of(job) or Run(plan.count))
    begun = journal.code or next(filter(None, map(SweepCode.of, listed)), None)
    journal.began_with(begun or plan.code)
    if not (plan.by_code and plan.code and begun and begun.package):
        return
    code, line = code_to_send(plan.id, begun, plan.code, left, asks, plan.id_by_code)
    if line:
        reading.note(line)
    if code is begun and left.going:
        if job := next((job for job in listed if begun.package in job.packages), None):
            require_code(reading.context, begun.package, job, ("all again: ", {"request_id": plan.id_by_code}))
        reading.use(plan.with_code(begun))


def _sent_before(plan: SweepPlan, sweep: str) -> ConfigError:
    """Return the error where the same runs, asked for in another way, were sent as another sweep."""
    return ConfigError(
        f"these runs were sent before, as sweep {sweep}",
        why="asked for in another way they are another sweep, and each would run once more",
        fix=(
            "to go on with that one: ",
            *instead(plan.groups[0].asked, plan.siblings[sweep]),
            "\nto run them all once more: ",
            {"request_id": "NAME"},
        ),
    )


def runs_left(reading: SweepReading, journal: SweepJournal, asks: RunsAgain) -> RemainingRuns:
    """Return the runs left, by journal and service. Raises ConfigError where the name was used for other runs."""
    context, plan, jobs, gone = reading.context, reading.plan, reading.jobs, reading.gone
    listed = {run: bucket_of(job, context.catalog) for job in reading.listed if (run := Run.of(job))}
    reading.sent_by({**listed, **journal.buckets})
    known = known_runs(plan.id, journal.jobs, journal.open, reading.listed, jobs.choose_job)
    if asks.cancelled and asks.waits and (ending := being_cancelled(known)):
        runs = counted(f"{ending:,}", "run")
        reading.note(f"waits for the end of {runs} being cancelled, to send what is left")
        while being_cancelled(known):
            context.clock.sleep(_LOOK_EVERY)
            known = known_runs(plan.id, journal.jobs, journal.open, jobs.all(), jobs.choose_job)
    known = gone.with_unlisted(known, journal.sent_at, jobs.lookup.skipped)
    known = gone.with_gone(plan.count, known, reading.started, jobs.own)
    jobs.require_own({*journal.sent_at, *listed})
    return remaining_runs(plan.count, known, retry=asks.failed, recall=asks.cancelled)


def _earlier_jobs(context: Context, plan: SweepPlan) -> tuple[VertexJob, ...] | Unknown:
    vertex = context.vertex_by(context.hurried)
    wanted = earlier_filter(context.catalog.identity.label, plan.template.name)
    try:
        return tuple(islice(vertex.jobs(plan.kind, wanted, page_size=EARLIER), EARLIER))
    except CloudError as problem:  # A sweep must not fail for want of its forecast.
        return Unknown(problem.message, "", "")
