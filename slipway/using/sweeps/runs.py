"""The runs of a sweep, with their records in the journal and at the service. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from slipway.base.formatting import join
from slipway.google.jobs import VertexJob
from slipway.model.labels import RUN_LABEL, STACK_LABEL, SWEEP_LABEL, label_filter
from slipway.using.submission.request import checked_request_id, derived_request_id

FAILED = frozenset({"JOB_STATE_FAILED", "JOB_STATE_EXPIRED"})
"""The states of failed runs, which may be sent once more."""

GONE = "gone"
"""The state of a run that was sent and may have run, and whose job was deleted since."""

CANCELLED = "JOB_STATE_CANCELLED"
_CANCELLING = "JOB_STATE_CANCELLING"
_SUCCEEDED = "JOB_STATE_SUCCEEDED"

Settle = Callable[[list[VertexJob]], VertexJob]
"""A function that chooses the job that ran among several jobs of an attempt; the first is the most likely one."""

_SHOWN_RUNS = 5
_SHOWN = "the id that was shown when the sweep was submitted; slipway jobs list shows the newest jobs"


@dataclass(frozen=True, order=True)
class Run:
    """The n-th point of a sweep; `resend` counts how often it was sent again after a failure."""

    index: int
    resend: int = 0

    @property
    def label(self) -> str:
        """The run's label: `17`, and `17-1` for its first retry."""
        return f"{self.index}-{self.resend}" if self.resend else str(self.index)

    @classmethod
    def of(cls, job: VertexJob) -> Run | None:
        """Return a job's run, None for a job of no run."""
        index, _, attempt = job.labels.get(RUN_LABEL, "").partition("-")
        return cls(int(index), int(attempt or 0)) if index.isdecimal() and (attempt or "0").isdecimal() else None

    def request_id(self, sweep: str) -> str:
        return derived_request_id("sweep", sweep, self.index, self.resend)

    @property
    def next(self) -> Run:
        return Run(self.index, self.resend + 1)


def runs_in_words(numbers: Sequence[int]) -> str:
    """Return numbers as `run 3`, `runs 0, 3, 4 and 97 more`."""
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    shown, more = [str(one) for one in numbers[:_SHOWN_RUNS]], len(numbers) - _SHOWN_RUNS
    return f"runs {join([*shown, f'{more:,} more'] if more > 0 else shown)}"


def sweep_filter(stack: str, sweep: str) -> str:
    """Return the API's filter for the jobs of a stack's sweep. Raises ConfigError for an invalid sweep id."""
    return label_filter({STACK_LABEL: stack, SWEEP_LABEL: checked_request_id(sweep, "sweep", _SHOWN)})


class SendState(StrEnum):
    """The last step of a run's sending, as the journal has it."""

    SENDING = "sending"
    ACCEPTED = "accepted"
    REQUEUED = "back"
    REFUSED = "refused"


@dataclass(frozen=True)
class KnownRuns:
    """The known runs. `jobs` by run, and the runs whose answer was lost, with the wall-clock second they were sent at.
    `states` of jobs that are listed, or were asked for. `forgotten`: runs that were sent and never started."""

    jobs: Mapping[Run, str]
    open: Mapping[Run, float]
    states: Mapping[Run, str]
    forgotten: frozenset[Run] = frozenset()

    @property
    def last(self) -> tuple[Run, ...]:
        """The last attempt at each known run, in the order of the runs."""
        found: dict[int, Run] = {}
        for run in (*self.jobs, *self.open):
            found[run.index] = max(run, found.get(run.index, run))
        return tuple(found[index] for index in sorted(found))

    def with_found(self, found: Mapping[Run, VertexJob | None]) -> KnownRuns:
        """Return these with jobs that were asked for, None for a job that is gone."""
        names = {run: job.name if job else self.jobs.get(run, "") for run, job in found.items()}
        states = {run: job.state if job else GONE for run, job in found.items()}
        left = {run: when for run, when in self.open.items() if run not in found}
        return replace(self, jobs={**self.jobs, **names}, open=left, states={**self.states, **states})

    def without(self, runs: Collection[Run]) -> KnownRuns:
        """Return these without `runs`, as if they were never sent."""
        jobs = {run: job for run, job in self.jobs.items() if run not in runs}
        return replace(self, jobs=jobs, forgotten=self.forgotten.union(runs))


def most_likely(jobs: list[VertexJob]) -> VertexJob:
    """Choose the most likely job, where the claim is not asked for."""
    return jobs[0]


def known_runs(
    sweep: str,
    jobs: Mapping[Run, str],
    open_: Mapping[Run, float],
    listed: Iterable[VertexJob],
    settle: Settle = most_likely,
) -> KnownRuns:
    """Return the runs that journal and service know together: a listed job closes an open entry of the journal."""
    named = ((Run.of(job), job) for job in listed)
    ours = _by_run((job for run, job in named if run and job.request_id == run.request_id(sweep)), settle)
    found = {**{run: job.name for run, job in ours.items()}, **jobs}
    left = {run: when for run, when in open_.items() if run not in found}
    return KnownRuns(found, left, {run: job.state for run, job in ours.items()})


@dataclass(frozen=True)
class RemainingRuns:
    """The runs to `send`, in order, after those to `look` for, which may be on their way since a wall-clock second.

    `done`: runs that were submitted before and are not sent now. Among them, `failed` have failed, `cancelled` were
    cancelled, and `repeated` were sent more than once, `recalled` of them after a cancellation. `recalls`: runs to
    `send` whose last attempt was cancelled. `gone`: the numbers of `done` runs whose jobs were deleted, so that their
    end is not known; `jobs` are the names of the others' jobs.
    """

    send: tuple[Run, ...]
    look: Mapping[Run, float]
    done: int
    failed: int = 0
    repeated: int = 0
    cancelled: int = 0
    recalled: int = 0
    recalls: frozenset[Run] = frozenset()
    gone: tuple[int, ...] = ()
    jobs: Mapping[Run, str] = field(default_factory=dict)

    @property
    def going(self) -> tuple[Run, ...]:
        """The runs that are sent, or sent again where they are not found."""
        return (*self.send, *self.look)


@dataclass(frozen=True)
class RunsAgain:
    """The kinds of runs to send once more. `waits`: cancelled ones are waited for until they have ended."""

    failed: bool = False
    cancelled: bool = False
    waits: bool = True

    @property
    def any(self) -> bool:
        return self.failed or self.cancelled

    @property
    def words(self) -> list[str]:
        return [what for what, asked in (("has failed", self.failed), ("was cancelled", self.cancelled)) if asked]


def remaining_runs(count: int, facts: KnownRuns, *, retry: bool, recall: bool = False) -> RemainingRuns:
    """Return the runs left of a sweep of `count` runs: those never sent. With `retry` the failed and the gone ones
    instead; with `recall` the cancelled ones too. In any case, runs that were sent and never started are sent as the
    same attempts."""
    again = (FAILED | {GONE} if retry else frozenset()) | ({CANCELLED} if recall else frozenset())
    latest, forgotten = {run.index: run for run in facts.last}, {run.index: run for run in sorted(facts.forgotten)}
    send: list[Run] = []
    done: list[Run] = []
    for index in range(count):
        last, never = latest.get(index), forgotten.get(index)
        if never and (last is None or last < never):
            send.append(never)
        elif last is None:
            send += [] if retry and not recall else [Run(index)]
        elif last in facts.open:
            continue
        elif facts.states.get(last) in again:
            send.append(last.next)
        else:
            done.append(last)
    states = [facts.states.get(run) for run in done]
    return RemainingRuns(
        tuple(send),
        {run: when for run, when in facts.open.items() if run == latest[run.index]},
        len(done),
        failed=sum(state in FAILED for state in states),
        repeated=sum(run.resend > 0 for run in done),
        cancelled=sum(state in (CANCELLED, _CANCELLING) for state in states),
        recalled=sum(_was_cancelled(run, facts) for run in done),
        recalls=frozenset(run for run in send if _was_cancelled(run, facts)),
        gone=tuple(run.index for run in done if facts.states.get(run) == GONE),
        jobs={run: facts.jobs[run] for run in done if facts.states.get(run) != GONE},
    )


def _was_cancelled(run: Run, facts: KnownRuns) -> bool:
    """Tell whether the attempt before this one was cancelled."""
    return run.resend > 0 and facts.states.get(Run(run.index, run.resend - 1)) == CANCELLED


def being_cancelled(facts: KnownRuns) -> int:
    """Count the runs that were asked to end and have not ended yet."""
    return sum(state == _CANCELLING for state in facts.states.values())


def in_order(jobs: Iterable[VertexJob]) -> list[VertexJob]:
    """Sort a sweep's jobs by run and attempt; jobs of no run come last."""
    last = Run(sys.maxsize)
    return sorted(jobs, key=lambda job: Run.of(job) or last)


def latest(jobs: Iterable[VertexJob], settle: Settle = most_likely) -> dict[int, VertexJob]:
    """Return for each run the job of its last attempt."""
    return {run.index: job for run, job in _by_run(in_order(jobs), settle).items()}


def copies(jobs: Iterable[VertexJob], settle: Settle = most_likely) -> frozenset[str]:
    """Return the names of copies: jobs whose attempt another job runs, or has run."""
    listed = [job for job in jobs if Run.of(job)]
    return frozenset(job.name for job in listed) - {job.name for job in _by_run(listed, settle).values()}


def _by_run(jobs: Iterable[VertexJob], settle: Settle) -> dict[Run, VertexJob]:
    """Return the job that counts for each attempt at a run."""
    found: dict[Run, list[VertexJob]] = {}
    for job in jobs:
        if run := Run.of(job):
            found.setdefault(run, []).append(job)
    return {
        run: those[0] if len(those) == 1 else settle(sorted(those, key=_stands_aside)) for run, those in found.items()
    }


def _stands_aside(job: VertexJob) -> tuple[bool, bool]:
    """Return a sorting key of an attempt's jobs: a job that ended without machines comes last, as it never had the
    claim; a job that succeeded may have lost it."""
    never_ran = job.ended and job.state != _SUCCEEDED and job.start_time is None
    return never_ran, job.state == _SUCCEEDED
