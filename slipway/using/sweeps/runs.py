"""The runs of a sweep, with their records in the journal and at the service. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from slipway.base.formatting import few
from slipway.google.jobs import CANCELLED, CANCELLING, FAILED, VertexJob
from slipway.model.labels import RUN_LABEL, STACK_LABEL, SWEEP_LABEL, label_filter
from slipway.using.submission.request import checked_request_id, derived_request_id

GONE = "gone"
"""The state of a run that was sent and may have run, and whose job was deleted since."""

_SUCCEEDED = "JOB_STATE_SUCCEEDED"

ChooseJob = Callable[[list[VertexJob]], VertexJob]
"""A function that chooses the job that ran among several jobs of an attempt; the first is the most likely one."""
most_likely: ChooseJob = itemgetter(0)

_SHOWN_RUNS = 5
_SHOWN = "the id that was shown when the sweep was submitted; slipway jobs list shows the newest jobs"


@dataclass(frozen=True, order=True)
class Run:
    """The n-th point of a sweep."""

    index: int
    #: Counts how often it was sent again after a failure.
    resend: int = 0

    @property
    def label(self) -> str:
        """The run's label: `17`, and `17-1` for its first retry."""
        return f"{self.index}-{self.resend}" if self.resend else str(self.index)

    @classmethod
    def of(cls, job: VertexJob) -> Run | None:
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
    return f"runs {few(map(str, numbers), _SHOWN_RUNS)}"


def sweep_filter(stack: str, sweep: str) -> str:
    """Return the API's filter for the jobs of a stack's sweep. Raises ConfigError for an invalid sweep id."""
    return label_filter({STACK_LABEL: stack, SWEEP_LABEL: checked_request_id(sweep, "sweep", _SHOWN)})


@dataclass(frozen=True)
class KnownRuns:
    """The runs of a sweep that the journal or the service knows."""

    jobs: Mapping[Run, str]
    #: Runs whose answer was lost, with the wall-clock second they were sent at.
    open: Mapping[Run, float]
    #: States of the jobs that are listed, or were asked for.
    states: Mapping[Run, str]
    #: Runs that were sent and never started.
    forgotten: frozenset[Run] = frozenset()

    @property
    def last(self) -> tuple[Run, ...]:
        """The last attempt at each known run, in the order of the runs."""
        latest: dict[int, Run] = {}
        for run in (*self.jobs, *self.open):
            latest[run.index] = max(run, latest.get(run.index, run))
        return tuple(latest[index] for index in sorted(latest))

    def with_found(self, jobs: Mapping[Run, VertexJob | None]) -> KnownRuns:
        """Return these with jobs that were asked for, None for a job that is gone."""
        names = {run: job.name if job else self.jobs.get(run, "") for run, job in jobs.items()}
        states = {run: job.end_state if job else GONE for run, job in jobs.items()}
        still_open = {run: when for run, when in self.open.items() if run not in jobs}
        return replace(self, jobs={**self.jobs, **names}, open=still_open, states={**self.states, **states})

    def existing(self, runs: Iterable[Run]) -> dict[Run, str]:
        """Return the names of the jobs of those of `runs` that have one."""
        return {run: self.jobs[run] for run in runs if self.jobs[run] and self.states.get(run) != GONE}

    def with_cancelled(self, runs: Iterable[Run]) -> KnownRuns:
        """Return these with runs whose claims a cancel has taken: no job of such an attempt runs."""
        ended = tuple(runs)
        still_open = {run: when for run, when in self.open.items() if run not in ended}
        names = {run: self.jobs.get(run, "") for run in ended}
        states = dict.fromkeys(ended, CANCELLED)
        return replace(self, jobs={**self.jobs, **names}, open=still_open, states={**self.states, **states})

    def without(self, runs: Collection[Run]) -> KnownRuns:
        """Return these without `runs`, as if they were never sent."""
        jobs = {run: job for run, job in self.jobs.items() if run not in runs}
        return replace(self, jobs=jobs, forgotten=self.forgotten.union(runs))


def known_runs(
    sweep: str,
    jobs: Mapping[Run, str],
    open_: Mapping[Run, float],
    listed: Iterable[VertexJob],
    choose_job: ChooseJob = most_likely,
) -> KnownRuns:
    """Return the runs that journal and service know together: a listed job closes an open entry of the journal."""
    pairs = ((Run.of(job), job) for job in listed)
    ours = _by_run((job for run, job in pairs if run and job.request_id == run.request_id(sweep)), choose_job)
    names = {**{run: job.name for run, job in ours.items()}, **jobs}
    return KnownRuns(
        jobs=names,
        open={run: when for run, when in open_.items() if run not in names},
        states={run: job.end_state for run, job in ours.items()},
    )


@dataclass(frozen=True)
class RemainingRuns:
    """The runs left of a sweep, and what is known of the others."""

    #: The runs to send, in order, after those to look for.
    send: tuple[Run, ...]
    #: The runs to look for, which may be on their way since a wall-clock second.
    look: Mapping[Run, float]
    #: The number of runs that were submitted before and are not sent now; and of these the ones that have failed, were
    #: sent more than once, and were cancelled.
    done: int
    failed: int = 0
    repeated: int = 0
    cancelled: int = 0
    #: The numbers of done runs whose jobs were deleted, so that their end is not known.
    gone: tuple[int, ...] = ()
    #: The names of the other done runs' jobs; a run that was cancelled before it was sent has none.
    jobs: Mapping[Run, str] = field(default_factory=dict)

    @property
    def going(self) -> tuple[Run, ...]:
        """The runs that are sent, or sent again where they are not found."""
        return (*self.send, *self.look)


@dataclass(frozen=True)
class RunsAgain:
    """The kinds of runs to send once more."""

    failed: bool = False
    cancelled: bool = False
    #: Cancelled runs are waited for until they have ended.
    waits: bool = True
    #: What is left runs the code that the sweep began with, whatever the folder has now.
    keep_code: bool = False

    @property
    def any(self) -> bool:
        return self.failed or self.cancelled

    @property
    def words(self) -> list[str]:
        asked = (("has failed", self.failed), ("was cancelled", self.cancelled))
        return [words for words, so in asked if so]


def remaining_runs(count: int, facts: KnownRuns, *, retry: bool, recall: bool = False) -> RemainingRuns:
    """Return the runs left of a sweep of `count` runs: those never sent. With `retry` the failed and the gone ones
    instead; with `recall` the cancelled ones too. In any case, runs that were sent and never started are sent as the
    same attempts."""
    again: set[str] = set()
    if retry:
        again |= {*FAILED, GONE}
    if recall:
        again.add(CANCELLED)
    latest = {run.index: run for run in facts.last}
    forgotten = {run.index: run for run in sorted(facts.forgotten)}
    send: list[Run] = []
    done: list[Run] = []
    for index in range(count):
        last, never = latest.get(index), forgotten.get(index)
        if never and (last is None or last < never):
            send.append(never)
        elif last is None:
            if recall or not retry:
                send.append(Run(index))
        elif last in facts.open:
            continue
        elif facts.states.get(last) in again:
            send.append(last.next)
        else:
            done.append(last)
    states = [facts.states.get(run) for run in done]
    return RemainingRuns(
        send=tuple(send),
        look={run: when for run, when in facts.open.items() if run == latest[run.index]},
        done=len(done),
        failed=sum(state in FAILED for state in states),
        repeated=sum(run.resend > 0 for run in done),
        cancelled=sum(state in (CANCELLED, CANCELLING) for state in states),
        gone=tuple(run.index for run in done if facts.states.get(run) == GONE),
        jobs=facts.existing(done),
    )


def being_cancelled(facts: KnownRuns) -> int:
    return sum(state == CANCELLING for state in facts.states.values())


def in_order(jobs: Iterable[VertexJob]) -> list[VertexJob]:
    """Sort a sweep's jobs by run and attempt; jobs of no run come last."""
    last = Run(sys.maxsize)
    return sorted(jobs, key=lambda job: Run.of(job) or last)


def latest(jobs: Iterable[VertexJob], choose_job: ChooseJob = most_likely) -> dict[int, VertexJob]:
    return {run.index: job for run, job in _by_run(in_order(jobs), choose_job).items()}


def copies(jobs: Iterable[VertexJob], choose_job: ChooseJob = most_likely) -> frozenset[str]:
    """Return the names of copies: jobs whose attempt another job runs, or has run."""
    listed = [job for job in jobs if Run.of(job)]
    return frozenset(job.name for job in listed) - {job.name for job in _by_run(listed, choose_job).values()}


def _by_run(jobs: Iterable[VertexJob], choose_job: ChooseJob) -> dict[Run, VertexJob]:
    by_run: dict[Run, list[VertexJob]] = {}
    for job in jobs:
        if run := Run.of(job):
            by_run.setdefault(run, []).append(job)
    return {
        run: alike[0] if len(alike) == 1 else choose_job(sorted(alike, key=_stands_aside))
        for run, alike in by_run.items()
    }


def _stands_aside(job: VertexJob) -> tuple[bool, bool]:
    """Return a sorting key: last a job that ended without machines; a job that succeeded may have lost the claim."""
    never_ran = job.ended and job.state != _SUCCEEDED and job.start_time is None
    return never_ran, job.state == _SUCCEEDED
