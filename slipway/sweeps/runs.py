"""The runs of a sweep and what is known of each, from the journal and from the service. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slipway.cloud.jobs import VertexJob
from slipway.formatting import join
from slipway.labels import REQUEST_LABEL, RUN_LABEL, STACK_LABEL, SWEEP_LABEL, label_filter
from slipway.submission.request import checked_request_id, derived_request_id

FAILED = frozenset({"JOB_STATE_FAILED", "JOB_STATE_EXPIRED"})
"""The states of runs that may be sent once more. What somebody cancelled is left alone."""

_SHOWN_RUNS = 5
_SHOWN = "the id that was shown when the sweep was submitted; slipway jobs list shows the newest jobs"


@dataclass(frozen=True, order=True)
class Run:
    """The n-th point of a sweep; `resend` counts how often it was sent again after a failure."""

    index: int
    resend: int = 0

    @property
    def label(self) -> str:
        """`17`, and `17-1` for its first retry"""
        return f"{self.index}-{self.resend}" if self.resend else str(self.index)

    @classmethod
    def of(cls, job: VertexJob) -> Run | None:
        """The run that a job is of, None for one that belongs to none."""
        return cls.labelled(job.labels.get(RUN_LABEL, ""))

    @classmethod
    def labelled(cls, text: str) -> Run | None:
        index, _, attempt = text.partition("-")
        return cls(int(index), int(attempt or 0)) if index.isdecimal() and (attempt or "0").isdecimal() else None

    def request_id(self, sweep: str) -> str:
        return derived_request_id("sweep", sweep, self.index, self.resend)

    @property
    def next(self) -> Run:
        return Run(self.index, self.resend + 1)


def runs_in_words(numbers: Sequence[int]) -> str:
    """`run 3`, `runs 0, 3, 4 and 97 more`: whichever of at least one run is meant."""
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    shown, more = [str(one) for one in numbers[:_SHOWN_RUNS]], len(numbers) - _SHOWN_RUNS
    return f"runs {join([*shown, f'{more:,} more'] if more > 0 else shown)}"


def sweep_filter(stack: str, sweep: str) -> str:
    """The API's filter for the jobs of a stack's sweep. Raises ConfigError for an invalid sweep id."""
    return label_filter({STACK_LABEL: stack, SWEEP_LABEL: checked_request_id(sweep, "sweep", _SHOWN)})


class SendState(StrEnum):
    """What became of a run's sending, as the journal has it."""

    SENDING = "sending"
    ACCEPTED = "accepted"
    REQUEUED = "back"
    REFUSED = "refused"


@dataclass(frozen=True)
class KnownRuns:
    """`jobs` by run, and the runs whose answer nobody has seen with the wall-clock second they were sent at."""

    jobs: Mapping[Run, str]
    open: Mapping[Run, float]
    states: Mapping[Run, str]


def known_runs(
    sweep: str, jobs: Mapping[Run, str], open_: Mapping[Run, float], listed: Iterable[VertexJob]
) -> KnownRuns:
    """What journal and service say together. A job that the service lists settles what the journal has open."""
    named = ((Run.of(job), job) for job in listed)
    ours = _by_run(job for run, job in named if run and job.labels.get(REQUEST_LABEL) == run.request_id(sweep))
    found = {**{run: job.name for run, job in ours.items()}, **jobs}
    left = {run: when for run, when in open_.items() if run not in found}
    return KnownRuns(found, left, {run: job.state for run, job in ours.items()})


@dataclass(frozen=True)
class RemainingRuns:
    """`send` in order; `look` first, as they may be on their way since a wall-clock second.

    `done`: runs that were submitted before and are not sent now. Of these, `failed` have failed, and `repeated`
    were sent more than once.
    """

    send: tuple[Run, ...]
    look: Mapping[Run, float]
    done: int
    failed: int = 0
    repeated: int = 0


def remaining_runs(count: int, facts: KnownRuns, *, retry: bool) -> RemainingRuns:
    """What is left of a sweep of `count` runs: those never sent, or with `retry` the failed ones."""
    latest: dict[int, Run] = {}
    for run in (*facts.jobs, *facts.open):
        if run.index < count:
            latest[run.index] = max(run, latest.get(run.index, run))
    send: list[Run] = []
    done: list[Run] = []
    for index in range(count):
        last = latest.get(index)
        if last is None:
            send += [] if retry else [Run(index)]
        elif last in facts.open:
            continue
        elif retry and facts.states.get(last) in FAILED:
            send.append(last.next)
        else:
            done.append(last)
    failed = sum(facts.states.get(run) in FAILED for run in done)
    return RemainingRuns(tuple(send), dict(facts.open), len(done), failed, sum(run.resend > 0 for run in done))


def in_order(jobs: Iterable[VertexJob]) -> list[VertexJob]:
    """A sweep's jobs by run and attempt; those that belong to no run come last."""
    last = Run(sys.maxsize)
    return sorted(jobs, key=lambda job: Run.of(job) or last)


def latest(jobs: Iterable[VertexJob]) -> dict[int, VertexJob]:
    """The job that counts for each run: that of its last attempt."""
    return {run.index: job for run, job in _by_run(in_order(jobs)).items()}


def _by_run(jobs: Iterable[VertexJob]) -> dict[Run, VertexJob]:
    """The job that counts for each attempt at a run: of two the one that does not end by itself."""
    found: dict[Run, VertexJob] = {}
    for job in jobs:
        run = Run.of(job)
        if run and (run not in found or found[run].state == "JOB_STATE_SUCCEEDED"):
            found[run] = job
    return found
