"""Cancelling a sweep: every job of it that has not ended, and every run of it by its claim, as a list may hide jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from slipway.base.errors import AnswerUnknown, PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import counted, nearest, span
from slipway.google.failures import CloudError, Conflict, NotFound, Refused
from slipway.google.jobs import VertexJob
from slipway.model.labels import RUNS_LABEL, STACK_LABEL, SWEEP_LABEL, TEMPLATE_LABEL, label_filter
from slipway.using.context import HURRIED, Context
from slipway.using.jobs.claim import CANCELLED, Claim, claim_number, claim_text, mark_in, mark_of, take_claim
from slipway.using.jobs.claimant import job_of_number
from slipway.using.submission.cancelling import NOTED_FIRST_S, not_ones_own
from slipway.using.sweeps.cancel_watch import note_cancel
from slipway.using.sweeps.runs import Run, runs_in_words, sweep_filter
from slipway.using.sweeps.sweep_journal import RecordedSweep, is_being_sent, journal_of_sweep

_WIDTH = 8
_RECENT, _SHOWN = 100, 3
_LOOK_EVERY = 2.0


@dataclass(frozen=True)
class KnownSweep:
    """A sweep as journal and lists show it when it is cancelled."""

    id: str
    recorded: RecordedSweep
    #: The jobs that are listed, and those of the journal that a list may hide.
    jobs: Sequence[VertexJob]

    @property
    def count(self) -> int:
        """The number of its runs."""
        labels = (job.labels.get(RUNS_LABEL, "") for job in self.jobs)
        return max([self.recorded.count, *(int(label) for label in labels if label.isdecimal())])

    @property
    def going(self) -> list[VertexJob]:
        return [job for job in self.jobs if not job.ended]

    @property
    def unknown(self) -> tuple[Run, ...]:
        """The runs of which neither the journal nor a list has a job: never sent, or hidden by a list."""
        known = {run.index for run in self.recorded.jobs} | {run.index for run in map(Run.of, self.jobs) if run}
        return tuple(Run(index) for index in range(self.count) if index not in known)

    def claims(self, work_bucket: str, mark: Callable[[VertexJob], str]) -> dict[Run, str]:
        """Return the claims that nothing may take any more: of unfinished jobs by their `mark`, and of unknown runs."""
        marks = {run: mark(job) for job in self.going if (run := Run.of(job))}
        buckets = {run: self.recorded.buckets.get(run, work_bucket) for run in self.unknown}
        return {**{run: mark_in(bucket, run.request_id(self.id)) for run, bucket in buckets.items()}, **marks}

    def hidden_until(self, now: datetime, look_for: float) -> datetime:
        """Return until when a list may hide a job of it: one of an unknown run, which is not sent after the cancel, or
        a copy that another machine sent at the time of the newest job that this machine did not send."""
        own = set(self.recorded.jobs.values())
        times = [job.create_time for job in self.jobs if job.create_time and job.name not in own]
        if self.unknown:
            times.append(now)
        return max(times, default=now - timedelta(seconds=look_for)) + timedelta(seconds=look_for)


@dataclass(frozen=True)
class CancelledSweep:
    sweep: str
    jobs: Sequence[VertexJob]
    cancelling: Sequence[str]
    #: A process on this machine still sent others; None where the sweep was begun elsewhere, so that it is not known.
    sending: bool | None
    #: The reason why whoever sends others goes on, as no note of the cancel could be taken.
    unnoted: str
    #: The runs whose jobs, if there are any, are not known to be cancelled.
    unknown: Sequence[Run] = ()
    #: Others may go on, where not all regions could be read, or a run is unknown.
    problem: SlipwayError | None = None

    @property
    def template(self) -> str:
        return self.jobs[0].labels.get(TEMPLATE_LABEL, "TEMPLATE") if self.jobs else "TEMPLATE"


def cancel_sweep(
    context: Context,
    sweep: str,
    confirm: Callable[[PolicyError], None],
    tell: Callable[[str], None] = lambda _: None,
) -> CancelledSweep:
    """Cancel a sweep's jobs, and the claims of its runs. `confirm` is given the refusal to cancel others' jobs, and
    raises it unless somebody confirms that. `tell` is told of what takes a while. Raises ResourceError where none of
    them goes on, ConfigError for an invalid sweep id, and CloudError.

    A region without clusters on offer that does not answer keeps nothing elsewhere from being cancelled.
    """
    wanted = sweep_filter(context.catalog.identity.label, sweep)
    file, notes = journal_of_sweep(context, sweep), list[str]()
    sending, recorded = is_being_sent(file), RecordedSweep.read(file)
    listed = context.looked_up(lambda vertex: list(vertex.jobs_of_every_kind(wanted)), notes.append)
    if not listed and not recorded.count:
        listed = _listed_later(context, sweep, wanted, tell)
    known = KnownSweep(sweep, recorded, [*listed, *_unlisted(context, recorded, listed)])
    unseen = "".join(notes)
    if unseen and not known.going:
        raise _not_seen(sweep, unseen)
    if not known.count:
        raise unknown_sweep(context, sweep)
    hidden_until = known.hidden_until(context.now, context.look_for)
    if not known.going and not sending and context.now >= hidden_until:
        raise _nothing_to_cancel(sweep, len(known.jobs))
    if theirs := not_ones_own(known.going, context):
        confirm(theirs)
    cancel = SweepCancel(context, known)
    cancel.run(tell)
    cancel.search(wanted, hidden_until, tell)
    if not cancel.asked and not sending and not cancel.unknown:
        raise _nothing_to_cancel(sweep, len(known.jobs))
    return CancelledSweep(
        sweep=sweep,
        jobs=[*known.jobs, *cancel.found],
        cancelling=cancel.asked,
        sending=sending,
        unnoted=cancel.unnoted,
        unknown=cancel.unknown,
        problem=_not_seen(sweep, unseen) if unseen else cancel.problem,
    )


def _listed_later(context: Context, sweep: str, wanted: str, tell: Callable[[str], None]) -> list[VertexJob]:
    """Return the jobs of a sweep as soon as a list shows any; none once it can't hide them any more. Raises
    CloudError."""
    until = context.now + timedelta(seconds=context.look_for)
    tell(f"no jobs of sweep {sweep} are listed; looks for those just sent, at most {span(context.look_for)}")
    while context.now < until:
        context.clock.sleep(_LOOK_EVERY)
        if jobs := list(context.vertex.jobs_of_every_kind(wanted)):
            return jobs
    return []


def _unlisted(context: Context, recorded: RecordedSweep, listed: Iterable[VertexJob]) -> list[VertexJob]:
    """Return the existing jobs of the journal that are not `listed`."""
    names = [name for name in recorded.jobs.values() if name not in {job.name for job in listed}]
    with ThreadPoolExecutor(_WIDTH, thread_name_prefix="unlisted") as threads:
        return [job for job in threads.map(context.vertex.found, names) if job]


@dataclass
class SweepCancel:
    """The cancel of a sweep: the jobs that are known, and the claims of its runs, at the same time."""

    context: Context
    known: KnownSweep
    #: The names of the jobs that had not ended.
    asked: list[str] = field(default_factory=list)
    #: The jobs that no list showed at first.
    found: list[VertexJob] = field(default_factory=list)
    unnoted: str = ""
    #: The reason why a list could not be read, and the runs whose claims could not be taken, each with the reason.
    unread: str = ""
    unclaimed: dict[Run, str] = field(default_factory=dict)
    _left: set[Run] = field(default_factory=set)

    @property
    def unknown(self) -> tuple[Run, ...]:
        """The runs whose jobs, if there are any, are not known to be cancelled."""
        left = self._left if self.unread else self._left & self.unclaimed.keys()
        return tuple(sorted(left))

    @property
    def problem(self) -> AnswerUnknown | None:
        if not self.unknown:
            return None
        sweep, numbers = self.known.id, [run.index for run in self.unknown]
        return AnswerUnknown(
            f"whether {runs_in_words(numbers)} of sweep {sweep} {'is' if len(numbers) == 1 else 'are'} cancelled is "
            "unknown",
            why=self.unread or next(iter(self.unclaimed.values())),
            fix=f"in a minute: slipway jobs cancel --sweep {sweep}",
        )

    def run(self, tell: Callable[[str], None]) -> None:
        """Cancel all jobs that are known, and take the claims meanwhile. Raises CloudError where no job could be
        cancelled."""
        catalog, storage = self.context.catalog, self.context.with_policy(HURRIED).connection.storage
        claims = self.known.claims(catalog.work_bucket, lambda job: mark_of(job, catalog))
        self._left = set(self.known.unknown)
        self.context.connection.session.widen(2 * _WIDTH)
        with ThreadPoolExecutor(_WIDTH, thread_name_prefix="claims") as threads:
            noting = threads.submit(note_cancel, storage, catalog.work_bucket, self.known.id)
            taking = {run: threads.submit(take_claim, storage, claim, CANCELLED) for run, claim in claims.items()}
            self.asked += cancel_all(self.context, [job.name for job in self.known.going])
            if wait([noting], timeout=NOTED_FIRST_S).not_done:
                tell(f"gs://{catalog.work_bucket} has not answered yet; the jobs are cancelled meanwhile")
            try:
                noting.result()
            except CloudError as problem:
                self.unnoted = problem.message
            begun = {run: claims[run] for run in self._claimed(taking) if run in self._left}
        self._cancel_begun(begun)

    def _claimed(self, taking: Mapping[Run, Future[Claim]]) -> list[Run]:
        """Return the runs whose claims a job has."""
        begun = []
        for run, claim in taking.items():
            try:
                begun += [run] if claim.result() is Claim.STARTED else []
            except CloudError as problem:
                self.unclaimed[run] = problem.message
        return begun

    def _cancel_begun(self, claims: Mapping[Run, str]) -> None:
        """Cancel the jobs that have these claims, and that no list shows."""
        storage = self.context.connection.storage
        for run, claim in claims.items():
            try:
                job = job_of_number(self.context.vertex, claim_number(claim_text(storage, claim)))
                self.asked += cancel_all(self.context, [job.name] if job and not job.ended else [])
            except CloudError as problem:
                self.unclaimed[run] = problem.message
                continue
            self.found += [job] if job else []
            self._left.discard(run)

    def search(self, wanted: str, until: datetime, tell: Callable[[str], None]) -> None:
        """Cancel what lists show until then, as they may hide jobs; less long when the jobs of all runs are known."""
        context, seen = self.context, {job.name for job in (*self.known.jobs, *self.found)}
        if context.now < until and self._left:
            numbers = runs_in_words([run.index for run in sorted(self._left)])
            waits = span((until - context.now).total_seconds())
            tell(f"{numbers}: not listed; jobs that a list may still hide are looked for, at most {waits}")
        all_known = not self._left
        while context.now < until and (self._left or all_known):
            context.clock.sleep(_LOOK_EVERY)
            try:
                jobs = [job for job in context.vertex.jobs_of_every_kind(wanted) if job.name not in seen]
                self.asked += cancel_all(context, [job.name for job in jobs if not job.ended])
            except CloudError as problem:
                self.unread = problem.message
                continue
            self.unread = ""
            seen |= {job.name for job in jobs}
            self.found += jobs
            self._left -= {Run(run.index) for run in map(Run.of, jobs) if run}


def _nothing_to_cancel(sweep: str, count: int) -> ResourceError:
    return ResourceError(
        f"sweep {sweep} has nothing to cancel",
        why=f"all of its {counted(f'{count:,}', 'job')} have ended",
        fix=f"slipway jobs list --sweep {sweep}",
    )


def cancel_all(context: Context, names: Collection[str]) -> list[str]:
    """Ask for the end of jobs; return the names of those that had not ended. Raises CloudError."""

    def ask(name: str) -> bool:
        try:
            context.vertex.cancel(name)
        except (Refused, Conflict, NotFound):  # The job has ended meanwhile.
            return False
        return True

    with ThreadPoolExecutor(_WIDTH, thread_name_prefix="cancel") as threads:
        return [name for name, asked in zip(names, threads.map(ask, names), strict=True) if asked]


def _not_seen(sweep: str, why: str) -> ResourceError:
    return ResourceError(
        f"some jobs of sweep {sweep} may go on where nobody could look",
        why=why,
        fix=f"once that answers: slipway jobs cancel --sweep {sweep}",
    )


def unknown_sweep(context: Context, sweep: str) -> ResourceError:
    """Return the error for a sweep that no list shows, with the most similar recent one."""
    stack = context.catalog.stack
    recent: list[str] = []
    with suppress(CloudError):
        jobs = context.vertex.jobs_of_every_kind(
            f"{label_filter({STACK_LABEL: context.catalog.identity.label})} AND labels.{SWEEP_LABEL}:*"
        )
        recent = [*dict.fromkeys(job.labels[SWEEP_LABEL] for job in islice(jobs, _RECENT))]
    near = nearest(sweep, sorted(recent))
    sweeps = [near] if near else recent[:_SHOWN]
    listing = "\n".join(f"slipway jobs list --sweep {id_}" for id_ in sweeps) or "slipway jobs list"
    why = f"stack {stack} lists none; a list may not show the jobs of the last {span(context.look_for)}"
    return ResourceError(f"no jobs of sweep {sweep}", why=why, fix=listing)
